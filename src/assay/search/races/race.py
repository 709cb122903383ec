"""Races: the decision loop of a study, without I/O.

A race proposes launches and takes in samples. Its state follows from the specification of the study
and these samples, so a new race that takes in the stored samples resumes a stopped study.
"""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import msgspec

from assay.records import Arm, Budget, Launch, Outcome, Sample, Stage, StudySpec
from assay.search.history.failure_order import describe_failure_order
from assay.search.history.hangs import hang_timeout_s
from assay.search.history.history import DEFAULT_ARM, History
from assay.search.history.remaining_budget import (
    LAUNCH_OVERHEAD_S,
    NO_COST,
    Cost,
    RemainingBudget,
    sufficient_budget,
)
from assay.search.progress.end_rules import EndRules
from assay.search.races.block_runner import BlockPlan, BlockRunner
from assay.stats.confidence_sequence import MIN_CLAIM_VALUES
from assay.wording.endings import (
    FAILED_AFTER_FIRST,
    NO_COMPARABLE_LAUNCH,
    NO_COMPARABLE_LAUNCH_TIMED_OUT,
    PROGRAM_TIMED_OUT,
    UNREADABLE,
    failure_predicate,
    missing_metric_ending,
    not_positive,
)

N = TypeVar("N", int, float)
GRACE_FACTOR = 3.0
"""Time beyond the end of the budget that a launch may take, over its usual time."""
MIN_TIMEOUT_S = 0.1


class EndReason(enum.StrEnum):
    """Reason why a race ended."""

    DECIDED = "decided"
    BUDGET = "budget"
    TOO_SMALL = "too_small"
    WORKLOAD_FAILED = "workload_failed"
    NOTHING_TO_TRY = "nothing_to_try"


@dataclass(frozen=True)
class Ending:
    """End of a race.

    Attributes:
        reason: reason, for programs.
        message: reason as a sentence, for users.
        needed: sufficient budget, for ``TOO_SMALL``; ``None`` if unknown.
        arms: names of the arms that failed, for ``WORKLOAD_FAILED``.
    """

    reason: EndReason
    message: str
    needed: Budget | None = None
    arms: tuple[str, ...] = ()


def workload_failure(message: str, arms: Sequence[Arm]) -> Ending:
    """Return the end of a race in which arms failed.

    Args:
        message: one sentence.
        arms: arms of that sentence, whose reasons are shown with it.
    """
    return Ending(EndReason.WORKLOAD_FAILED, message, arms=tuple(arm.name for arm in arms))


def ending_without_success(samples: Sequence[Sample]) -> Ending:
    """Return the end of a search without a launch that ended well.

    Args:
        samples: samples of the search.
    """
    late = all(sample.outcome is Outcome.TIMED_OUT for sample in samples)
    return Ending(
        EndReason.WORKLOAD_FAILED,
        NO_COMPARABLE_LAUNCH_TIMED_OUT if late else NO_COMPARABLE_LAUNCH,
        arms=tuple(dict.fromkeys(sample.launch.arm for sample in samples)),
    )


class Race(Protocol):
    """Source of launches of a study, for real studies and for replays."""

    def ask(self, free_slots: int, left: Budget) -> list[Launch] | Ending:
        """Return up to ``free_slots`` launches to make now.

        An empty list means that samples of launches in flight are needed first.
        """
        ...

    def tell(self, sample: Sample) -> None:
        """Take in a sample, either new or from the store."""
        ...

    @property
    def stage(self) -> Stage:
        """Current stage, for the progress line."""
        ...


MAX_BLOCKS_WITHOUT_VALUE = 3
"""Successive blocks without a value after which an arm is excluded."""


def _total(begun: Budget, left: Budget, limit: Budget) -> Budget:
    """Return the total budget of a study, in those quantities that still limit it.

    Args:
        begun: budget that the study began with.
        left: remaining budget; that of a resumed study may exceed the first one.
        limit: budget at the end of a resumed study; empty for another.
    """
    return Budget(
        time_s=_whole(begun.time_s, left.time_s, limit.time_s),
        launches=_whole(begun.launches, left.launches, limit.launches),
    )


def _whole(begun: N | None, left: N | None, limit: N | None) -> N | None:
    if left is None:
        return None
    if begun is None:
        return left if limit is None else limit
    return max(begun, left) if limit is None else min(max(begun, left), limit)


