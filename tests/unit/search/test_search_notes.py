"""Notes on the limits of an answer."""

from __future__ import annotations

import msgspec
import pytest
from simulated_studies import compare, factors

from assay.records import (
    ArmResult,
    Budget,
    Configuration,
    Evidence,
    Grant,
    GrantStatus,
    Kind,
    Metric,
    Modes,
    Sample,
    Stage,
)
from assay.records.observation import CYCLES_COUNTER, Observation
from assay.search.conclusion.conclude import conclude
from assay.search.conclusion.notes import disturbance_notes, observing_notes, shape_notes
from assay.search.history.history import History
from assay.search.space.search_space import SearchSpace
from assay.testing.search_contracts import RandomSearcher, SimulatedProgram
from assay.wording.notes import arms_of_launches, disturbed_search

GAIN = SimulatedProgram(takes_s=factors(nice={1: 0.8}))


def judged(sample: Sample, grant: GrantStatus) -> Sample:
    """The same with a word on its setting, where it has one."""
    if "nice" not in sample.launch.configuration:
        return sample
    word = Grant(value=1, status=grant, reason="the kernel said no")
    return msgspec.structs.replace(sample, settings={"nice": word})


@pytest.mark.parametrize(
    ("grant", "how"),
    [
        (GrantStatus.REFUSED, "nice did not take effect in"),
        (GrantStatus.DEGRADED, "nice took effect in part in"),
        (GrantStatus.GRANTED, None),
    ],
)
def test_setting_without_effect_is_reported(grant: GrantStatus, how: str | None) -> None:
    study = compare(GAIN, Budget(launches=30), {}, {"nice": 1})
    samples = [judged(s, grant) for s in study.samples]
    again = conclude(
        study.spec, samples, SearchSpace(study.spec.space), RandomSearcher(), study.done
    )
    told = [note for note in again.notes if "effect in" in note]
    assert [note.startswith(how or "") for note in told] == [True] * (how is not None)
    confirmed = sum(
        s.launch.stage is Stage.CONFIRM and "nice" in s.launch.configuration for s in samples
    )
    assert all(f"{confirmed} of {confirmed} launches" in t and "said no" in t for t in told)


@pytest.mark.parametrize("kind", [Kind.MEASURE, Kind.COMPARE])
def test_disturbed_blocks_do_not_end_a_measurement(kind: Kind) -> None:
    study = compare(GAIN, Budget(launches=30), {}, {"nice": 1})
    crowd = (
        Evidence(kind="host_cpus", value=2.0),
        Evidence(kind="foreign_load", value=1e6, unit="s", external=True),
    )
    samples = [msgspec.structs.replace(s, evidence=crowd) for s in study.samples]
    spec = msgspec.structs.replace(study.spec, kind=kind)
    (note,) = disturbance_notes(spec, History.of(spec, samples))
    assert "the table includes them" in note
    assert ("does not count as precise enough" in note) == (kind is Kind.MEASURE)


@pytest.mark.parametrize("has_expected", [False, True])
def test_note_on_disturbed_search_is_on_its_expected_effect(has_expected: bool) -> None:
    note = disturbed_search(3, 20, (), 0.1, has_expected=has_expected)
    assert note.startswith("3 of 20 blocks of the search disturbed")
    assert note.endswith("effect may be too narrow") == has_expected


def test_few_arms_of_launches_are_named() -> None:
    assert arms_of_launches(["a"], 0) == "all of 'a'"
    assert arms_of_launches(["a", "b"], 0) == "in 2 arms ('a', 'b')"
    assert arms_of_launches(["a", "b", "c", "d"], 1) == "in 4 arms (1 during warm-up)"


def test_correlated_evidence_has_unit() -> None:
    seen = Modes(
        low=1.0,
        high=2.0,
        upper_mode_share=0.5,
        explained_by="run_queue_wait",
        low_evidence=0.008599,
        high_evidence=0.1178,
    )
    arm = ArmResult(name="default", configuration=Configuration(), summary={}, modes=seen)
    sample = compare(GAIN, Budget(launches=30), {}, {"nice": 1}).samples[0]
    waited = msgspec.structs.replace(
        sample, evidence=(Evidence(kind="run_queue_wait", value=0.1, unit="s"),)
    )
    (note,) = shape_notes(Metric(name="wall_s", unit="s"), [arm], [sample, waited])
    assert "(8.60 ms and 118 ms at the median)" in note


@pytest.mark.parametrize("lacking", [0, 1, 2])
def test_missing_counters_are_reported(lacking: int) -> None:
    study = compare(GAIN, Budget(launches=20), {}, {"nice": 1})
    spec = msgspec.structs.replace(study.spec, requested_observations=(Observation.COUNTERS,))
    reasons = {CYCLES_COUNTER: "this machine has none"}
    samples = study.samples[:2]
    samples[:lacking] = [msgspec.structs.replace(s, unavailable=reasons) for s in samples[:lacking]]
    notes = observing_notes(spec, samples)
    assert notes == (
        ["no launch has hardware counters: this machine has none"] if lacking == 2 else []
    )
    assert not observing_notes(study.spec, samples)
