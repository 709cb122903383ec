"""Sweeps on simulated programs: launches, endings and conclusions."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, replace

import msgspec
import pytest
from simulated_studies import Writing

from assay.records import (
    DEFAULT,
    Budget,
    Choices,
    Conclusion,
    Configuration,
    Design,
    DesignKind,
    EffectKind,
    EffectVerdict,
    Grant,
    GrantStatus,
    Kind,
    Launch,
    Metric,
    Outcome,
    Parameter,
    Range,
    Sample,
    Space,
    Stage,
    StudySpec,
    Verdict,
    Workload,
)
from assay.records.workload import WALL
from assay.search.claims.effects import contrasts
from assay.search.conclusion.cells import (
    baseline_point,
    baseline_text,
    best_claim,
    settings_of,
    sorted_by_median,
    sorted_by_settings,
)
from assay.search.conclusion.conclude import conclude
from assay.search.races.race import Ending, EndReason
from assay.search.races.sweep import SweepRace, min_blocks, min_launches, sweep_alpha
from assay.search.space.design import lay_out
from assay.search.space.search_space import SearchSpace
from assay.testing.search_contracts import RandomSearcher, SimulatedProgram, run_race
from assay.wording.endings import all_blocks_ending
from assay.wording.sweep import sweep_sentences

SPACE = Space(
    parameters=(
        Parameter(name="arg.a", domain=Choices((1, 2)), default=1),
        Parameter(name="arg.b", domain=Choices((1, 2)), default=1),
        Parameter(name="arg.c", domain=Range(1, 8, step=2, log=True), default=1),
    )
)
FIRST = Configuration({"arg.a": 1, "arg.b": 1, "arg.c": 1})
"""The baseline: the default configuration."""
GRID = Design(kind=DesignKind.GRID)
FACTORIAL = Design(kind=DesignKind.FACTORIAL)
Takes = Callable[[Configuration], float]


@dataclass(frozen=True)
class Sweep:
    spec: StudySpec
    samples: list[Sample]
    done: Ending
    conclusion: Conclusion

    def blocks(self, stage: Stage) -> dict[int, list[str]]:
        """Return the arms of each block in order."""
        found: dict[int, list[str]] = {}
        for sample in self.samples:
            if sample.launch.stage is stage:
                found.setdefault(sample.launch.block, []).append(sample.launch.arm)
        return found


def sweep(
    design: Design,
    program: SimulatedProgram,
    *,
    space: Space = SPACE,
    launches: int | None = 500,
    time_s: float | None = None,
    metric: Metric = WALL,
    timeout_s: float | None = None,
    baseline: Configuration = DEFAULT,
    **more: object,
) -> Sweep:
    bound = SearchSpace(space)
    layout = lay_out(design, space, bound, baseline, 0)
    spec = StudySpec(
        kind=Kind.SWEEP,
        workload=Workload(argv=("./p",), metrics=(metric,), timeout_s=timeout_s),
        budget=Budget(launches=launches, time_s=time_s),
        space=space,
        arms=layout.arms,
        design=layout.design,
        **more,  # type: ignore[arg-type]
    )
    completed_race = run_race(SweepRace(spec), program, spec.budget)
    found = conclude(spec, completed_race.samples, bound, RandomSearcher(), completed_race.done)
    return Sweep(spec, completed_race.samples, completed_race.done, found)


def steady(takes_s: Takes = lambda c: 1.0, noise: float = 0.01) -> SimulatedProgram:
    return SimulatedProgram(takes_s=takes_s, noise=noise)


def test_baseline_warm_up_and_complete_blocks_run_in_order() -> None:
    found = sweep(msgspec.structs.replace(GRID, repeats=5), steady())
    names = [arm.name for arm in found.spec.arms]
    surveys = found.blocks(Stage.SURVEY)
    assert surveys[0] == names[:1]
    assert sorted(surveys[1]) == sorted(names[1:])
    blocks = list(found.blocks(Stage.CONFIRM).values())
    assert [sorted(block) for block in blocks] == [sorted(names)] * 5
    assert len({tuple(block) for block in blocks}) > 1, "the order is never the same"
    assert found.done.reason is EndReason.DECIDED
    assert len(found.samples) == min_launches(found.spec) == 16 * 6


@pytest.mark.parametrize(("warmup", "surveys"), [(0, 1), (1, 16), (3, 48)])
def test_warm_up_launches_are_as_many_as_asked_for(warmup: int, surveys: int) -> None:
    found = sweep(msgspec.structs.replace(GRID, repeats=2), steady(), warmup=warmup)
    assert sum(map(len, found.blocks(Stage.SURVEY).values())) == surveys
    assert len(found.samples) == min_launches(found.spec)


def test_cell_that_fails_twice_in_a_block_is_excluded() -> None:
    bad = {"arg.a": 2, "arg.b": 2, "arg.c": 8}
    program = replace(steady(), fails=lambda c: float(dict(c) == bad))
    found = sweep(msgspec.structs.replace(GRID, repeats=3), program)
    name = str(Configuration(bad))
    tries = [s for s in found.samples if s.launch.arm == name]
    assert [(s.launch.stage, s.launch.attempt) for s in tries] == [
        (Stage.SURVEY, 0),
        (Stage.SURVEY, 1),
    ]
    assert len(found.conclusion.claims) == 14
    assert any("2 of" in note and name in note for note in found.conclusion.notes)
    assert sweep_sentences(found.conclusion, WALL, best_claim(found.conclusion))[-1].endswith(
        "14 unclear, 1 without a value."
    )


@dataclass(frozen=True)
class FailingBlocks(SimulatedProgram):
    """Program that fails at every attempt in some blocks of the second cell.

    Attributes:
        fails_in: whether it fails in a block.
    """

    fails_in: Callable[[int], bool] = lambda block: False

    def run(self, launch: Launch) -> Sample:
        if launch.configuration.get("arg.a") == 2 and self.fails_in(launch.block):
            return replace(steady(), fails=lambda c: 1.0).run(launch)
        return super().run(launch)


TWO_CELLS = Space(parameters=(Parameter(name="arg.a", domain=Choices((1, 2)), default=1),))


def quicker(fails_in: Callable[[int], bool]) -> FailingBlocks:
    return FailingBlocks(
        takes_s=lambda c: 0.5 if c.get("arg.a") == 2 else 1.0, noise=0.01, fails_in=fails_in
    )


def test_occasionally_failing_cell_stays_and_is_not_the_best() -> None:
    found = sweep(GRID, quicker(lambda block: block % 4 == 3), space=TWO_CELLS, launches=60)
    assert found.conclusion.claims[0].blocks >= 6
    assert best_claim(found.conclusion) is None
    (told,) = sweep_sentences(found.conclusion, WALL, best_claim(found.conclusion))
    assert "launches of arg.a=2 failed, and all " in told


def test_cells_with_different_output_share_one_note_with_the_reason() -> None:
    def prints(launch: Launch) -> str:
        return "result 3.14" if launch.configuration.get("arg.a") == 1 else "usage: p"

    program = Writing(takes_s=lambda c: 1.0, noise=0.01, writes=prints)
    four = Space(parameters=SPACE.parameters[:2])
    found = sweep(msgspec.structs.replace(GRID, repeats=12), program, space=four)
    withheld = [claim.b for claim in found.conclusion.claims if claim.verdict_withheld]
    (note,) = (n for n in found.conclusion.notes if "no verdict on" in n)
    assert note.startswith(f"different output: {withheld[0]} wrote 8 bytes")
    assert "--outputs-may-differ" in note
    assert note.endswith(f"no verdict on 2 cells: {', '.join(withheld)}")


def test_sweep_with_finally_failing_cells_reports_earlier_results() -> None:
    found = sweep(
        GRID, quicker(lambda block: block > 9), space=TWO_CELLS, launches=60, precision=1e-6
    )
    assert found.done.reason is EndReason.DECIDED
    assert "no cell gave values any longer" in found.done.message
    assert found.conclusion.claims[0].blocks >= 6


def test_cell_that_works_once_is_named() -> None:
    found = sweep(GRID, quicker(lambda block: block > 1), space=TWO_CELLS, launches=60)
    assert found.done.reason is EndReason.WORKLOAD_FAILED
    assert "'arg.a=2' worked once, and failed since, in 6 launches" in found.done.message


def test_time_outs_are_censored_values() -> None:
    program = steady(lambda c: 9.0 if c.get("arg.a") == 2 else 1.0)
    found = sweep(GRID, program, timeout_s=3.0)
    late = [c for c in found.conclusion.claims if "arg.a=2" in c.b]
    assert len(late) == 8
    for claim in late:
        assert claim.verdict is Verdict.SLOWER
        assert claim.bound_only
        assert claim.ratio == pytest.approx(3.0, rel=0.1)


def test_race_ends_when_every_claim_is_decided() -> None:
    program = steady(lambda c: 1.0 + 0.2 * (c != FIRST), noise=0.02)
    found = sweep(GRID, program)
    assert found.done.reason is EndReason.DECIDED
    assert {c.verdict for c in found.conclusion.claims} == {Verdict.SLOWER}
    assert found.conclusion.blocks >= min_blocks(found.spec)


def test_with_a_precision_each_cell_ends_separately() -> None:
    noisy = {"arg.a": 2, "arg.b": 1, "arg.c": 1}

    program = steady(noise=0.004)
    loud = replace(program, noise=0.1)

    class Both:
        """One cell is louder than the others."""

        def run(self, launch: object) -> Sample:
            chosen = loud if dict(launch.configuration) == noisy else program  # type: ignore[attr-defined]
            return chosen.run(launch)  # type: ignore[arg-type]

    found = sweep(GRID, Both(), launches=3000, precision=0.02)  # type: ignore[arg-type]
    assert found.done.reason is EndReason.DECIDED
    counts = {arm.name: arm.summary["wall_s"].n for arm in found.conclusion.arms}
    name = str(Configuration(noisy))
    assert counts[name] > 20
    assert counts[found.spec.arms[0].name] == counts[name], "the baseline runs beside it"
    others = [n for arm, n in counts.items() if arm not in (name, found.spec.arms[0].name)]
    assert max(others) < 12
    for arm in found.conclusion.arms:
        summary = arm.summary["wall_s"]
        assert summary.ci is not None
        assert (summary.ci[1] - summary.ci[0]) / 2 <= 0.02 * summary.mean


@pytest.mark.parametrize("busy", [0.0, 1.0])
def test_with_a_precision_too_many_disturbed_blocks_continue_the_sweep(busy: float) -> None:
    """As for ``assay measure``: the remaining blocks are not representative."""
    program = replace(steady(), others=lambda launch: busy * (launch.block % 2))
    found = sweep(GRID, program, launches=300, precision=0.02)
    assert found.done.reason is (EndReason.BUDGET if busy else EndReason.DECIDED)


@pytest.mark.parametrize("grant", [GrantStatus.REFUSED, GrantStatus.GRANTED])
def test_setting_without_effect_in_cells_is_reported_once(grant: GrantStatus) -> None:
    found = sweep(msgspec.structs.replace(GRID, repeats=6), steady())

    def judged(sample: Sample) -> Sample:
        if sample.launch.configuration.get("arg.b") != 2:
            return sample
        word = Grant(value=2, status=grant, reason="the kernel said no")
        return msgspec.structs.replace(sample, settings={"arg.b": word})

    samples = [judged(s) for s in found.samples]
    again = conclude(found.spec, samples, SearchSpace(SPACE), RandomSearcher(), found.done)
    told = [note for note in again.notes if "did not take effect" in note]
    cells = sum(arm.configuration.get("arg.b") == 2 for arm in found.spec.arms)
    launches = 6 * cells
    assert told == (
        [
            f"arg.b did not take effect in {launches} of {launches} launches that requested it, "
            f"in {cells} cells: the kernel said no"
        ]
        if grant is GrantStatus.REFUSED
        else []
    )


def test_cells_of_a_factorial_design_end_together() -> None:
    found = sweep(FACTORIAL, steady(noise=0.02), launches=3000, precision=0.02)
    assert found.done.reason is EndReason.DECIDED
    counts = {arm.summary["wall_s"].n for arm in found.conclusion.arms}
    assert len(counts) == 1


def test_too_many_cells_for_budget_are_refused_at_start() -> None:
    found = sweep(GRID, steady(), launches=None, time_s=20.0)
    assert found.done.reason is EndReason.TOO_SMALL
    assert len(found.samples) == 2, "two launches tell"
    needed = found.done.needed
    assert needed is not None
    assert needed.time_s is not None
    again = sweep(GRID, steady(), launches=None, time_s=needed.time_s)
    assert again.done.reason is not EndReason.TOO_SMALL
    assert again.conclusion.blocks >= min_blocks(again.spec)


def test_slow_first_launch_of_baseline_does_not_refuse_sweep() -> None:
    program = steady(lambda c: 1.9 if c == FIRST else 1.0)
    found = sweep(msgspec.structs.replace(GRID, repeats=2), program, launches=None, time_s=55.0)
    assert found.done.reason is EndReason.DECIDED


def test_budget_of_launches_is_known_before_any() -> None:
    space = msgspec.structs.replace(SPACE, parameters=SPACE.parameters[:1])
    found = sweep(GRID, steady(), space=space, launches=13)
    assert found.done.reason is EndReason.TOO_SMALL
    assert found.done.needed is not None
    assert found.done.needed.launches == min_launches(found.spec) == 14
    assert len(sweep(GRID, steady(), space=space, launches=14).samples) == 14


def test_program_that_never_works() -> None:
    found = sweep(GRID, replace(steady(), fails=lambda c: 1.0))
    assert found.done.reason is EndReason.WORKLOAD_FAILED
    assert len(found.samples) == 6
    only = replace(steady(), fails=lambda c: float(c != FIRST))
    found = sweep(GRID, only)
    assert found.done.reason is EndReason.WORKLOAD_FAILED
    assert "All cells but the baseline" in found.done.message


@dataclass(frozen=True)
class WorksOnce(SimulatedProgram):
    """Program that fails in every launch but the first, as with a port in use."""

    def run(self, launch: Launch) -> Sample:
        first = (launch.stage, launch.block, launch.position, launch.attempt)
        works = first == (Stage.SURVEY, 0, 0, 0)
        return steady().run(launch) if works else replace(steady(), fails=lambda c: 1.0).run(launch)


def test_program_that_works_once_is_reported_as_order() -> None:
    found = sweep(GRID, WorksOnce(takes_s=lambda c: 1.0))
    assert found.done.reason is EndReason.WORKLOAD_FAILED
    assert "worked once, and failed since" in found.done.message
    assert "--prepare" in found.done.message and "All cells" not in found.done.message


def test_alpha_is_shared_among_all_intervals() -> None:
    found = sweep(FACTORIAL, steady(), null=True)
    intervals = 7 + 1 + 3 + 3
    assert sweep_alpha(found.spec) == pytest.approx(0.05 / intervals)
    conclusion = found.conclusion
    shown = [*conclusion.claims, *conclusion.effects, conclusion.noise_floor]
    assert len(shown) == intervals
    assert {c.alpha for c in shown if c is not None} == {sweep_alpha(found.spec)}


def test_null_runs_the_baseline_under_two_names() -> None:
    found = sweep(msgspec.structs.replace(GRID, repeats=8), steady(), null=True)
    name = found.spec.arms[0].name
    for block in found.blocks(Stage.CONFIRM).values():
        assert block.count(name) == block.count(f"{name} (again)") == 1
    assert found.conclusion.noise_floor is not None
    assert len(found.conclusion.claims) == 15


def test_too_few_blocks_for_a_verdict_are_noted() -> None:
    found = sweep(msgspec.structs.replace(GRID, repeats=3), steady(lambda c: 1.0 + len(str(c))))
    assert {c.verdict for c in found.conclusion.claims} == {Verdict.UNCLEAR}
    assert any(note.startswith("3 blocks are too few") for note in found.conclusion.notes)


def test_single_block_is_singular() -> None:
    found = sweep(msgspec.structs.replace(GRID, repeats=1), steady())
    assert any(note.startswith("1 block is too few") for note in found.conclusion.notes)
    assert found.done.message == "The only block was run."
    assert all_blocks_ending(1, 1) == "The only block was run (disturbed)."


# --- effects --------------------------------------------------------------------------------------


def factors(configuration: Configuration) -> float:
    """a: 20 % slower; c: 30 % faster; both together 10 % more; b: no effect."""
    seconds = 1.2 if configuration["arg.a"] == 2 else 1.0
    seconds *= 0.7 if configuration["arg.c"] == 8 else 1.0
    return seconds * (1.1 if configuration["arg.a"] == 2 and configuration["arg.c"] == 8 else 1.0)


def test_effects_are_those_of_the_textbook() -> None:
    """Main effects and interactions as differences of mean logarithms, by hand."""
    found = sweep(msgspec.structs.replace(FACTORIAL, repeats=20), steady(factors, noise=0.003))
    effects = {(e.kind, e.factors): e for e in found.conclusion.effects}
    assert len(effects) == 6
    both = math.sqrt(1.1)
    for key, ratio, verdict in (
        ((EffectKind.MAIN, ("arg.a",)), 1.2 * both, EffectVerdict.SLOWER),
        ((EffectKind.MAIN, ("arg.b",)), 1.0, EffectVerdict.SAME),
        ((EffectKind.MAIN, ("arg.c",)), 0.7 * both, EffectVerdict.FASTER),
        ((EffectKind.INTERACTION, ("arg.a", "arg.c")), both, EffectVerdict.INTERACT),
        ((EffectKind.INTERACTION, ("arg.a", "arg.b")), 1.0, EffectVerdict.SAME),
        ((EffectKind.INTERACTION, ("arg.b", "arg.c")), 1.0, EffectVerdict.SAME),
    ):
        effect = effects[key]
        assert effect.ratio == pytest.approx(ratio, rel=0.003)
        assert effect.verdict is verdict
        assert effect.ci[0] is not None
        assert effect.ci[1] is not None
        assert effect.ci[0] < ratio < effect.ci[1]
        assert not effect.aliases
    main = effects[EffectKind.MAIN, ("arg.c",)]
    assert (main.low, main.high) == (1, 8)


def test_factor_with_a_refused_level_has_no_effect() -> None:
    program = replace(steady(factors, noise=0.003), refuses={"arg.c": 8})
    found = sweep(msgspec.structs.replace(FACTORIAL, repeats=7), program)
    told = {name for effect in found.conclusion.effects for name in effect.factors}
    assert told == {"arg.a", "arg.b"}


def test_effect_is_the_difference_of_mean_logarithms() -> None:
    found = sweep(msgspec.structs.replace(FACTORIAL, repeats=7), steady(factors, noise=0.05))
    values: dict[tuple[int, ...], list[float]] = {}
    for sample in found.samples:
        if sample.launch.stage is Stage.CONFIRM:
            row = tuple(1 if v == 2 or v == 8 else -1 for v in sample.launch.configuration.values())
            values.setdefault(row, []).append(math.log(sample.metrics["wall_s"]))
    means = {row: sum(logs) / len(logs) for row, logs in values.items()}
    interaction = next(e for e in found.conclusion.effects if e.factors == ("arg.a", "arg.c"))
    by_hand = sum(row[0] * row[2] * mean for row, mean in means.items()) / 4
    assert math.log(interaction.ratio) == pytest.approx(by_hand)


def test_fraction_names_aliases() -> None:
    space = Space(parameters=(*SPACE.parameters, Parameter(name="arg.d", domain=Choices((0, 1)))))
    design = Design(kind=DesignKind.FACTORIAL, generators=("arg.d = arg.a * arg.b * arg.c",))
    found = sweep(msgspec.structs.replace(design, repeats=12), steady(), space=space)
    pairs = {c.factors: c.aliases for c in contrasts(found.spec)}
    assert len(pairs) == 7
    assert pairs["arg.a", "arg.b"] == (("arg.c", "arg.d"),)
    assert pairs["arg.a",] == ()
    design = Design(kind=DesignKind.FACTORIAL, generators=("arg.c = arg.a * arg.b",))
    found = sweep(msgspec.structs.replace(design, repeats=12), steady())
    assert {c.factors: c.aliases for c in contrasts(found.spec)} == {
        ("arg.a",): (("arg.b", "arg.c"),),
        ("arg.b",): (("arg.a", "arg.c"),),
        ("arg.c",): (("arg.a", "arg.b"),),
    }


def test_centre_shows_curvature() -> None:
    def bent(configuration: Configuration) -> float:
        return 1.0 + 0.2 * abs(math.log2(float(configuration["arg.c"])) - 1.0)

    design = msgspec.structs.replace(FACTORIAL, centre=True, repeats=15)
    found = sweep(design, steady(bent, noise=0.003))
    curvature = found.conclusion.effects[-1]
    assert curvature.kind is EffectKind.CURVATURE
    assert curvature.verdict is EffectVerdict.CURVED
    assert curvature.ratio == pytest.approx(1.0 / math.sqrt(1.2 * 1.4), rel=0.01)


TENS = Space(
    parameters=tuple(Parameter(name=f"arg.{n}", domain=Range(0, 10, step=1)) for n in "abc")
)


def cells_of(spec: StudySpec) -> list[tuple[set[str], set[str]]]:
    return [(set(c.minus), set(c.plus)) for c in contrasts(spec)]


@pytest.mark.parametrize(
    "baseline",
    [
        {"arg.a": 2, "arg.b": 2, "arg.c": 2},
        {"arg.a": 10, "arg.b": 10, "arg.c": 0},  # a corner that the fraction leaves out
        {"arg.a": 0, "arg.b": 0, "arg.c": 10, "nice": 5},
        {"arg.a": 5},
        {},
    ],
)
def test_baseline_beside_the_design_enters_no_effect(baseline: dict[str, int]) -> None:
    design = msgspec.structs.replace(
        FACTORIAL, centre=True, generators=("arg.c = arg.a * arg.b",), repeats=6
    )
    found = sweep(design, steady(), space=TENS, baseline=Configuration(baseline))
    assert dict(found.spec.arms[0].configuration) == baseline
    own = {arm.name for arm in found.spec.arms[1:]}
    assert len(own) == 5
    for minus, plus in cells_of(found.spec):
        assert len(minus) in (2, 4)
        assert minus | plus <= own
    *corners, (_, centre) = cells_of(found.spec)
    assert len(corners) == 3
    assert centre == {"arg.a=5 arg.b=5 arg.c=5"}


@pytest.mark.parametrize("value", [0, 5])
def test_baseline_that_is_a_cell_counts_as_one(value: int) -> None:
    baseline = Configuration(dict.fromkeys(("arg.a", "arg.b", "arg.c"), value))
    design = msgspec.structs.replace(FACTORIAL, centre=True, repeats=6)
    found = sweep(design, steady(), space=TENS, baseline=baseline)
    assert len(found.spec.arms) == 9
    assert found.spec.arms[0].configuration == baseline
    (corners, centre) = cells_of(found.spec)[-1]
    assert (len(corners), len(centre)) == (8, 1)
    assert corners | centre == {arm.name for arm in found.spec.arms}


def test_block_without_a_cell_has_no_effects_and_a_time_out_is_a_bound() -> None:
    broken = {"arg.a": 2, "arg.b": 2, "arg.c": 8}
    program = replace(steady(), fails=lambda c: float(dict(c) == broken))
    assert not sweep(msgspec.structs.replace(FACTORIAL, repeats=9), program).conclusion.effects
    late = steady(lambda c: 9.0 if c["arg.a"] == 2 else 1.0)
    found = sweep(msgspec.structs.replace(FACTORIAL, repeats=12), late, timeout_s=3.0)
    main = found.conclusion.effects[0]
    assert main.factors == ("arg.a",)
    assert main.bound_only
    assert main.verdict is EffectVerdict.SLOWER


@pytest.mark.slow
def test_false_effects_are_within_error_rate() -> None:
    """Interim analyses after every block of 400 studies without effects: 5 % and three errors."""
    wrong = 0
    for seed in range(400):
        program = SimulatedProgram(takes_s=lambda c: 1.0, noise=0.02, seed=seed)
        found = sweep(msgspec.structs.replace(FACTORIAL, repeats=25), program, margin=0.001)
        wrong += any(
            e.verdict not in (EffectVerdict.SAME, EffectVerdict.UNCLEAR)
            for e in found.conclusion.effects
        )
    assert wrong <= 400 * (0.05 + 3 * math.sqrt(0.05 * 0.95 / 400))


# --- words ----------------------------------------------------------------------------------------


def test_best_cell_leads_and_cells_have_an_order() -> None:
    found = sweep(GRID, steady(lambda c: 1.0 + 0.1 * float(c["arg.c"]) / float(c["arg.a"])))
    conclusion = found.conclusion
    best = best_claim(conclusion)
    assert best is not None
    assert best.ratio == min(c.ratio for c in conclusion.claims if c.verdict is Verdict.FASTER)
    first, tally = sweep_sentences(conclusion, WALL, best_claim(conclusion))
    assert first.startswith(best.b)
    assert tally.startswith("Of 15 cells compared with arg.a=1 arg.b=1 arg.c=1:")
    ordered = [dict(arm.configuration) for arm in sorted_by_settings(conclusion.arms, SPACE)]
    assert ordered == sorted(ordered, key=lambda c: (c["arg.a"], c["arg.b"], c["arg.c"]))
    medians = [arm.summary["wall_s"].median for arm in sorted_by_median(conclusion.arms, WALL)]
    assert medians == sorted(medians)


def test_sweep_without_blocks_is_reported() -> None:
    spec = sweep(GRID, steady()).spec
    empty = conclude(spec, [], SearchSpace(SPACE), RandomSearcher(), None)
    assert sweep_sentences(empty, WALL, best_claim(empty)) == [
        "No cell can be compared with the baseline: no block has values of both."
    ]


def test_baseline_is_described_by_its_settings() -> None:
    space = Space(
        parameters=(
            Parameter(name="arg.a", domain=Range(1, 9), default=1),
            Parameter(name="malloc", domain=Choices(("glibc", "jemalloc"))),
        )
    )
    assert baseline_point(DEFAULT, space) == {"arg.a": 1}
    assert baseline_text("default", DEFAULT, space) == (
        "The baseline, default, is arg.a=1, malloc not set."
    )
    part = Configuration({"malloc": "jemalloc"})
    assert baseline_text(str(part), part, space) == (
        "The baseline, malloc=jemalloc, is arg.a=1, malloc=jemalloc."
    )
    whole = Configuration({"arg.a": 3, "malloc": "jemalloc"})
    assert baseline_text(str(whole), whole, space) == ""


def test_baseline_of_a_hypercube_stands_beside_its_points() -> None:
    design = Design(kind=DesignKind.LATIN_HYPERCUBE, n=4, repeats=2)
    space = Space(parameters=(Parameter(name="arg.a", domain=Range(1, 999, step=1), default=1),))
    found = sweep(design, steady(), space=space)
    assert found.spec.arms[0].name == "default"
    rows = sorted_by_settings(found.conclusion.arms, space)
    first = next(arm for arm in rows if arm.name == "default")
    assert settings_of(first, found.conclusion, space) == [1]


FEW = Space(parameters=(Parameter(name="arg.a", domain=Choices((1, 2, 4)), default=1),))


def used_by_others(share: float) -> Sweep:
    """A sweep in which others use the machine during this share of the blocks."""

    def others(launch: Launch) -> float:
        return float(random.Random(launch.block).random() < share)

    program = replace(steady(lambda c: 1.0 / float(c.get("arg.a", 1))), others=others)
    return sweep(msgspec.structs.replace(GRID, repeats=20), program, space=FEW)


@pytest.mark.parametrize("share", [0.2, 0.6, 1.0])
def test_best_cell_is_named_however_many_blocks_were_disturbed(share: float) -> None:
    found = used_by_others(share)
    conclusion = found.conclusion
    lost = conclusion.disturbed_blocks
    assert lost
    assert sweep_sentences(conclusion, WALL, best_claim(conclusion))[0].startswith(
        ("arg.a=4 runs 4.0", "arg.a=4 runs 3.9")
    )
    assert found.done.message == f"All 20 blocks were run ({lost} of them disturbed)."
    shown = 20 - lost if lost <= 6 else 20
    assert all(arm.summary["wall_s"].n == shown for arm in conclusion.arms)
    assert all(arm.disturbed_launches == (lost if lost > 6 else 0) for arm in conclusion.arms)


def test_samples_of_outcomes_other_than_ok_have_no_value_in_the_summary() -> None:
    found = sweep(GRID, steady(lambda c: 9.0 if c.get("arg.a") == 2 else 1.0), timeout_s=3.0)
    late = {s.launch.arm for s in found.samples if s.outcome is Outcome.TIMED_OUT}
    assert {arm.name for arm in found.conclusion.arms if not arm.summary} == late


@pytest.mark.parametrize(
    ("factor", "verdict", "stopped"),
    [
        (1.2, Verdict.SLOWER, "Every cell was decided after 20 blocks."),
        (1.0, Verdict.UNCLEAR, "Ended after 20 blocks: further blocks would add no information."),
    ],
)
def test_constant_metric_may_stay_unclear(factor: float, verdict: Verdict, stopped: str) -> None:
    """Constant values have an unknown resolution."""
    still = SimulatedProgram(takes_s=lambda c: factor if c.get("arg.a") == 2 else 1.0, noise=0.0)
    study = sweep(GRID, still, space=Space(parameters=SPACE.parameters[:1]))
    assert [claim.verdict for claim in study.conclusion.claims] == [verdict]
    assert study.done == Ending(EndReason.DECIDED, stopped)