class BlockRace(ABC):
    """Base of all races: one block at a time, state from samples.

    Args:
        spec: specification of the study.
        first: first stage of the race.
    """

    def __init__(self, spec: StudySpec, first: Stage) -> None:
        self._spec = spec
        self._history = History.of(spec)
        self._end_rules = EndRules(spec, self._history)
        self._block = BlockRunner(spec.seed, self._history.hard_to_change, spec.parallel or 0)
        self._offered = 1
        self._stage = first
        self._using_rest = False
        self._limit = Budget()

    @property
    def stage(self) -> Stage:
        """See ``Race.stage``."""
        return self._stage

    @property
    def spec(self) -> StudySpec:
        """Specification of the study."""
        return self._spec

    @property
    def history(self) -> History:
        """Samples so far."""
        return self._history

    def tell(self, sample: Sample) -> None:
        """See ``Race.tell``."""
        self._history.add(sample)
        self._end_rules.add(sample)
        self._block.tell(sample)
        self._enter(sample.launch.stage)

    def use_rest(self) -> None:
        """Use the rest of the budget for the confirmation, decided or not."""
        self._using_rest = True

    def limit_budget(self, total: Budget) -> None:
        """Limit the total budget, shares of which are kept for later stages.

        Args:
            total: budget at the end of the study, the spent part included; that of a resumed study
                may be smaller than the budget that it began with.
        """
        self._limit = total

    def ask(self, free_slots: int, left: Budget) -> list[Launch] | Ending:
        """See ``Race.ask``.

        A block begins only if it is expected to fit. If the budget ends within it nevertheless,
        launches that have not begun are dropped.
        """
        total = _total(self._spec.budget, left, self._limit)
        budget = RemainingBudget(total, left)
        if budget.spent:
            self._block.drop()
        self._offered = free_slots + self._block.in_flight
        while True:
            if self._block.is_finished:
                following = self._next(budget)
                if isinstance(following, Ending) and following.reason is EndReason.DECIDED:
                    following = self._once_more(budget) or following
                if isinstance(following, Ending):
                    return following
                self._enter(following.stage)
                times = self._history.launches_by_arm(following.stage, following.arms)
                self._block.start(replace(following, times=times))
            taken = self._block.take(self._room(free_slots, left))
            if taken or not self._block.is_finished:
                names = self._block.names
                return [
                    msgspec.structs.replace(
                        launch,
                        timeout_s=self._bounded_s(launch, left),
                        end=self._end_rules.rule(launch, names, left, self._min_blocks),
                    )
                    for launch in taken
                ]

    @property
    def _min_blocks(self) -> int:
        """Smallest number of blocks with a conclusive interval."""
        return MIN_CLAIM_VALUES

    def _enter(self, stage: Stage) -> None:
        """Record that a block of a stage runs."""
        self._stage = stage

    def _once_more(self, budget: RemainingBudget) -> BlockPlan | None:
        """Return the newest block of confirmation, where the rest of the budget is to be used."""
        if not self._using_rest or self._stage is not Stage.CONFIRM or budget.spent:
            return None
        arms = self._block.arms
        if any(self._lost(Stage.CONFIRM, arm) for arm in arms):
            return None
        return BlockPlan(Stage.CONFIRM, arms) if budget.affords(self._history.cost(arms)) else None

    def _max_concurrent(self) -> int | None:
        """Return the largest number of concurrent launches; ``None`` for no limit."""
        return None

    def _bounded_s(self, launch: Launch, left: Budget) -> float | None:
        """Return the time limit of a launch: its own, or one far beyond the end of the budget.

        A program that never ends must not block a study. The limit includes three times the usual
        time of the arm, so that every launch that began in time gives its value. An arm that never
        ran counts as the default.
        """
        own = self._cap_s(launch)
        if left.time_s is None:
            return own
        history = self._history
        usual = history.wall_s(launch.arm) or history.wall_s(DEFAULT_ARM.name) or 0.0
        end = max(left.time_s, MIN_TIMEOUT_S) + GRACE_FACTOR * usual
        return end if own is None else min(own, end)

    def _room(self, free_slots: int, left: Budget) -> int:
        """Return the number of launches that may begin: the budget excludes those in flight."""
        in_flight, limit = self._block.in_flight, self._max_concurrent()
        if limit is not None:
            free_slots = max(0, min(free_slots, limit - in_flight))
        if left.launches is None:
            return free_slots
        return min(free_slots, max(left.launches - in_flight, 0 if in_flight else 1))

    def _shortest(self, block: Cost) -> Cost:
        """Return the cost of a block whose launches are as short as its rule may make them."""
        launch_s = self._end_rules.shortest_launch_s()
        if launch_s is None:
            return block
        shortest_s = (launch_s + LAUNCH_OVERHEAD_S) * block.launches
        return replace(block, time_s=min(block.time_s, shortest_s))

    def _lost(self, stage: Stage, arm: Arm) -> bool:
        """Return whether an arm gave no value in the newest blocks of a stage in which it ran."""
        return self._history.lost(stage, arm.name, MAX_BLOCKS_WITHOUT_VALUE)

    def _works(self, stage: Stage, arm: Arm) -> bool:
        """Return whether an arm gave a value in a stage, including 0."""
        history = self._history
        return history.has_value(stage, arm.name) or history.has_zeros(arm.name, (stage,))

    def _failing(self, arm: Arm) -> str:
        """Return the ending of an arm that worked once and gives no value any longer."""
        newest = next(s for s in reversed(self._history.samples) if s.launch.arm == arm.name)
        if not newest.outcome.succeeded:
            return describe_failure_order(self._history.samples) or FAILED_AFTER_FIRST
        metric = self._spec.workload.objective
        value = newest.metrics.get(metric.name)
        reason = newest.unavailable.get(metric.name, UNREADABLE)
        if value is not None:
            reason = not_positive(value)
        return missing_metric_ending(metric.name, reason)

    def _failure_text(self, arms: Sequence[Arm]) -> str:
        """Return the failure of arms without a value, as a predicate."""
        names = {arm.name for arm in arms}
        samples = [sample for sample in self._history.samples if sample.launch.arm in names]
        good = sum(s.outcome.succeeded and bool(self._history.observation(s)) for s in samples)
        return failure_predicate(
            len(samples),
            good,
            timed_out=all(sample.outcome is Outcome.TIMED_OUT for sample in samples),
            ended_well=any(sample.outcome.succeeded for sample in samples),
            metric=self._spec.workload.objective.name,
        )

    def _refused(self, message: str, needed: Budget) -> Ending:
        """Return the end of a study whose budget is too small.

        If every launch timed out, no budget is sufficient.

        Args:
            message: one sentence.
            needed: sufficient budget.
        """
        samples = self._history.samples
        if not samples or any(sample.outcome is not Outcome.TIMED_OUT for sample in samples):
            return Ending(EndReason.TOO_SMALL, message, needed)
        arms = tuple(dict.fromkeys(sample.launch.arm for sample in samples))
        return Ending(EndReason.WORKLOAD_FAILED, PROGRAM_TIMED_OUT, arms=arms)

    def _to_repeat(
        self, arms: Sequence[Arm], budget: RemainingBudget, launches: int
    ) -> tuple[Arm, ...]:
        """Return the arms to launch once more before the budget counts as too small.

        Only their first launch is known, which may have one-time costs (filling a cache).
        Hard-to-change settings are not changed for this.

        Args:
            arms: arms of a block.
            budget: remaining budget; it limits the number of repeats.
            launches: smallest number of launches that the study takes besides.
        """
        history = self._history
        found: list[Arm] = []
        total = NO_COST
        fits = budget.affords(Cost(0.0, len(arms) + launches))
        if budget.spent or history.hard_to_change or not fits:
            return ()
        for arm in arms:
            if history.blocks_run(Stage.SURVEY, arm.name) != 1:
                continue
            longer = total.plus(history.cost([arm], Stage.SURVEY))
            if budget.affords(longer):
                found.append(arm)
                total = longer
        return tuple(found)

    def _budget_for(
        self, budget: RemainingBudget, block: Cost, blocks: int, more: Cost = NO_COST
    ) -> Budget:
        """Return the budget that suffices for a number of blocks, with the overhead so far.

        Args:
            budget: remaining budget.
            block: cost of one block.
            blocks: number of blocks.
            more: cost of launches before them.
        """
        samples = self._history.samples
        walls_s = sum(s.total_wall_s for s in samples)
        spent_s = walls_s
        if budget.total.time_s is not None and budget.left.time_s is not None:
            spent_s = max(walls_s, budget.total.time_s - budget.left.time_s)
        beside_s = (spent_s - walls_s) / max(1, len(samples))
        launches = more.launches + block.launches * blocks
        time_s = more.time_s + block.time_s * blocks + beside_s * launches
        return sufficient_budget(Cost(spent_s + time_s, len(samples) + launches))

    def _may_depend_on_order(self, first: Arm, budget: RemainingBudget) -> bool:
        """Return whether to repeat the arm that worked, after others failed.

        If it fails as well, the order of launches is the cause and not the arms.
        """
        samples = self._history.samples
        return (
            not budget.spent
            and samples[-1].launch.arm != first.name
            and samples[-1].outcome is Outcome.FAILED
            and not samples[-1].build_failed
        )

    @abstractmethod
    def _next(self, budget: RemainingBudget) -> BlockPlan | Ending:
        """Return the next block, or the end."""

    def _cap_s(self, launch: Launch) -> float | None:
        """Return the time limit of a launch in seconds, by default ``hang_timeout_s``."""
        return hang_timeout_s(self._spec, self._history, launch.arm)
