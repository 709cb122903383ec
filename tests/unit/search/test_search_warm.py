"""Warm start: effects of earlier studies on a search, and never on a claim."""

from __future__ import annotations

import math

import msgspec
import numpy as np
import pytest
from scipy.optimize import approx_fprime

from assay.records import (
    DEFAULT,
    Arm,
    Budget,
    Choices,
    Configuration,
    EarlierConfiguration,
    EarlierStudy,
    Goal,
    Kind,
    Metric,
    Parameter,
    Sample,
    Space,
    Stage,
    StudySpec,
    Value,
    Workload,
    decode,
    encode,
)
from assay.search.conclusion.conclude import conclude
from assay.search.conclusion.warm_start import warm_start_result
from assay.search.history.history import History
from assay.search.model.gp import MIN_CORRELATION, GpSearcher
from assay.search.model.hyperparameters import Hyperparameters
from assay.search.model.likelihood import Likelihood
from assay.search.model.searcher import Trial
from assay.search.model.surrogate import Surrogate
from assay.search.model.tasks import TrainingData
from assay.search.model.warm_start import (
    first_proposals,
    limit_results,
    project,
    transferable_results,
)
from assay.search.races.sweep import SweepRace
from assay.search.races.tune import TuneRace
from assay.search.space.search_space import SearchSpace
from assay.testing.search_contracts import CompletedRace, SimulatedProgram, run_race
from assay.wording.warm_start import warm_start_announcement

MANY = Space(
    parameters=tuple(
        Parameter(name=f"arg.p{i}", domain=Choices(tuple(range(5))), default=0) for i in range(5)
    )
)


def spec_of(
    space: Space = MANY, launches: int = 60, seed: int = 0, metric: Metric | None = None
) -> StudySpec:
    return StudySpec(
        kind=Kind.TUNE,
        workload=Workload(
            argv=("program",), metrics=(metric,) if metric else Workload(argv=("x",)).metrics
        ),
        budget=Budget(launches=launches),
        space=space,
        seed=seed,
    )


def takes_s(configuration: Configuration) -> float:
    """Return the best time where p1 is 3 and p2 is 4; other settings have little effect."""
    gap = abs(int(configuration.get("arg.p1", 0)) - 3) + abs(
        int(configuration.get("arg.p2", 0)) - 4
    )
    return 1.0 + 0.2 * gap + 0.01 * int(configuration.get("arg.p3", 0))


PROGRAM = SimulatedProgram(takes_s=takes_s, noise=0.03)


def tuned(spec: StudySpec, program: SimulatedProgram = PROGRAM) -> CompletedRace:
    race = TuneRace(spec, SearchSpace(spec.space), GpSearcher(earlier=spec.earlier_studies))
    return run_race(race, program, spec.budget)


def told(
    spec: StudySpec, completed_race: CompletedRace, space: Space = MANY, name: str = "before"
) -> EarlierStudy:
    known, left_out = transferable_results(spec, completed_race.samples, SearchSpace(space))
    return EarlierStudy(
        study=name,
        command="program",
        same_workload=True,
        launches=len(completed_race.samples),
        known_configurations=tuple(known),
        unused_configurations=left_out,
    )


@pytest.fixture(scope="module")
def before() -> EarlierStudy:
    spec = spec_of(seed=11)
    return told(spec, tuned(spec))


def reversed_of(earlier: EarlierStudy) -> EarlierStudy:
    known = [
        msgspec.structs.replace(k, log_ratio=-(k.log_ratio or 0.0))
        for k in earlier.known_configurations
    ]
    return msgspec.structs.replace(earlier, known_configurations=tuple(reversed(known)))


# --- earlier results ----------------------------------------------------------------------------


def test_earlier_results_are_ratios_to_default_best_first(
    before: EarlierStudy,
) -> None:
    ratios = [known.log_ratio for known in before.known_configurations]
    assert None not in ratios and ratios == sorted(r for r in ratios if r is not None)
    assert before.unused_configurations == 0
    assert (
        len({known.configuration for known in before.known_configurations})
        == len(before.known_configurations)
        > 15
    )
    for known in before.known_configurations:
        truth = math.log(takes_s(known.configuration) / takes_s(DEFAULT))
        assert known.log_ratio == pytest.approx(truth, abs=0.15), "launches vary by 3 %"
    of_default = next(k for k in before.known_configurations if k.configuration == DEFAULT)
    assert of_default.log_ratio == 0.0 and of_default.launches > 10, "search and confirmation"


