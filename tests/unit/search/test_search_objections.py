"""Objections: doubtful values lead to no verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import msgspec
import pytest
from simulated_studies import compare, space_of, tune, workload

from assay.records import (
    Budget,
    Choices,
    Configuration,
    Evidence,
    Goal,
    Kind,
    Launch,
    Metric,
    Parameter,
    Sample,
    Space,
    Stage,
    StudySpec,
    Verdict,
)
from assay.records.sample import UNIT_PREFIX, UNKNOWN_UNIT_PREFIX
from assay.search.claims.objections import MAX_MISSING_SHARE, objection_to
from assay.search.conclusion.conclude import conclude
from assay.search.conclusion.notes import absence_notes
from assay.search.history.history import History
from assay.search.model.gp import GpSearcher
from assay.search.races.tune import TuneRace
from assay.search.space.search_space import SearchSpace
from assay.testing.search_contracts import CompletedRace, RandomSearcher, SimulatedProgram, run_race
from assay.wording.sentence import comparison

RATE = Metric(name="rate", pattern="([0-9.]+)", goal=Goal.HIGHER)
PROGRAM = SimulatedProgram(takes_s=lambda c: 1.0 if c else 0.004, metric=RATE)
"""The default does 250 a second, the other 1; say the one in MB/s and the other in GB/s."""


def printed(sample: Sample, unit: str | None) -> Sample:
    """Return a sample with the unit behind its value; without a value for ``None``."""
    if unit is None:
        metrics = {"wall_s": sample.metrics["wall_s"]}
        return msgspec.structs.replace(
            sample, metrics=metrics, unavailable={"rate": "no match of 'x'"}
        )
    evidence = (*sample.evidence, Evidence(kind=f"{UNIT_PREFIX}rate", note=unit))
    return msgspec.structs.replace(sample, evidence=evidence)


def compared(units: tuple[str | None, str | None], metric: Metric = RATE) -> tuple[Verdict, str]:
    """Return the verdict, and the sentence."""
    study = compare(PROGRAM, Budget(launches=40), {}, {"nice": 5})
    samples = [printed(s, units[bool(s.launch.configuration)]) for s in study.samples]
    spec = msgspec.structs.replace(
        study.spec, workload=msgspec.structs.replace(study.spec.workload, metrics=(metric,))
    )
    found = conclude(spec, samples, SearchSpace(spec.space), RandomSearcher(), study.done)
    (claim,) = found.claims
    return claim.verdict, comparison(claim, metric)


def test_two_units_lead_to_no_verdict() -> None:
    verdict, told = compared(("MB/s", "GB/s"))
    assert verdict is Verdict.UNCLEAR
    assert "rate is printed in" in told
    assert "in MB/s (" in told and "in GB/s (" in told


def bare_and(unit: str) -> str | None:
    """Return the objection to values of which half have a unit."""
    study = compare(PROGRAM, Budget(launches=40), {}, {"nice": 5})
    samples = [s if s.launch.block % 2 else printed(s, unit) for s in study.samples]
    return objection_to(RATE, History.of(study.spec, samples), ("default", "nice=5"))


def test_multiplier_and_bare_figure_are_different_units() -> None:
    """A bare value may have any unit, but no multiplier."""
    assert "without a unit" in (bare_and("k") or "")
    assert bare_and("MB/s") is None


def test_one_unit_gives_a_verdict() -> None:
    assert compared(("MB/s", "MB/s"))[0] is Verdict.SLOWER


def test_units_are_ignored_for_metric_as_is() -> None:
    as_is = msgspec.structs.replace(RATE, ignore_unit=True)
    assert compared(("MB/s", "GB/s"), as_is)[0] is Verdict.SLOWER


@pytest.mark.parametrize("share", [0.0, 0.05, 0.3])
def test_launches_without_a_value(share: float) -> None:
    alike = SimulatedProgram(takes_s=lambda c: 1.0, noise=0.1, metric=RATE)
    study = compare(alike, Budget(launches=80), {}, {"nice": 5})
    mine = [s for s in study.samples if s.launch.configuration and s.launch.stage is Stage.CONFIRM]
    lacking = [s.launch for s in mine[: round(share * len(mine))]]
    samples = [printed(s, None) if s.launch in lacking else s for s in study.samples]
    history = History.of(study.spec, samples)
    found = objection_to(RATE, history, ("default", "nice=5"))
    notes = absence_notes((RATE,), samples)
    assert bool(notes) == (share > 0.0)
    assert (found is not None) == (share > MAX_MISSING_SHARE)
    if found is not None:
        assert "have no rate: no match of 'x'" in found
        assert found.startswith(f"{len(lacking)} of {len(mine)} launches of nice=5 have no rate")
        assert notes[0].startswith(f"{len(lacking)} of {len(samples)} launches have no rate")


def tuned_two(takes_s: Callable[[Configuration], float]) -> tuple[StudySpec, CompletedRace]:
    """A search over two values of a setting, by a rate."""
    space = Space(parameters=(Parameter(name="arg.n", domain=Choices((0, 1)), default=0),))
    spec = StudySpec(
        kind=Kind.TUNE,
        workload=workload(RATE),
        budget=Budget(launches=12),
        space=space,
        disturbed_above=None,
    )
    program = SimulatedProgram(takes_s=takes_s, metric=RATE)
    return spec, run_race(TuneRace(spec, SearchSpace(space), GpSearcher()), program, spec.budget)


def test_varying_units_prevent_a_recommendation() -> None:
    spec, completed_race = tuned_two(lambda c: 1.0 if not c else 0.004)
    samples = [
        printed(s, "GB/s" if not s.launch.configuration else "MB/s") for s in completed_race.samples
    ]
    for told, settings in ((completed_race.samples, {"arg.n": 1}), (samples, {})):
        found = conclude(
            spec, told, SearchSpace(spec.space), GpSearcher(), completed_race.done
        ).recommendation
        assert found is not None
        assert dict(found.settings) == settings
    assert "rate is printed in" in found.sentence


@pytest.mark.parametrize("share", [1.0, 0.4, 0.05])
def test_zero_values(share: float) -> None:
    alike = SimulatedProgram(takes_s=lambda c: 1.0, noise=0.1, metric=RATE)
    study = compare(alike, Budget(launches=80), {}, {"nice": 5})
    mine = [s for s in study.samples if s.launch.configuration and s.launch.stage is Stage.CONFIRM]
    lacking = [s.launch for s in mine[: round(share * len(mine))]]
    samples = [zeroed(s) if s.launch in lacking else s for s in study.samples]
    found = conclude(
        study.spec, samples, SearchSpace(study.spec.space), RandomSearcher(), study.done
    )
    told = f"rate is 0 or less in {len(lacking)} of {len(samples)} launches"
    assert any(note.startswith(told) for note in found.notes)
    objection = objection_to(RATE, History.of(study.spec, samples), ("default", "nice=5"))
    assert (objection is not None) == (share > MAX_MISSING_SHARE)
    if objection is not None:
        assert f"in {len(lacking)} of {len(mine)} launches of nice=5" in objection
        assert all(claim.verdict is Verdict.UNCLEAR for claim in found.claims)


@dataclass(frozen=True)
class Zero(SimulatedProgram):
    """Program whose other configurations always give 0."""

    def run(self, launch: Launch) -> Sample:
        return zeroed(super().run(launch)) if launch.configuration else super().run(launch)


def zeroed(sample: Sample) -> Sample:
    return msgspec.structs.replace(sample, metrics={**sample.metrics, "rate": 0.0})


def test_arm_with_zero_values_only_has_not_failed() -> None:
    zero = Zero(takes_s=lambda c: 1.0, metric=RATE)
    study = compare(zero, Budget(launches=40), {}, {"nice": 5})
    assert study.done.message == "Ended after 6 blocks: further blocks would add no information."
    found = tune(space_of(nice=(1, 2)), zero, Budget(launches=40)).conclusion.recommendation
    assert found is not None
    assert "rate is 0 or less in" in found.sentence
    assert "failed" not in found.sentence


def worded(sample: Sample, word: str | None, unit: str | None = None) -> Sample:
    """Return a sample with a word behind its value."""
    notes = ((f"{UNKNOWN_UNIT_PREFIX}rate", word), (f"{UNIT_PREFIX}rate", unit))
    evidence = [Evidence(kind=kind, note=note) for kind, note in notes if note]
    return msgspec.structs.replace(sample, evidence=(*sample.evidence, *evidence))


def objection_of_words(
    words: tuple[list[str | None], list[str | None]], nice: str | int = 5, metric: Metric = RATE
) -> str | None:
    """Return the objection to two arms whose launches have these words in turn."""
    study = compare(PROGRAM, Budget(launches=40), {}, {"nice": nice})
    samples = []
    for sample in study.samples:
        mine = words[bool(sample.launch.configuration)]
        samples.append(worded(sample, mine[sample.launch.block % len(mine)]))
    names = [arm.name for arm in study.spec.arms]
    return objection_to(metric, History.of(study.spec, samples), names)


@pytest.mark.parametrize(
    ("a", "b", "told"),
    [
        (["(GX/s)"], ["(MX/s)"], "before '(GX/s)' ("),
        (["GUPS"], ["MUPS"], "before 'MUPS' ("),
        (["furlongs"], ["miles"], "before 'miles' ("),
        (["furlongs"], [None], "before no word ("),
        (["kpps", "Mpps"], ["kpps", "Mpps"], "before 'Mpps' ("),  # as a program chooses by size
        (["pps"], ["pps", "kpps"], "before 'kpps' ("),
        (["M rows/s"], ["rows/s"], "before 'rows/s' ("),
    ],
)
def test_words_that_may_be_units_lead_to_no_verdict(
    a: list[str | None], b: list[str | None], told: str
) -> None:
    found = objection_of_words((a, b))
    assert found is not None and told in found and "times)" in found
    assert "(?P<unit>...)" in found and "--metric-as-is rate" in found
    as_is = msgspec.structs.replace(RATE, ignore_unit=True)
    assert objection_of_words((a, b), metric=as_is) is None


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (["requests"], ["requests"]),
        (["hit", "missed"], ["missed"]),  # varies by itself
        ([None], [None]),
        (["all"], ["all", "mall"]),  # no multiple
    ],
)
def test_words_without_information(a: list[str | None], b: list[str | None]) -> None:
    assert objection_of_words((a, b)) is None


@pytest.mark.parametrize("value", ["eager", "--mode=eager -v", "./p --mode 'eager' x"])
def test_word_equal_to_value_of_setting_is_ignored(value: str) -> None:
    assert objection_of_words((["lazy"], ["(eager)"]), nice=value) is None
    assert objection_of_words((["lazy"], ["eagerly"]), nice=value) is not None


def test_word_against_a_known_unit_leads_to_no_verdict() -> None:
    study = compare(PROGRAM, Budget(launches=40), {}, {"nice": 5})
    samples = [
        worded(s, "furlongs") if s.launch.configuration else worded(s, None, "ms")
        for s in study.samples
    ]
    names = [arm.name for arm in study.spec.arms]
    found = objection_to(RATE, History.of(study.spec, samples), names)
    assert found is not None and "before 'ms' (" in found and "before 'furlongs' (" in found


def test_default_that_appears_better_by_unit_is_not_called_better() -> None:
    spec, completed_race = tuned_two(lambda c: 1.0 if c else 0.004)
    samples = [
        worded(s, "Mpps" if s.launch.configuration else "kpps") for s in completed_race.samples
    ]
    found = conclude(
        spec, samples, SearchSpace(spec.space), GpSearcher(), completed_race.done
    ).recommendation
    assert found is not None and not found.settings
    assert found.sentence.startswith("Keep the default: rate is printed before '")
