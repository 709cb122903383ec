"""A search whose programs take longer to build than to run."""

from __future__ import annotations

import msgspec
import pytest

from assay.records import (
    Budget,
    Choices,
    Configuration,
    Evidence,
    Kind,
    Launch,
    Outcome,
    Parameter,
    Sample,
    Space,
    Stage,
    StudySpec,
    Verdict,
    Workload,
)
from assay.records.workload import WALL
from assay.search.conclusion.conclude import conclude
from assay.search.history.history import History, arm_of
from assay.search.history.remaining_budget import LAUNCH_OVERHEAD_S
from assay.search.model.gp import GpSearcher
from assay.search.races.block_runner import BlockPlan, BlockRunner
from assay.search.races.race import Ending
from assay.search.races.tune import TuneRace
from assay.search.space.search_space import SearchSpace
from assay.testing.search_contracts import SimulatedProgram

SPACE = Space(
    parameters=tuple(
        Parameter(name=f"build.p{i}", domain=Choices(("a", "b", "c")), default="a")
        for i in range(4)
    )
)
BUILD_S = 4.0


def built(sample: Sample, build_s: float = BUILD_S) -> Sample:
    told = Evidence(kind="build", value=build_s, unit="s")
    return msgspec.structs.replace(sample, evidence=(*sample.evidence, told))


def launch(configuration: Configuration = Configuration()) -> Launch:  # noqa: B008
    arm = arm_of(configuration)
    return Launch(
        configuration=configuration, arm=arm.name, stage=Stage.SEARCH, block=0, position=0
    )


def test_pending_builds_are_those_of_unlaunched_configurations() -> None:
    program = SimulatedProgram(takes_s=lambda c: 1.0, noise=0.0)
    known, new = Configuration({"build.p0": "b"}), Configuration({"build.p0": "c"})
    history = History(WALL, [built(program.run(launch(known)))])
    assert history.cost([arm_of(known)]).once_s == 0.0
    cost = history.cost([arm_of(known), arm_of(new)])
    assert cost.once_s == pytest.approx(BUILD_S)
    assert cost.times(6).once_s == pytest.approx(BUILD_S)
    assert cost.time_s == pytest.approx(2 * (1.0 + LAUNCH_OVERHEAD_S))


def test_study_without_builds_expects_no_build_time() -> None:
    history = History(WALL, [SimulatedProgram(takes_s=lambda c: 1.0).run(launch())])
    assert history.cost([arm_of(Configuration({"build.p0": "c"}))]).once_s == 0.0


@pytest.mark.parametrize("unbuilt, attempts", [(True, 1), (False, 2)])
def test_failed_build_is_not_launched_again(unbuilt: bool, attempts: int) -> None:
    block = BlockRunner(0)
    block.start(BlockPlan(Stage.SEARCH, (arm_of(Configuration()),)))
    taken = 0
    while not block.is_finished:
        (one,) = block.take(1)
        taken += 1
        evidence = (Evidence(kind="build"),) if unbuilt else ()
        block.tell(Sample(launch=one, outcome=Outcome.FAILED, evidence=evidence))
    assert taken == attempts


@pytest.mark.parametrize("seed", range(3))
def test_builds_reserve_cost_of_a_proof(seed: int) -> None:
    """Each new configuration takes forty times what its launch does."""
    spec = StudySpec(
        kind=Kind.TUNE,
        workload=Workload(argv=("program",)),
        budget=Budget(time_s=90.0),
        space=SPACE,
        seed=seed,
    )
    space, searcher = SearchSpace(SPACE), GpSearcher()
    race = TuneRace(spec, space, searcher)
    program = SimulatedProgram(
        takes_s=lambda c: 0.1 * (0.4 if c.get("build.p1") == "b" else 1.0), noise=0.02, seed=seed
    )
    spent_s, known, samples = 0.0, set[Configuration](), list[Sample]()
    while True:
        answer = race.ask(1, Budget(time_s=90.0 - spent_s))
        if isinstance(answer, Ending):
            break
        for one in answer:
            sample = program.run(one)
            spent_s += (sample.wall_s or 0.0) + LAUNCH_OVERHEAD_S
            if one.configuration not in known:
                sample, spent_s = built(sample), spent_s + BUILD_S
                known.add(one.configuration)
            samples.append(sample)
            race.tell(sample)
    found = conclude(spec, samples, space, searcher, answer)
    assert spent_s <= 90.0
    assert 5 <= len(known) <= 22
    assert found.recommendation is not None and found.recommendation.claim is not None
    assert found.recommendation.claim.verdict is Verdict.FASTER