def test_higher_is_better_sorts_best_first() -> None:
    metric = Metric(name="fps", goal=Goal.HIGHER, pattern="x")
    spec = spec_of(metric=metric)
    completed_race = tuned(spec, SimulatedProgram(takes_s=takes_s, metric=metric))
    best = told(spec, completed_race).known_configurations[0]
    assert best.configuration["arg.p1"] == 3
    assert best.log_ratio is not None and best.log_ratio < -0.5


def test_failed_configurations_come_last() -> None:
    spec = spec_of()
    fails = SimulatedProgram(takes_s=takes_s, fails=lambda c: float(c.get("arg.p0") == 2))
    known = told(spec, tuned(spec, fails)).known_configurations
    failed = [k for k in known if k.log_ratio is None]
    assert failed and all(k.configuration["arg.p0"] == 2 for k in failed)
    assert known[-len(failed) :] == tuple(failed)


def test_earlier_sweep_provides_its_cells() -> None:
    cells = [{}, {"arg.p1": 3}, {"arg.p1": 4}, {"arg.p1": 3, "arg.p2": 4}]
    arms = tuple(Arm(name=f"c{i}", configuration=Configuration(c)) for i, c in enumerate(cells))
    spec = StudySpec(
        kind=Kind.SWEEP,
        workload=Workload(argv=("program",)),
        budget=Budget(launches=60),
        space=MANY,
        arms=arms,
    )
    completed_race = run_race(SweepRace(spec), PROGRAM, spec.budget)
    known = told(spec, completed_race).known_configurations
    assert [dict(k.configuration) for k in known[:2]] == [cells[3], cells[1]]
    assert {k.configuration for k in known} == {arm.configuration for arm in arms}


# --- projection to another space --------------------------------------------------------------


def space_of(**domains: tuple[tuple[Value, ...], Value | None]) -> Space:
    return Space(
        parameters=tuple(
            Parameter(name=f"arg.{name}", domain=Choices(values), default=default)
            for name, (values, default) in domains.items()
        )
    )


def test_different_default_of_earlier_study_is_set() -> None:
    theirs, ours = space_of(p=((0, 1, 2), 0)), SearchSpace(space_of(p=((0, 1, 2), 2)))
    found = [
        project(Configuration(c), theirs.parameters, ours) for c in ({}, {"arg.p": 1}, {"arg.p": 2})
    ]
    assert found == [Configuration({"arg.p": 0}), Configuration({"arg.p": 1}), DEFAULT]


def test_unvaried_settings_are_dropped_and_foreign_values_excluded() -> None:
    theirs = space_of(p=((0, 1, 7), 0), q=(("x", "y"), "x"))
    ours = SearchSpace(space_of(p=((0, 1, 2), 0), r=((True, False), None)))
    both = Configuration({"arg.p": 1, "arg.q": "y"})
    assert project(both, theirs.parameters, ours) == Configuration({"arg.p": 1})
    assert project(Configuration({"arg.p": 7}), theirs.parameters, ours) is None


def test_configurations_equal_after_dropping_are_averaged() -> None:
    spec = spec_of()
    completed_race = tuned(spec)
    narrow = Space(parameters=MANY.parameters[1:2])
    whole, merged = told(spec, completed_race), told(spec, completed_race, narrow)
    assert len(merged.known_configurations) <= 5
    for known in merged.known_configurations:
        p1 = known.configuration.get("arg.p1", 0)
        parts = [k for k in whole.known_configurations if k.configuration.get("arg.p1", 0) == p1]
        mean = sum(k.log_ratio or 0.0 for k in parts) / len(parts)
        assert known.log_ratio == pytest.approx(mean)
        assert known.launches == (parts[0].launches if len(parts) == 1 else 1)


def test_constraints_of_later_study_apply() -> None:
    spec = spec_of()
    strict = Space(parameters=MANY.parameters, constraints=("arg.p1 + arg.p2 < 5",))
    found = told(spec, tuned(spec), strict)
    assert found.unused_configurations > 0
    assert all(
        int(k.configuration.get("arg.p1", 0)) + int(k.configuration.get("arg.p2", 0)) < 5
        for k in found.known_configurations
    )


def test_better_half_of_many_results_is_kept() -> None:
    known = [
        EarlierConfiguration(configuration=Configuration({"n": i}), log_ratio=float(i))
        for i in range(100)
    ]
    kept = limit_results(known, 11)
    ratios = [k.log_ratio for k in kept]
    assert len(kept) == 11
    assert ratios[:6] == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert ratios[6] == 6.0 and ratios[-1] == 99.0 and ratios == sorted(ratios)  # type: ignore[type-var]
    assert limit_results(known[:5], 11) == tuple(known[:5])


