"""Launches of a search side by side: their order, slots and results."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from dataclasses import dataclass, field

import pytest

from assay.records import (
    Budget,
    Choices,
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
from assay.search.conclusion.conclude import conclude
from assay.search.history.history import DEFAULT_ARM, History
from assay.search.history.interference import BLOCKS, PARALLEL_ARM, interference_of
from assay.search.races.race import Ending
from assay.search.races.tune import TuneRace
from assay.search.space.search_space import SearchSpace
from assay.testing.search_contracts import RandomSearcher, SimulatedProgram, remaining_of
from cases import cases

SPACE = Space(
    parameters=(
        Parameter(name="env.A", domain=Choices(("1", "2", "3"))),
        Parameter(name="nice", domain=Choices((5, 10))),
    )
)
AMPLE = Budget(launches=300)
PROGRAM = SimulatedProgram(takes_s=lambda c: 0.8 if c.get("env.A") == "2" else 1.0, noise=0.02)


def spec(parallel: int | None = 3, budget: Budget = AMPLE, seed: int = 0) -> StudySpec:
    return StudySpec(
        kind=Kind.TUNE,
        workload=Workload(argv=("x",)),
        budget=budget,
        space=SPACE,
        parallel=parallel,
        seed=seed,
        disturbed_above=None,
    )


def race_of(asked: StudySpec) -> TuneRace:
    return TuneRace(asked, SearchSpace(asked.space), RandomSearcher())


@dataclass
class Side:
    """Drives a race with several launches in flight, each slowed down by those beside it.

    Attributes:
        slower, noisier: by how much the logarithm rises, and varies more, with neighbours.
        breaks: launches with neighbours fail.
    """

    slower: float = 0.0
    noisier: float = 0.0
    breaks: bool = False
    seed: int = 0
    samples: list[Sample] = field(default_factory=list)
    beside: list[frozenset[int | None]] = field(default_factory=list)

    def drive(
        self, asked: StudySpec, told: Iterable[Sample] = (), until: int | None = None
    ) -> Ending | None:
        race, rng = race_of(asked), random.Random(self.seed)
        self.samples = list(told)
        for sample in self.samples:
            race.tell(sample)
        flying: list[tuple[Launch, bool]] = []
        while until is None or len(self.samples) < until:
            slots = asked.parallel or 1
            answer = race.ask(slots - len(flying), remaining_of(asked.budget, self.samples))
            if isinstance(answer, Ending):
                assert not flying
                return answer
            flying = [(launch, crowded or bool(answer)) for launch, crowded in flying]
            several = len(flying) + len(answer) > 1
            flying += [(launch, several) for launch in answer]
            taken = [launch.cpu_slot for launch, _ in flying]
            assert flying, "neither launches nor an end"
            if asked.parallel:
                assert None not in taken
                assert len(set(taken)) == len(taken), "one launch to a slot"
            stages = {launch.stage for launch, _ in flying}
            assert len(stages) == 1
            if stages <= {Stage.REDUCE, Stage.CONFIRM, Stage.SURVEY, Stage.GAUGE}:
                assert len(flying) == 1, "what is claimed has no neighbours"
            if stages == {Stage.INTERFERENCE}:
                arms = {launch.arm for launch, _ in flying}
                assert len(arms) == 1
                assert arms != {DEFAULT_ARM.name} or len(flying) == 1
            self.beside.append(frozenset(taken))
            launch, crowded = flying.pop(rng.randrange(len(flying)))
            sample = self._run(launch, crowded, rng)
            self.samples.append(sample)
            race.tell(sample)
        return None

    def _run(self, launch: Launch, crowded: bool, rng: random.Random) -> Sample:
        sample = PROGRAM.run(launch)
        if not crowded:
            return sample
        if self.breaks:
            return Sample(launch=launch, outcome=Outcome.FAILED, wall_s=0.1)
        factor = math.exp(self.slower + rng.gauss(0.0, self.noisier))
        return SimulatedProgram(
            takes_s=lambda c: PROGRAM.takes_s(c) * factor, noise=PROGRAM.noise
        ).run(launch)

    def of(self, stage: Stage) -> list[Launch]:
        return [s.launch for s in self.samples if s.launch.stage is stage]


def test_search_is_concurrent_and_confirmation_exclusive() -> None:
    side = Side()
    done = side.drive(spec())
    assert done is not None
    assert max(len(slots) for slots in side.beside) == 3
    found = conclude(spec(), side.samples, SearchSpace(SPACE), RandomSearcher(), done)
    assert [claim.verdict for claim in found.claims] == [Verdict.FASTER]
    assert found.interference is not None
    assert found.interference.sequential_reason is None
    assert found.interference.blocks == BLOCKS
    assert not any("one launch at a time" in note for note in found.notes)


def test_default_is_first_launched_alone_and_concurrently() -> None:
    side = Side(slower=0.03)
    side.drive(spec())
    measured = side.of(Stage.INTERFERENCE)
    assert len(measured) == BLOCKS * (1 + 3)
    assert {launch.arm for launch in measured} == {DEFAULT_ARM.name, PARALLEL_ARM.name}
    firsts = {launch.block: launch.arm for launch in measured if launch.position == 0}
    assert len(set(firsts.values())) == 2, "in random order"
    found = interference_of(spec(), History.of(spec(), side.samples))
    assert found is not None
    assert found.ratio == pytest.approx(1.03, abs=0.03)
    low, high = found.ci
    assert low is not None
    assert high is not None
    assert low < 1.03 < high


@pytest.mark.parametrize(
    ("side", "said"),
    [
        (Side(slower=0.3), "is worse side by side by at least"),
        (Side(noisier=0.2), "times as much side by side"),
        (Side(breaks=True), "gave too few values side by side"),
    ],
)
def test_strong_interference_runs_one_launch_at_a_time(side: Side, said: str) -> None:
    done = side.drive(spec())
    searched = {launch.block for launch in side.of(Stage.SEARCH)}
    assert searched
    found = conclude(spec(), side.samples, SearchSpace(SPACE), RandomSearcher(), done)
    assert found.interference is not None
    assert said in (found.interference.sequential_reason or "")
    assert any(said in note for note in found.notes)
    assert [claim.verdict for claim in found.claims] == [Verdict.FASTER]
    # Of the interference alone: nothing else ran beside anything.
    assert all(
        s.outcome is Outcome.OK for s in side.samples if s.launch.stage is not Stage.INTERFERENCE
    )


def test_interference_below_margin_permits_concurrent_launches() -> None:
    steady = SimulatedProgram(takes_s=lambda c: 1.0, noise=0.0001)
    asked = spec()
    history = History.of(asked)
    rng = random.Random(1)
    for block in range(BLOCKS):
        for position, arm in enumerate((DEFAULT_ARM, PARALLEL_ARM)):
            launch = Launch(
                configuration=arm.configuration,
                arm=arm.name,
                stage=Stage.INTERFERENCE,
                block=block,
                position=position,
                block_arms=(DEFAULT_ARM, PARALLEL_ARM),
            )
            noisy = SimulatedProgram(takes_s=lambda c: math.exp(rng.gauss(0.0, 0.001)), noise=0.0)
            history.add((steady if arm == DEFAULT_ARM else noisy).run(launch))
    found = interference_of(asked, history)
    assert found is not None
    assert (found.noise_ratio or 0.0) > 2.0
    assert found.sequential_reason is None


def test_arms_of_a_confirmation_block_share_a_slot() -> None:
    """Differences between slots cancel in each pair."""
    side = Side()
    side.drive(spec())
    blocks: dict[int, set[int | None]] = {}
    for launch in side.of(Stage.CONFIRM):
        blocks.setdefault(launch.block, set()).add(launch.cpu_slot)
    assert all(len(slots) == 1 for slots in blocks.values())
    assert len(set().union(*blocks.values())) > 1


def test_slots_of_a_search_are_drawn_at_random() -> None:
    found: list[int | None] = []
    for seed in range(12):
        side = Side(seed=seed)
        side.drive(spec(seed=seed))
        found += [
            launch.cpu_slot for launch in side.of(Stage.SEARCH) if launch.arm == DEFAULT_ARM.name
        ]
    for slot in range(3):
        assert found.count(slot) / len(found) == pytest.approx(1 / 3, abs=0.2)


def test_samples_have_no_slot_without_parallel_launches() -> None:
    side = Side()
    side.drive(spec(parallel=None))
    assert {s.launch.cpu_slot for s in side.samples} == {None}
    assert not side.of(Stage.INTERFERENCE)
    assert {len(slots) for slots in side.beside} == {1}


@pytest.mark.rotating
@pytest.mark.parametrize("seed", cases([0], slow=[1, 2]))
def test_interrupted_search_resumes(seed: int) -> None:
    """Interrupted after each sample before the search, and after every fourth in it."""
    _cut_off([*range(seed, 24, 3), *range(24 + 4 * seed, AMPLE.launches or 0, 12)], seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_search_resumes_from_any_interruption(seed: int) -> None:
    _cut_off(range(AMPLE.launches or 0), seed)


def _cut_off(counts: Iterable[int], seed: int) -> None:
    """Each launch runs once, in the order of blocks; interrupted pairs are repeated."""
    asked = spec(seed=seed)
    whole = Side(seed=seed)
    whole.drive(asked)
    for count in (count for count in counts if count < len(whole.samples)):
        first = Side(seed=seed)
        first.drive(asked, until=count)
        second = Side(seed=seed + 1)
        done = second.drive(asked, told=first.samples)
        assert done is not None
        places = [
            (launch.block, launch.position, launch.attempt)
            for launch in (s.launch for s in second.samples)
        ]
        assert len(set(places)) == len(places)
        assert [p[0] for p in places] == sorted(p[0] for p in places)
        history = History.of(asked, second.samples)
        for number in history.complete(Stage.INTERFERENCE):
            mine = [launch for launch in second.of(Stage.INTERFERENCE) if launch.block == number]
            assert len(mine) == 1 + 3
        again = conclude(asked, second.samples, SearchSpace(SPACE), RandomSearcher(), done)
        assert again.interference is not None


@pytest.mark.parametrize("launches", [10, 25, 60, 61, 120])
def test_budget_of_launches_is_kept(launches: int) -> None:
    side = Side()
    side.drive(spec(budget=Budget(launches=launches)))
    assert len(side.samples) <= launches


def test_budget_without_room_runs_one_launch_at_a_time() -> None:
    asked = spec(budget=Budget(launches=40))
    side = Side()
    done = side.drive(asked)
    assert not side.of(Stage.INTERFERENCE)
    assert side.of(Stage.SEARCH)
    found = conclude(asked, side.samples, SearchSpace(SPACE), RandomSearcher(), done)
    assert any("had no room to measure" in note for note in found.notes)


def test_expected_time_of_concurrent_search_is_shorter() -> None:
    history = History.of(spec())
    launch = Launch(
        configuration=DEFAULT_ARM.configuration,
        arm="default",
        stage=Stage.GAUGE,
        block=0,
        position=0,
    )
    history.add(PROGRAM.run(launch))
    arms = [DEFAULT_ARM] * 6
    alone = history.cost(arms, Stage.SEARCH)
    history.parallel_launches = 3
    assert history.cost(arms, Stage.SEARCH).time_s == pytest.approx(alone.time_s / 3)
    assert history.cost(arms, Stage.SEARCH).launches == alone.launches
    assert history.cost(arms).time_s == pytest.approx(alone.time_s)
