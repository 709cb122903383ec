"""Contract tests of searchers and races, which each implementation must pass.

Tests derive from :class:`SearcherContract` and :class:`RaceContract`, as those of Optuna's samplers
do from its ``BasicSamplerTestCase``; any test runner that collects classes runs them, and the
module imports none. Programs are simulated: the time of a launch is a function of its position in
the study, so that a repeated launch takes the same time.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from assay.records import (
    DEFAULT,
    Budget,
    Choices,
    Configuration,
    Evidence,
    Goal,
    Grant,
    GrantStatus,
    Launch,
    Level,
    Metric,
    Outcome,
    Parameter,
    Range,
    Sample,
    Space,
    StudySpec,
    Value,
)
from assay.records.workload import WALL
from assay.search.history.remaining_budget import LAUNCH_OVERHEAD_S
from assay.search.model.sample_means import SampleMeans
from assay.search.model.searcher import (
    Estimate,
    Searcher,
    Trial,
    estimates,
    fresh_configurations,
    launched_configurations,
    successful_configurations,
)
from assay.search.races.block_runner import MAX_RETRIES
from assay.search.races.race import Ending, EndReason, Race
from assay.search.space.search_space import SearchSpace

MAX_LAUNCHES = 20_000
"""Number of launches that no race of these tests reaches."""


class Program(Protocol):
    """A program that a race can launch."""

    def run(self, launch: Launch) -> Sample:
        """Return the sample of a launch."""
        ...


@dataclass(frozen=True)
class SimulatedProgram:
    """A program simulated by a formula.

    Attributes:
        takes_s: time of a launch of a configuration without noise, in seconds.
        noise: standard deviation of its logarithm (log-normal).
        fails: share of the launches of a configuration that fail.
        drift: increase of the logarithm with each block, for all configurations.
        metric: the objective: ``wall_s``, or a metric read from the output: the inverse of the time
            if higher is better, else twice the time.
        seed: seed of noise and failures.
        noise_of: noise of a configuration, in place of ``noise``.
        others: number of CPUs, of two, used by other processes during a launch; each halves its
            speed.
        refuses: settings with a value that launches refuse.
    """

    takes_s: Callable[[Configuration], float]
    noise: float = 0.03
    fails: Callable[[Configuration], float] = lambda configuration: 0.0
    drift: float = 0.0
    metric: Metric = WALL
    seed: int = 0
    noise_of: Callable[[Configuration], float] | None = None
    others: Callable[[Launch], float] | None = None
    refuses: Mapping[str, Value] = field(default_factory=dict)

    def run(self, launch: Launch) -> Sample:
        """Return the sample of a launch, which is always the same for the same launch."""
        place = f"{launch.stage}/{launch.block}/{launch.position}/{launch.attempt}/{launch.arm}"
        rng = random.Random(f"{self.seed}/{place}")
        noise = self.noise_of(launch.configuration) if self.noise_of else self.noise
        busy = self.others(launch) if self.others else 0.0
        wall_s = self.takes_s(launch.configuration) * math.exp(
            rng.gauss(0.0, noise) + self.drift * launch.block
        )
        wall_s *= 1.0 + busy
        if rng.random() < self.fails(launch.configuration):
            return Sample(
                launch=launch, outcome=Outcome.FAILED, wall_s=wall_s * rng.random(), exit_status=1
            )
        if launch.timeout_s is not None and wall_s > launch.timeout_s:
            return Sample(launch=launch, outcome=Outcome.TIMED_OUT, wall_s=launch.timeout_s)
        return Sample(
            launch=launch,
            outcome=Outcome.OK,
            wall_s=wall_s,
            metrics=self._metrics(wall_s),
            evidence=_evidence(wall_s, busy) if self.others else (),
            settings=self._grants(launch.configuration) if self.refuses else {},
        )

    def _grants(self, configuration: Configuration) -> dict[str, Grant]:
        return {name: self._grant(name, value) for name, value in configuration.items()}

    def _grant(self, name: str, value: Value) -> Grant:
        refused = self.refuses.get(name) == value
        return Grant(
            value=value,
            level=Level.SEEN,
            status=GrantStatus.REFUSED if refused else GrantStatus.GRANTED,
            reason="the value is missing" if refused else None,
        )

    def _metrics(self, wall_s: float) -> dict[str, float]:
        if self.metric.name == WALL.name:
            return {WALL.name: wall_s}
        other = 1.0 / wall_s if self.metric.goal is Goal.HIGHER else 2.0 * wall_s
        return {self.metric.name: other, WALL.name: wall_s}


def _evidence(wall_s: float, busy: float) -> tuple[Evidence, ...]:
    """Return the evidence of a host of two CPUs of which other processes use ``busy``."""
    return (
        Evidence(kind="foreign_load", value=busy * wall_s, unit="s", external=True),
        Evidence(kind="host_cpus", value=2.0),
    )


@dataclass(frozen=True)
class CompletedRace:
    """A completed race, with its samples."""

    done: Ending
    samples: list[Sample]

    @property
    def launches(self) -> list[Launch]:
        """Launches in the order of their end."""
        return [sample.launch for sample in self.samples]

    @property
    def spent_s(self) -> float:
        """Total cost of the launches, without the time of the searcher, in seconds."""
        return spent_s(self.samples)


def spent_s(samples: Iterable[Sample]) -> float:
    """Return the cost of sequential launches including overhead, in seconds."""
    return sum((sample.wall_s or 0.0) + LAUNCH_OVERHEAD_S for sample in samples)


def remaining_of(budget: Budget, samples: list[Sample]) -> Budget:
    """Return the rest of a budget after some samples."""
    return _left(budget, spent_s(samples), len(samples))


def _left(budget: Budget, took_s: float, launches: int) -> Budget:
    return Budget(
        time_s=None if budget.time_s is None else budget.time_s - took_s,
        launches=None if budget.launches is None else budget.launches - launches,
    )


def run_race(
    race: Race,
    program: Program,
    budget: Budget,
    *,
    slots: int = 1,
    told: Iterable[Sample] = (),
    until: int | None = None,
    seed: int = 0,
) -> CompletedRace:
    """Run a race to its end, or to a number of samples.

    Args:
        race: a new race.
        program: program to launch.
        budget: budget of the study.
        slots: maximum number of parallel launches; they end in random order.
        told: samples of an earlier session.
        until: number of samples after which the race is interrupted, including running launches.
        seed: seed of the order in which launches end.
    """
    rng = random.Random(seed)
    samples = list(told)
    for sample in samples:
        race.tell(sample)
    took_s = spent_s(samples)
    running: list[Launch] = []
    cut = Ending(EndReason.BUDGET, "cut off")
    while until is None or len(samples) < until:
        assert len(samples) < MAX_LAUNCHES, "the race does not end"
        answer = race.ask(slots - len(running), _left(budget, took_s, len(samples)))
        if isinstance(answer, Ending):
            assert not running, "a completed race has running launches"
            return CompletedRace(answer, samples)
        assert len(answer) <= slots - len(running), "more launches than free slots"
        running += answer
        assert running, "neither launches nor a result"
        sample = program.run(running.pop(rng.randrange(len(running)) if slots > 1 else 0))
        samples.append(sample)
        took_s += spent_s([sample])
        race.tell(sample)
    return CompletedRace(cut, samples)


class RaceContract:
    """Contract of a race: derive a test class and define ``spec`` and ``race``."""

    program = SimulatedProgram(takes_s=lambda configuration: 1.0 - 0.02 * len(configuration))
    """Workload of ``spec``, which has a value for every configuration."""

    def spec(self, budget: Budget, seed: int = 0, timeout_s: float | None = None) -> StudySpec:
        """Return a study of a few configurations; the same one for the same arguments."""
        raise NotImplementedError

    def race(self, spec: StudySpec) -> Race:
        """Return a new race for a specification."""
        raise NotImplementedError

    AMPLE = Budget(launches=150)

    def _run(
        self, budget: Budget, program: SimulatedProgram | None = None, slots: int = 1
    ) -> CompletedRace:
        race = self.race(self.spec(budget))
        return run_race(race, program or self.program, budget, slots=slots)

    def test_same_seed_same_study(self) -> None:
        """All randomness depends on the seed."""
        first, second = self._run(self.AMPLE), self._run(self.AMPLE)
        assert first.samples == second.samples
        assert first.done == second.done

    def test_resumed_after_any_sample(self) -> None:
        """With the samples of an uninterrupted race, a new one continues with the same launch."""
        spec = self.spec(self.AMPLE)
        whole = run_race(self.race(spec), self.program, self.AMPLE)
        for count in range(len(whole.samples) + 1):
            race = self.race(spec)
            for sample in whole.samples[:count]:
                race.tell(sample)
            answer = race.ask(1, remaining_of(self.AMPLE, whole.samples[:count]))
            expected = [whole.launches[count]] if count < len(whole.samples) else whole.done
            assert answer == expected, f"after {count} samples"

    def test_resumed_race_repeats_failed_launches(self) -> None:
        """Also with failures, which are retried at the end of their block."""
        spec = self.spec(self.AMPLE)
        flaky = replace(self.program, fails=lambda configuration: 0.25, seed=5)
        whole = run_race(self.race(spec), flaky, self.AMPLE)
        for count in range(0, len(whole.samples), 3):
            resumed = run_race(
                self.race(spec),
                flaky,
                self.AMPLE,
                told=whole.samples[:count],
                until=count + 2,
            )
            assert resumed.samples == whole.samples[: len(resumed.samples)], f"after {count}"

    def test_resumed_with_launches_in_flight(self) -> None:
        """With several slots, running launches are repeated, and no launch occurs twice."""
        spec = self.spec(self.AMPLE)
        for count in (1, 2, 3, 5, 8, 11, 15, 20, 26, 33, 39):
            broken = run_race(
                self.race(spec), self.program, self.AMPLE, slots=3, until=count, seed=count
            )
            whole = run_race(
                self.race(spec), self.program, self.AMPLE, slots=3, told=broken.samples, seed=count
            )
            self._check_places(whole)
            self._check_complete(whole)

    def test_parallel_launches_keep_blocks_complete(self) -> None:
        """Blocks stay intact when several launches run in parallel."""
        completed_race = self._run(self.AMPLE, slots=4)
        self._check_places(completed_race)
        self._check_complete(completed_race)

    def test_blocks_are_random_and_complete(self) -> None:
        """Each arm runs once in each block, in an order that differs between blocks and seeds."""
        completed_race = self._run(self.AMPLE)
        self._check_places(completed_race)
        self._check_complete(completed_race)
        block_plans = [
            tuple(a.name for a in la.block_arms) for la in completed_race.launches if la.block_arms
        ]
        again = self.spec(self.AMPLE, seed=1)
        other = run_race(self.race(again), self.program, self.AMPLE)
        if max(map(len, block_plans)) > 1:
            seen: dict[frozenset[str], set[tuple[str, ...]]] = {}
            for block_plan in block_plans:
                seen.setdefault(frozenset(block_plan), set()).add(block_plan)
            assert any(len(orders) > 1 for orders in seen.values())
            assert [la.arm for la in other.launches] != [la.arm for la in completed_race.launches]

    def _check_places(self, completed_race: CompletedRace) -> None:
        """Check that positions are unique, blocks consecutive, and block plans complete."""
        places = [(la.block, la.position, la.attempt) for la in completed_race.launches]
        assert len(set(places)) == len(places)
        blocks = [la.block for la in completed_race.launches]
        assert blocks == sorted(blocks)
        assert set(blocks) == set(range(len(set(blocks))))
        block_plans = {
            la.block: la.block_arms for la in completed_race.launches if la.block_arms is not None
        }
        for launch in completed_race.launches:
            arm = block_plans[launch.block][launch.position]
            assert (arm.name, arm.configuration) == (launch.arm, launch.configuration)

    def _check_complete(self, completed_race: CompletedRace) -> None:
        """Check that every block except the last is complete."""
        block_plans = {
            la.block: la.block_arms for la in completed_race.launches if la.block_arms is not None
        }
        last = max(block_plans)
        for block, block_plan in block_plans.items():
            ran = {la.arm for la in completed_race.launches if la.block == block}
            assert block == last or ran == {arm.name for arm in block_plan}
            assert len({arm.name for arm in block_plan}) == len(block_plan)

    def test_launch_budget_is_exact(self) -> None:
        """The number of launches is exact with failures, in one slot and in several."""
        flaky = replace(self.program, fails=lambda configuration: 0.3)
        for launches in (1, 2, 7, 40, 41, 90):
            for program in (self.program, flaky):
                for slots in (1, 3):
                    completed_race = self._run(Budget(launches=launches), program, slots)
                    assert len(completed_race.samples) <= launches

    def test_time_budget_is_exceeded_by_one_launch_at_most(self) -> None:
        """The excess is at most the launch in which the budget ends."""
        slow = replace(self.program, takes_s=lambda c: 1.0 + 2.0 * bool(c), noise=0.3)
        for time_s in (0.5, 5.0, 45.0, 120.0):
            for program in (self.program, slow):
                completed_race = self._run(Budget(time_s=time_s), program)
                assert spent_s(completed_race.samples[:-1]) < time_s

    def test_insufficient_budget_error_names_sufficient_budget(self) -> None:
        """The proposed budget is sufficient."""
        for budget in (Budget(launches=3), Budget(time_s=2.5)):
            done = self._run(budget).done
            assert done.reason is EndReason.TOO_SMALL
            assert done.needed is not None
            enough = Budget(
                time_s=done.needed.time_s if budget.time_s else None,
                launches=done.needed.launches if budget.launches else None,
            )
            assert self._run(enough).done.reason in (EndReason.DECIDED, EndReason.BUDGET)

    def test_failed_launch_is_retried_once_in_its_block(self) -> None:
        """The retry is in the same block, and there is only one."""
        flaky = replace(self.program, fails=lambda configuration: 0.4, seed=2)
        completed_race = self._run(self.AMPLE, flaky)
        self._check_places(completed_race)
        retries = [la for la in completed_race.launches if la.attempt]
        assert retries
        assert max(la.attempt for la in retries) == MAX_RETRIES
        failed = {
            (s.launch.block, s.launch.position)
            for s in completed_race.samples
            if s.outcome is Outcome.FAILED and s.launch.attempt == 0
        }
        assert {(la.block, la.position) for la in retries} <= failed

    def test_failing_program_ends_race_early(self) -> None:
        """The race ends early and states the reason."""
        broken = replace(self.program, fails=lambda configuration: 1.0)
        completed_race = self._run(Budget(time_s=1e6), broken)
        assert completed_race.done.reason is EndReason.WORKLOAD_FAILED
        assert len(completed_race.samples) < 50

    def test_program_failing_after_some_blocks_ends_race_early(self) -> None:
        """A race without further information ends long before its budget."""

        class Dying(SimulatedProgram):
            def run(self, launch: Launch) -> Sample:
                sample = super().run(launch)
                if launch.block < 2:
                    return sample
                return Sample(launch=launch, outcome=Outcome.FAILED, wall_s=sample.wall_s)

        completed_race = self._run(Budget(time_s=2000.0), Dying(takes_s=self.program.takes_s))
        assert len(completed_race.samples) < 200

    def test_time_outs_count_as_their_caps(self) -> None:
        """Each launch counts as at least its cap; the race ends."""
        spec = self.spec(Budget(time_s=600.0), timeout_s=0.5)
        completed_race = run_race(self.race(spec), self.program, spec.budget)
        assert all(s.outcome is Outcome.TIMED_OUT for s in completed_race.samples)
        assert len(completed_race.samples) < 1000

    def test_completed_race_returns_the_same_result(self) -> None:
        """A repeated request returns the same result."""
        spec = self.spec(self.AMPLE)
        race = self.race(spec)
        completed_race = run_race(race, self.program, self.AMPLE)
        assert race.ask(1, remaining_of(self.AMPLE, completed_race.samples)) == completed_race.done

    def test_without_slots_no_launch_is_lost(self) -> None:
        """An empty answer means to wait; no launch is lost."""
        spec = self.spec(self.AMPLE)
        race = self.race(spec)
        assert race.ask(0, self.AMPLE) == []
        assert race.ask(1, self.AMPLE) == self.race(spec).ask(1, self.AMPLE)


def mixed_space() -> SearchSpace:
    """Return a space with all kinds of parameters, nested conditions, and a constraint."""
    return SearchSpace(
        Space(
            parameters=(
                Parameter(name="malloc", domain=Choices(("glibc", "jemalloc")), default="glibc"),
                Parameter(name="nice", domain=Choices((0, 5, 10), ordered=True)),
                Parameter(name="arg.n", domain=Range(1, 8, step=1), default=1),
                Parameter(name="threads", domain=Range(1, 16, step=2, log=True)),
                Parameter(name="arg.step", domain=Range(10, 35, step=10), default=10),
                Parameter(name="arg.x", domain=Range(0.0, 1.0, integer=False)),
                Parameter(name="arg.size", domain=Range(1, 4096, log=True), default=1),
                Parameter(name="env.DEEP", domain=Choices(("a", "b")), condition="env.ON == 'yes'"),
                Parameter(
                    name="env.ON",
                    domain=Choices(("no", "yes")),
                    default="no",
                    condition="malloc == 'jemalloc'",
                ),
            ),
            constraints=("threads * arg.n <= 16",),
        )
    )


def small_space() -> SearchSpace:
    """Return a space of thirteen configurations including the default."""
    return SearchSpace(
        Space(
            parameters=(
                Parameter(name="arg.a", domain=Choices((1, 2, 3)), default=1),
                Parameter(name="arg.b", domain=Choices((1, 2)), default=1),
                Parameter(name="threads", domain=Choices((1, 2)), condition="arg.a < 3"),
            ),
            constraints=("arg.a + arg.b < 5",),
        )
    )


class RandomSearcher(SampleMeans):
    """Uniform random values of each parameter: the simplest valid searcher."""

    name = "random"

    def propose(
        self, space: SearchSpace, trials: Sequence[Trial], count: int, seed: int
    ) -> list[Configuration]:
        """See ``Searcher.propose``."""
        return fresh_configurations(
            space, [], launched_configurations(trials), count, random.Random(seed)
        )


class SearcherContract:
    """Contract of a searcher: derive a test class and define ``searcher``."""

    def searcher(self) -> Searcher:
        """Return a searcher with its default parameters."""
        raise NotImplementedError

    def _told(self, proposals: Iterable[Configuration], block: int) -> list[Trial]:
        """Return a block with the default in which some succeed, some time out, and some fail."""
        found = [Trial(DEFAULT, block, random.Random(f"{block}/default").gauss(0.0, 0.02))]
        for configuration in proposals:
            place = random.Random(f"{configuration}").random()
            noise = random.Random(f"{configuration}/{block}").gauss(0.0, 0.02)
            value = None if place < 0.15 else place - 0.4 + noise
            found.append(Trial(configuration, block, value, censored=place > 0.8))
        return found

    def _histories(self, space: SearchSpace, batches: int = 5) -> list[list[Trial]]:
        trials: list[Trial] = []
        found = [list(trials)]
        for block in range(batches):
            proposals = self.searcher().propose(space, trials, 4, block)
            trials = [*trials, *self._told(proposals, block)]
            found.append(trials)
        return found

    def test_proposals_are_valid_distinct_and_complete(self) -> None:
        """They are canonical and satisfy constraints; the default and failed ones are excluded."""
        space = mixed_space()
        for count, trials in enumerate(self._histories(space), 1):
            proposals = self.searcher().propose(space, trials, count, seed=count)
            assert len(proposals) == len(set(proposals)) == count
            assert DEFAULT not in proposals
            assert not failed_configurations(trials) & set(proposals)
            for proposal in proposals:
                assert space.canonical(proposal) == proposal
                assert space.valid(proposal)
                for name, value in proposal.items():
                    assert value in space.parameters[name].domain, (name, value)

    def test_first_proposals_are_new(self) -> None:
        """Replicates require information."""
        space = mixed_space()
        first = self.searcher().propose(space, [], 4, seed=1)
        second = self.searcher().propose(space, self._told(first, 0), 4, seed=2)
        assert not set(first) & set(second)

    def test_proposals_depend_on_arguments_only(self) -> None:
        """A new searcher returns the same, for any state of Python's random generator."""
        space = mixed_space()
        for trials in self._histories(space):
            before = list(trials)
            random.seed(1)
            first = self.searcher().propose(space, trials, 4, seed=9)
            random.seed(2)
            assert self.searcher().propose(space, trials, 4, seed=9) == first
            assert self.searcher().verify(space, trials, 4, seed=9) == self.searcher().verify(
                space, trials, 4, seed=9
            )
            assert trials == before
        others = [self.searcher().propose(space, [], 4, seed=seed) for seed in range(3)]
        assert others[0] != others[1] or others[1] != others[2]

    def test_reused_searcher_returns_the_same_proposals(self) -> None:
        """Its caches do not change results."""
        space, searcher = mixed_space(), self.searcher()
        for block, trials in enumerate(self._histories(space)):
            found = searcher.propose(space, trials, 4, block)
            assert found == self.searcher().propose(mixed_space(), trials, 4, block)

    def test_small_space_is_proposed_completely(self) -> None:
        """Every configuration is proposed in the end; then only useful replicates."""
        space = small_space()
        every = space.enumerate(1000) or []
        trials: list[Trial] = []
        for block in range(30):
            proposals = self.searcher().propose(space, trials, 3, block)
            if not proposals:
                break
            trials += self._told(proposals, block)
        assert launched_configurations(trials) == set(every)
        last = self.searcher().propose(space, trials, 3, seed=99)
        assert set(last) <= launched_configurations(trials) - failed_configurations(trials) - {
            DEFAULT
        }

    def test_failures_only_still_give_proposals(self) -> None:
        """There are still proposals, and none to verify."""
        space = mixed_space()
        proposals = self.searcher().propose(space, [], 12, seed=0)
        trials = [Trial(c, 0, None) for c in proposals]
        found = self.searcher().propose(space, trials, 4, seed=1)
        assert len(found) == 4
        assert not set(found) & set(proposals)
        assert self.searcher().verify(space, trials, 4, seed=1) == []

    def test_inadmissible_configurations_are_not_proposed(self) -> None:
        """The planner bounds the space."""
        space = SearchSpace(
            Space(parameters=(Parameter(name="nice", domain=Choices((-5, 0, 5, 10))),)),
            admissible=lambda configuration: configuration.get("nice") != -5,
        )
        proposals = self.searcher().propose(space, [], 10, seed=3)
        assert {c["nice"] for c in proposals} == {0, 5, 10}

    def test_verified_configurations_are_successful_and_good(self) -> None:
        """They are also among the better ones."""
        space = mixed_space()
        for trials in self._histories(space)[1:]:
            found = self.searcher().verify(space, trials, 3, seed=1)
            able = launched_configurations(trials) - failed_configurations(trials) - {DEFAULT}
            assert len(found) == len(set(found)) == min(3, len(able))
            assert set(found) <= able

    def test_estimates_order_configurations_by_time(self) -> None:
        """The estimates order frequently launched configurations by their true time."""
        space = mixed_space()
        first, second, third = self.searcher().propose(space, [], 3, seed=5)
        effects = {DEFAULT: 0.0, first: -0.3, second: 0.4, third: 0.1}
        trials = [
            Trial(c, block, effect + random.Random(f"{c}/{block}").gauss(0.2 * block, 0.01))
            for block in range(6)
            for c, effect in effects.items()
        ]
        found = estimates(self.searcher(), space, trials, [first, second, third])
        assert abs(found[0].mean + 0.3) < 0.05
        assert abs(found[1].mean - 0.4) < 0.05
        assert all(e.deviation < math.inf for e in found)
        same = self.searcher().contrasts(space, trials, [{}, {first: 1.0, second: -1.0}])
        assert same[0] == Estimate(0.0, 0.0)
        assert math.isclose(same[1].mean, found[0].mean - found[1].mean, abs_tol=1e-9)


def failed_configurations(trials: Sequence[Trial]) -> set[Configuration]:
    """Return the configurations that never had a value."""
    return launched_configurations(trials) - successful_configurations(trials)