# --- first launches of the search ---------------------------------------------------------------


def test_first_proposals_are_good_and_distinct() -> None:
    pairs = [
        ({"a": 1, "b": 1}, -0.5),
        ({"a": 1}, -0.4),
        ({"b": 1}, -0.3),
        ({"c": 1}, -0.2),
        ({"d": 1}, 0.1),
    ]
    known = tuple(
        EarlierConfiguration(configuration=Configuration(c), log_ratio=r) for c, r in pairs
    )
    one = EarlierStudy(study="s", command="x", known_configurations=known)
    assert [dict(c) for c in first_proposals([one], 2)] == [{"a": 1, "b": 1}, {"c": 1}]
    assert {"d": 1} not in [dict(c) for c in first_proposals([one], 9)], "worse than its default"
    assert len(first_proposals([one], 9)) == 4


def test_first_proposals_alternate_between_studies() -> None:
    def one(name: str) -> EarlierStudy:
        known = tuple(
            EarlierConfiguration(
                configuration=Configuration({f"{name}{i}": 1}), log_ratio=-1.0 / (i + 1)
            )
            for i in range(3)
        )
        return EarlierStudy(study=name, command="x", known_configurations=known)

    assert [next(iter(c)) for c in first_proposals([one("a"), one("b")], 4)] == [
        "a0",
        "b0",
        "a1",
        "b1",
    ]


def test_half_of_the_first_block_comes_from_earlier_study(before: EarlierStudy) -> None:
    spec = msgspec.structs.replace(spec_of(), earlier_studies=(before,))
    history = History.of(spec, tuned(spec).samples)
    block = history.blocks(Stage.SEARCH)[0]
    first = {s.launch.configuration for s in history.samples if s.launch.block == block}
    assert len(first) == 9
    assert len(first & set(first_proposals([before], 4))) == 4


# --- effect on the model ------------------------------------------------------------------------


def trials_of_program(seed: int, count: int = 20) -> list[Trial]:
    import random

    rng, space = random.Random(seed), SearchSpace(MANY)
    drawn = [DEFAULT, *(space.draw(rng) or DEFAULT for _ in range(count))]
    return [Trial(c, 0, math.log(takes_s(c)) + rng.gauss(0.0, 0.03)) for c in drawn]


def degree(earlier: EarlierStudy) -> float:
    searcher = GpSearcher(earlier=(earlier,))
    space, trials = SearchSpace(MANY), trials_of_program(5)
    plain = searcher._model(space, trials)
    assert plain is not None
    model, heard = searcher._guided(space, trials, plain, (earlier,))
    assert bool(heard) is (model is not plain)
    return model.surrogate.correlations[0] if heard else 0.0


def test_similar_study_is_used_and_misleading_one_is_not(before: EarlierStudy) -> None:
    assert degree(before) > 0.8 > MIN_CORRELATION
    assert degree(reversed_of(before)) == 0.0


def test_earlier_results_guide_the_search(before: EarlierStudy) -> None:
    """After eight bad launches, the next ones were good in the earlier study."""
    space = SearchSpace(MANY)
    trials = [t for t in trials_of_program(5, 40) if t.configuration.get("arg.p1") != 3][:9]

    def hits(searcher: GpSearcher) -> int:
        found = searcher.propose(space, trials, 8, seed=1)
        return sum(c.get("arg.p1") == 3 and int(c.get("arg.p2", 0)) >= 3 for c in found)

    assert hits(GpSearcher(earlier=(before,))) > hits(GpSearcher())


def test_gradient_is_that_of_the_loss_with_earlier_studies() -> None:
    rng = np.random.default_rng(3)
    rows = rng.random((10, 2))
    which = np.array([*range(10), *range(10), *range(5)])
    likelihood = Likelihood(
        TrainingData(
            rows,
            which,
            block=np.arange(25) // 3,
            values=rows[which, 0] + 0.05 * rng.standard_normal(25),
            noise=0.05**2,
            task=np.repeat([0, 1, 2], [10, 10, 5]),
            counts=np.where(np.arange(25) < 10, 1.0, 3.0),
        )
    )
    centre = likelihood.density.centre
    vector = centre + 0.3 * rng.standard_normal(len(centre))
    expected = approx_fprime(vector, lambda v: likelihood.loss(v)[0], 1e-6)
    assert likelihood.loss(vector)[1] == pytest.approx(expected, rel=1e-3, abs=1e-3)
    assert len(Hyperparameters.of(vector, 2).correlations) == 2


