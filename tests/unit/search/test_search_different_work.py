"""Configurations of a search whose output shows different work."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import pytest
from simulated_fronts import TwoSided, front_study
from simulated_studies import (
    Study,
    Writing,
    carry_out,
    factors,
    space_of,
    tune,
    with_output,
    workload,
)

from assay.records import (
    Bound,
    Budget,
    Configuration,
    Kind,
    Launch,
    Requirement,
    Sample,
    Space,
    Stage,
    StudySpec,
    Value,
)
from assay.search.conclusion.conclude import conclude
from assay.search.history.history import History
from assay.search.model.explanation import explain_settings
from assay.search.model.trials import trials_of
from assay.search.races.scoreboard import Scoreboard
from assay.search.races.tune import TuneRace
from assay.search.space.search_space import SearchSpace
from assay.testing.replay.tpe import TpeSearcher
from assay.testing.search_contracts import RaceContract, SimulatedProgram
from assay.wording.objections import without_quote

MODES = space_of(mode=("fast", "bogus"))
MANY = space_of(
    mode=("fast", "bogus"),
    nice=tuple(range(1, 20)),
    threads=tuple(range(1, 30)),
    malloc=("jemalloc", "tcmalloc"),
)
TAKES = factors(mode={"fast": 0.5, "bogus": 0.001})
USAGE = "usage: p slow|fast"


def _mode(launch: Launch) -> str:
    return USAGE if launch.configuration.get("mode") == "bogus" else "result 3.14"


BOGUS = Writing(takes_s=TAKES, writes=_mode)


def _launches(study: Study, value: str) -> list[Launch]:
    every = (sample.launch for sample in study.samples)
    return [launch for launch in every if launch.configuration.get("mode") == value]


def _notes(study: Study) -> list[str]:
    return [note for note in study.conclusion.notes if note.startswith("different output: ")]


@pytest.mark.parametrize("launches", [24, 60])
def test_best_configuration_with_same_work_is_recommended(launches: int) -> None:
    study = tune(MODES, BOGUS, Budget(launches=launches))
    assert study.settings == {"mode": "fast"}
    assert study.conclusion.recommendation is not None
    assert study.conclusion.recommendation.output_difference is None
    assert _notes(study) == [
        "different output: mode=bogus wrote 18 bytes, beginning with 'usage: p slow|fast', and "
        "default 11 bytes, beginning with 'result 3.14'; it counts as failed (--check REGEX "
        "defines good output, --outputs-may-differ accepts any)"
    ]


def test_different_work_is_launched_twice_before_exclusion() -> None:
    study = tune(MODES, BOGUS, Budget(launches=200))
    assert [la.stage for la in _launches(study, "bogus")] == [Stage.SEARCH, Stage.SURVEY]
    assert len(_launches(study, "fast")) > 5
    assert not any("had a warm-up launch" in note for note in study.conclusion.notes)


def test_different_work_does_not_limit_other_launches() -> None:
    study = tune(MODES, BOGUS, Budget(launches=200))
    caps = [la.timeout_s for la in _launches(study, "fast") if la.timeout_s is not None]
    assert caps
    assert min(caps) > 1.0


@pytest.mark.parametrize("seed", range(3))
def test_model_avoids_values_with_different_work(seed: int) -> None:
    study = tune(MANY, BOGUS, Budget(launches=120), seed=seed)
    assert study.settings["mode"] == "fast"
    assert len(_launches(study, "bogus")) < 20
    (note,) = _notes(study)
    assert "; all with mode=bogus count as failed (" in note
    history = History.of(study.spec, study.samples)
    for trial in trials_of(history):
        if trial.configuration.get("mode") == "bogus":
            assert trial.value is None
    told = explain_settings(study.spec, study.samples, Configuration(study.settings))  # type: ignore[arg-type]
    assert told is not None
    assert all("bogus" not in str(part.settings) for part in told.parts)


class _WritingOfTwo(TwoSided):
    def run(self, launch: Launch) -> Sample:
        return with_output(super().run(launch), _mode(launch))


@pytest.mark.rotating("other work")
@pytest.mark.parametrize("space", [MODES, MANY], ids=["racing", "model"])
def test_front_excludes_different_work(space: Space) -> None:
    sizes = {"fast": (-0.7, 0.2), "bogus": (-5.0, -5.0)}
    program = _WritingOfTwo(lambda c: sizes.get(str(c.get("mode")), (0.0, 0.0)))
    study = front_study(space, program, Budget(launches=150))
    assert [point["mode"] for point in study.front] == ["fast"]
    assert [note for note in study.conclusion.notes if "mode=bogus wrote 18 bytes" in note]


def test_different_work_satisfies_no_requirement() -> None:
    """A launch that exits at once satisfies each bound on time."""
    bound = Requirement(metric="wall_s", bound=Bound.AT_MOST, limit=0.7)
    study = tune(MODES, BOGUS, Budget(launches=200), requirements=(bound,))
    assert study.settings == {"mode": "fast"}


@pytest.mark.parametrize("change", [{"outputs_may_differ": True}, {"check": "usage|result"}])
def test_different_output_wins_with_option(change: Mapping[str, object]) -> None:
    spec = StudySpec(
        kind=Kind.TUNE,
        workload=msgspec.structs.replace(workload(), **change),
        budget=Budget(launches=60),
        space=MODES,
    )
    study = carry_out(spec, BOGUS)
    assert study.settings == {"mode": "bogus"}
    assert not _notes(study)


def test_setting_that_always_changes_output_stays_in_search() -> None:
    """Outputs depend on the setting, as the bytes of a compressor do."""
    program = Writing(
        takes_s=factors(level={1: 0.5, 2: 0.7, 3: 0.8}),
        writes=lambda launch: "ratio " + "x" * int(launch.configuration.get("level", 9)),
    )
    space = space_of(level=(1, 2, 3), nice=(5, 10))
    study = tune(space, program, Budget(launches=300))
    assert study.settings["level"] == 1
    assert study.conclusion.recommendation is not None
    assert study.conclusion.recommendation.output_difference is not None
    assert not _notes(study)


def test_invalid_value_is_distinguished_from_output_dependent_setting() -> None:
    def writes(launch: Launch) -> str:
        return _mode(launch) + (" with AVX" if "avx" in launch.configuration else "")

    program = Writing(
        takes_s=factors(mode={"fast": 0.5, "bogus": 0.001}, avx={1: 0.8}), writes=writes
    )
    study = tune(space_of(mode=("fast", "bogus"), avx=(1,)), program, Budget(launches=300))
    assert study.settings == {"mode": "fast", "avx": 1}


def test_launch_with_default_output_clears_a_configuration() -> None:
    """One accident costs one launch."""

    def writes(launch: Launch) -> str:
        first = launch.stage is Stage.SEARCH and launch.block < 3
        fast = launch.configuration.get("mode") == "fast"
        return "warning: out of luck" if first and fast else "result 3.14"

    program = Writing(takes_s=factors(mode={"fast": 0.5, "other": 0.9}), writes=writes)
    study = tune(space_of(mode=("fast", "other")), program, Budget(launches=200))
    again = [la for la in _launches(study, "fast") if la.stage is Stage.SURVEY]
    assert len(again) == 1, "nothing was launched again, and nothing is shown"
    assert study.settings == {"mode": "fast"}
    assert not _notes(study)


def test_default_whose_output_varies_clears_all() -> None:
    def writes(launch: Launch) -> str:
        if not launch.configuration:
            return f"at {'x' * launch.block}"
        return _mode(launch)

    study = tune(MODES, Writing(takes_s=TAKES, writes=writes), Budget(launches=60))
    assert study.settings == {"mode": "bogus"}


def test_samples_without_outputs_are_judged_by_their_figures() -> None:
    study = tune(MODES, SimulatedProgram(takes_s=TAKES), Budget(launches=60))
    assert study.settings == {"mode": "bogus"}


def test_reduction_keeps_settings_required_for_the_work() -> None:
    """Without its second setting the winner prints a usage message."""

    def writes(launch: Launch) -> str:
        turbo, safe = (launch.configuration.get(name) for name in ("turbo", "safe"))
        return USAGE if turbo == 2 and safe != 1 else "result 3.14"

    def takes_s(configuration: Configuration) -> float:
        if configuration.get("turbo") == 2:
            return 0.5 if configuration.get("safe") == 1 else 0.01
        return 1.0

    space = space_of(turbo=(1, 2), safe=(1, 2))
    study = tune(space, Writing(takes_s=takes_s, writes=writes), Budget(launches=400))
    assert study.settings == {"turbo": 2, "safe": 1}


def test_live_line_excludes_different_work() -> None:
    study = tune(MODES, BOGUS, Budget(launches=60))
    board, ahead = Scoreboard(study.spec), set()
    for sample in study.samples:
        if sample.launch.stage is Stage.SEARCH and (found := board.leader(sample.launch.block)):
            ahead.add(found.arm)
        board.add(sample)
    assert ahead == {"mode=fast"}


def test_bundle_quotes_no_output_in_the_note() -> None:
    (note,) = _notes(tune(MODES, BOGUS, Budget(launches=60)))
    bare = without_quote(note)
    assert "usage" not in bare
    assert "mode=bogus wrote 18 bytes, and default 11 bytes; it counts as failed" in bare


class TestResume(RaceContract):
    """A search in which a value does different work is resumed like any other."""

    program = Writing(
        takes_s=lambda c: 0.001 if c.get("mode") == "bogus" else 1.0 - 0.1 * len(c), writes=_mode
    )

    def spec(self, budget: Budget, seed: int = 0, timeout_s: float | None = None) -> StudySpec:
        space = space_of(mode=("fast", "bogus"), nice=(5,))
        return StudySpec(
            kind=Kind.TUNE,
            workload=workload(timeout_s=timeout_s),
            budget=budget,
            space=space,
            seed=seed,
        )

    # One value costs no time, and a small budget is useful for a search.
    test_time_outs_count_as_their_caps = None  # type: ignore[assignment]
    test_insufficient_budget_error_names_sufficient_budget = None  # type: ignore[assignment]

    def race(self, spec: StudySpec) -> TuneRace:
        return TuneRace(spec, SearchSpace(spec.space), TpeSearcher())


def _judged(*seen: tuple[dict[str, Value], str, int]) -> History:
    """Return the history of a search with some launches of each configuration."""
    history = History.of(StudySpec(kind=Kind.TUNE, workload=workload(), budget=Budget(launches=9)))
    for values, text, count in [({}, "result", 2), *seen]:
        configuration = Configuration(values)
        program = Writing(takes_s=lambda c: 1.0, writes=lambda launch, t=text: t)  # type: ignore[misc]
        for block in range(count):
            launch = Launch(
                configuration=configuration,
                arm=str(configuration),
                stage=Stage.SEARCH,
                block=block,
                position=0,
            )
            history.add(program.run(launch))
    return history


def _held(history: History) -> set[str]:
    return {str(one) for one in history.other_work.launched}


@pytest.mark.parametrize(
    ("seen", "held"),
    [
        # All other values differ: outputs depend on the setting.
        ([({"a": 1}, "usage", 2)], set()),
        ([({"a": 1}, "usage", 2), ({"b": 1}, "result", 1)], set()),
        # An equal number of its values agrees.
        ([({"a": 1}, "usage", 1), ({"a": 2}, "result", 1)], {"a=1"}),
        ([({"a": 1}, "x", 2), ({"a": 3}, "y", 2), ({"a": 2}, "result", 1)], set()),
        # Numbers count from the second launch on.
        ([({"a": 1}, "result 2", 1), ({"a": 2}, "result", 1)], {"a=1"}),
        # Each of two values may be the cause; one belongs to a setting with dependent outputs.
        (
            [({"a": 1, "b": 1}, "usage", 2), ({"a": 2}, "result", 1), ({"b": 2}, "result", 1)],
            {"a=1 b=1"},
        ),
        ([({"a": 1, "b": 1}, "usage", 2), ({"a": 2}, "result", 1)], set()),
        # Both are cleared: their combination is the cause.
        (
            [({"a": 1, "b": 1}, "usage", 2), ({"a": 1}, "result", 1), ({"b": 1}, "result", 1)],
            {"a=1 b=1"},
        ),
        # Its output varies.
        ([({"a": 1}, "usage", 1), ({"a": 1}, "result", 1), ({"a": 2}, "result", 1)], set()),
    ],
)
def test_configurations_with_different_work(
    seen: list[tuple[dict[str, Value], str, int]], held: set[str]
) -> None:
    assert _held(_judged(*seen)) == held


def test_value_explaining_the_output_excludes_unlaunched_configurations() -> None:
    found = _judged(({"a": 1}, "usage", 1), ({"a": 2}, "result", 1)).other_work
    assert found.covers(Configuration({"a": 1, "b": 7}))
    assert not found.covers(Configuration({"a": 2, "b": 7}))
    assert not found.covers(Configuration())


def test_single_launch_evidence_is_repeated() -> None:
    once = _judged(({"a": 1}, "usage", 1), ({"a": 2}, "result", 1))
    assert [str(c) for c in once.other_work.launched_once] == ["a=1"]
    twice = _judged(({"a": 1}, "usage", 2), ({"a": 2}, "result", 1))
    assert not twice.other_work.launched_once
    cleared = {"a": 2, "b": 1}
    several = _judged(
        ({"a": 1}, "usage", 1), ({"a": 1, "b": 1}, "usage", 1), (cleared, "result", 1)
    )
    assert _held(several) == {"a=1", "a=1 b=1"}
    assert not several.other_work.launched_once, "the value was seen twice"


def test_note_on_several_that_no_value_explains_counts_them() -> None:
    history = _judged(
        ({"a": 1, "b": 1}, "usage", 2),
        ({"a": 2, "b": 2}, "usage", 2),
        *(({name: value}, "result", 1) for name in "ab" for value in (1, 2)),
    )
    note = history.other_work.note
    assert note is not None
    assert "; it and 1 other configuration count as failed (" in note


def test_conclusion_depends_on_samples_only() -> None:
    study = tune(MODES, BOGUS, Budget(launches=60))
    space = SearchSpace(study.spec.space)
    again = conclude(study.spec, study.samples, space, TpeSearcher(), study.done)
    assert again == study.conclusion