def test_level_of_earlier_study_has_no_influence() -> None:
    rng = np.random.default_rng(4)
    rows = rng.random((12, 2))
    which = np.array([*range(12), *range(12)])
    values = rows[which, 0] + 0.02 * rng.standard_normal(24)

    def mean(offset: float) -> np.ndarray:
        task = np.repeat([0, 1], 12)
        data = TrainingData(rows, which, np.arange(24), values + offset * task, 0.02**2, task)
        return Surrogate(data).predict(rows, np.arange(12))[0]

    assert mean(5.0) == pytest.approx(mean(0.0), abs=0.02)


# --- independence from earlier studies ----------------------------------------------------------


def test_winner_and_conclusion_depend_on_own_launches_only(before: EarlierStudy) -> None:
    """The same launches give the same conclusion."""
    guided = msgspec.structs.replace(spec_of(seed=4), earlier_studies=(before,))
    completed_race = tuned(guided)
    space = SearchSpace(MANY)
    told_all = conclude(
        guided, completed_race.samples, space, GpSearcher(earlier=(before,)), completed_race.done
    )
    liar = msgspec.structs.replace(guided, earlier_studies=(reversed_of(before),))
    told_lies = conclude(
        liar,
        completed_race.samples,
        space,
        GpSearcher(earlier=liar.earlier_studies),
        completed_race.done,
    )
    alone = conclude(
        spec_of(seed=4), completed_race.samples, space, GpSearcher(), completed_race.done
    )
    assert alone.warm_start == "" and told_all.warm_start
    for found in (told_all, told_lies):
        assert msgspec.structs.replace(found, warm_start="") == alone


def test_exhaustive_search_ignores_earlier_studies(before: EarlierStudy) -> None:
    few = Space(parameters=(Parameter(name="arg.p1", domain=Choices((0, 1, 3)), default=0),))
    cold = spec_of(few)
    spec = msgspec.structs.replace(cold, earlier_studies=(before,))
    completed_race = tuned(spec)
    assert completed_race.samples == tuned(cold).samples
    found = conclude(
        spec, completed_race.samples, SearchSpace(few), GpSearcher(), completed_race.done
    )
    assert found.warm_start == (
        "All configurations were tried: nothing was taken from study before of this workload."
    )


def test_study_contains_the_results_that_guide_it(before: EarlierStudy) -> None:
    spec = msgspec.structs.replace(spec_of(), earlier_studies=(before,))
    assert decode(encode(spec), StudySpec) == spec
    assert b"earlier" not in encode(spec_of()), "stores of earlier versions look the same"


@pytest.mark.rotating
@pytest.mark.parametrize("count", [5, 12, 25, 40])
def test_interrupted_search_resumes(before: EarlierStudy, count: int) -> None:
    spec = decode(encode(msgspec.structs.replace(spec_of(), earlier_studies=(before,))), StudySpec)
    whole = tuned(spec)
    race = TuneRace(spec, SearchSpace(MANY), GpSearcher(earlier=spec.earlier_studies))
    resumed = run_race(race, PROGRAM, spec.budget, told=whole.samples[:count])
    assert resumed.samples == whole.samples
    assert resumed.done == whole.done


# --- texts ------------------------------------------------------------------------------------


def test_words(before: EarlierStudy) -> None:
    other = msgspec.structs.replace(
        before,
        study="other",
        same_workload=False,
        known_configurations=before.known_configurations[:2],
    )
    count = len(before.known_configurations)
    assert warm_start_announcement([before]) == (
        f"begins with the results of study before of this workload for {count} configurations, "
        "unless all configurations can be tried; none of its values is evidence"
    )
    told = warm_start_announcement([before, other])  # common results count once
    assert f"studies before and other for {count} " in told
    assert "study other of another workload" in warm_start_announcement([other])
    assert warm_start_result([before], History.of(spec_of()), guided=True) == ""
    spec = msgspec.structs.replace(spec_of(), earlier_studies=(before,))
    said = warm_start_result([before], History.of(spec, _samples(spec)), guided=True)
    assert said == (
        "The search began with 4 configurations of study before of this workload; the model "
        "used its results as far as they agreed with those of this study. None of its values is "
        "evidence."
    )


def _samples(spec: StudySpec) -> list[Sample]:
    return tuned(spec).samples
