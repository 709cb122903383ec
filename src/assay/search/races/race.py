"""Race: the whole decision loop without I/O.

A race proposes launches and is told samples. Its state follows from the study's specification and
the samples told, so a stopped study is resumed by telling a new race what the store holds.
"""

from __future__ import annotations

import enum
import random
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import msgspec

from assay.records import Arm, Budget, Launch, Outcome, Sample, Stage, StudySpec
from assay.search.history.failure_order import describe_failure_order
from assay.search.history.hangs import hang_timeout_s
from assay.search.history.history import History
from assay.search.history.remaining_budget import NO_COST, Cost, RemainingBudget, sufficient_budget
from assay.search.space.switching import HardToChangeFactors
from assay.stats.order import order
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

GRACE_FACTOR = 3.0
"""How many times its usual time a launch may take beyond the end of the budget."""
MIN_TIMEOUT_S = 0.1


class EndReason(enum.StrEnum):
    """Why a race is over."""

    DECIDED = "decided"
    BUDGET = "budget"
    TOO_SMALL = "too_small"
    WORKLOAD_FAILED = "workload_failed"
    NOTHING_TO_TRY = "nothing_to_try"


@dataclass(frozen=True)
class Ending:
    """The race is over.

    Attributes:
        reason: for programs.
        message: for people: one sentence.
        needed: for ``TOO_SMALL``: the budget that would do.
        arms: for ``WORKLOAD_FAILED``: names of the arms that failed, whose reasons are told.
    """

    reason: EndReason
    message: str
    needed: Budget | None = None
    arms: tuple[str, ...] = ()


def workload_failure(message: str, arms: Sequence[Arm]) -> Ending:
    """Return the end of a race in which arms failed, whose own reasons are told with it.

    Args:
        message: one sentence.
        arms: that it speaks of.
    """
    return Ending(EndReason.WORKLOAD_FAILED, message, arms=tuple(arm.name for arm in arms))


def ending_without_success(samples: Sequence[Sample]) -> Ending:
    """Return the end of a search of which no launch ended well.

    Args:
        samples: of the search.
    """
    late = all(sample.outcome is Outcome.TIMED_OUT for sample in samples)
    return Ending(
        EndReason.WORKLOAD_FAILED,
        NO_COMPARABLE_LAUNCH_TIMED_OUT if late else NO_COMPARABLE_LAUNCH,
        arms=tuple(dict.fromkeys(sample.launch.arm for sample in samples)),
    )


class Race(Protocol):
    """What a study asks for its next launches; used by studies and by replays alike."""

    def ask(self, free_slots: int, left: Budget) -> list[Launch] | Ending:
        """Up to ``free_slots`` launches to make now.

        An empty list means that launches in flight must be told first.
        """
        ...

    def tell(self, sample: Sample) -> None:
        """Take in a sample, one just made or one from the store."""
        ...

    @property
    def stage(self) -> Stage:
        """Where the race stands, for the progress line."""
        ...


@dataclass(frozen=True)
class BlockPlan:
    """Who runs in the next block, at which stage, and how often each."""

    stage: Stage
    arms: tuple[Arm, ...]
    times: int = 1


MAX_RETRIES = 1
"""A failed launch is tried once more within its block, to tell a flake from a configuration that
cannot work. A program that cannot be built is not built again within a sitting."""


MAX_BLOCKS_WITHOUT_VALUE = 3
"""Blocks running without a value after which an arm is not waited for any more."""


class BlockRunner:
    """Deals out the launches of one block at a time, in a balanced random order.

    Args:
        seed: of the study; the order within a block follows from it and the block's number.
        costly: settings that are costly to change; arms that share them run one after another.
        slots: that launches are confined to; 0 where there are none.
    """

    def __init__(
        self, seed: int, costly: HardToChangeFactors | None = None, slots: int = 0
    ) -> None:
        self._seed = seed
        self._costly = costly or HardToChangeFactors()
        self._slots = range(slots)
        self.number = -1
        self.stage: Stage | None = None
        self._arms: tuple[Arm, ...] = ()
        self._kept = False
        self._waiting: list[Launch] = []
        self._flying: dict[tuple[int, int], int | None] = {}

    @property
    def over(self) -> bool:
        """Whether the block has neither launches to make nor in flight."""
        return not self._waiting and not self._flying

    @property
    def arms(self) -> tuple[Arm, ...]:
        """Who runs in the newest block, each once."""
        return tuple(dict.fromkeys(self._arms))

    @property
    def flying(self) -> int:
        """Launches handed out and not told yet."""
        return len(self._flying)

    def start(self, roster: BlockPlan) -> None:
        """Begin the next block."""
        number = self.number + 1
        arms = roster.arms * roster.times
        plots = [self._costly.plot(arm.configuration) for arm in arms]
        if roster.stage is Stage.INTERFERENCE:
            plots = [(arm.name,) for arm in arms]
        places = launch_order(self._seed, number, [arm.name for arm in arms], plots)
        self._lay_out(roster.stage, number, tuple(arms[place] for place in places))

    def _lay_out(self, stage: Stage, number: int, arms: tuple[Arm, ...]) -> None:
        self.number = number
        self.stage = stage
        self._arms = arms
        self._kept = False
        self._flying = {}
        # In the search a block may begin with what the one before ended with.
        anew = stage is Stage.CONFIRM and self._costly.differ(arms)
        self._waiting = [
            Launch(
                configuration=arm.configuration,
                arm=arm.name,
                stage=stage,
                block=number,
                position=position,
                anew=anew and position == 0,
            )
            for position, arm in enumerate(arms)
        ]

    def take(self, free_slots: int) -> list[Launch]:
        """The next launches of the block.

        Until one has been told that holds the roster, each of them holds it: whichever ends first
        in several slots, a stopped study knows who was to run.
        """
        count = self._side_by_side(free_slots)
        taken, self._waiting = self._waiting[:count], self._waiting[count:]
        taken = [msgspec.structs.replace(launch, slot=self._fly(launch)) for launch in taken]
        if self._kept:
            return taken
        return [msgspec.structs.replace(launch, roster=self._arms) for launch in taken]

    def _side_by_side(self, free_slots: int) -> int:
        """How many launches may begin now.

        Where it is to be seen what launches side by side do to each other, all of an arm begin
        together, and nothing runs beside another arm. Those that a stop has torn apart are dropped.
        """
        if not self._waiting or self._waiting[0].stage is not Stage.INTERFERENCE:
            return free_slots
        arm = self._waiting[0].arm
        whole = sum(a.name == arm for a in self._arms)
        if self._flying or free_slots < whole:
            return 0
        if sum(launch.arm == arm for launch in self._waiting) < whole:
            self.drop()
        return whole

    def _fly(self, launch: Launch) -> int | None:
        """Where a launch runs: in any free slot; what runs alone in that of its whole block."""
        slot = None
        if self._slots:
            rng = random.Random(f"{self._seed}/{launch.block}/slot")
            slot = rng.choice(self._slots)
            if launch.stage in (Stage.SEARCH, Stage.INTERFERENCE) and self._together(launch):
                free = [at for at in self._slots if at not in self._flying.values()]
                slot = random.Random(f"{self._seed}/{_place(launch)}/{launch.block}").choice(free)
        self._flying[_place(launch)] = slot
        return slot

    def _together(self, launch: Launch) -> bool:
        """Whether a launch may have others beside it."""
        single = sum(arm.name == launch.arm for arm in self._arms) == 1
        return launch.stage is Stage.SEARCH or not single

    def drop(self) -> None:
        """Make no further launches of this block."""
        self._waiting = []

    def tell(self, sample: Sample) -> None:
        """Strike off what was done; a first failure goes to the end of its block once more."""
        launch = sample.launch
        if launch.block > self.number:
            # Told from the store: take the block over as it was laid out then.
            self._lay_out(launch.stage, launch.block, launch.roster or ())
        self._kept = self._kept or launch.roster is not None
        place = _place(launch)
        self._flying.pop(place, None)
        self._waiting = [w for w in self._waiting if _place(w) != place]
        lost = sample.unbuilt or launch.stage is Stage.INTERFERENCE
        again = launch.attempt < MAX_RETRIES and not lost
        if sample.outcome is Outcome.FAILED and again:
            self._waiting.append(
                msgspec.structs.replace(
                    launch, attempt=launch.attempt + 1, cap_s=None, roster=None, anew=False
                )
            )


def _place(launch: Launch) -> tuple[int, int]:
    return launch.position, launch.attempt


def _larger(asked: Budget, left: Budget) -> Budget:
    """The budget that shares are taken of: a study that is resumed may be given more than asked."""
    times = [b.time_s for b in (asked, left) if b.time_s is not None]
    launches = [b.launches for b in (asked, left) if b.launches is not None]
    return Budget(time_s=max(times, default=None), launches=max(launches, default=None))


class BlockRace(ABC):
    """The part that all races share: one block at a time, state from what was told.

    Args:
        spec: of the study.
        first: the stage in which the race begins.
    """

    def __init__(self, spec: StudySpec, first: Stage) -> None:
        self._spec = spec
        self._history = History.of(spec)
        self._block = BlockRunner(spec.seed, self._history.costly, spec.parallel or 0)
        self._offered = 1
        self._stage = first
        self._beyond = False

    @property
    def stage(self) -> Stage:
        """See ``Race.stage``."""
        return self._stage

    @property
    def spec(self) -> StudySpec:
        """What is asked."""
        return self._spec

    @property
    def history(self) -> History:
        """What was told so far."""
        return self._history

    def tell(self, sample: Sample) -> None:
        """See ``Race.tell``."""
        self._history.add(sample)
        self._block.tell(sample)
        self._enter(sample.launch.stage)

    def go_on(self) -> None:
        """Spend what is left on confirmation, verdict or not: intervals hold at every look."""
        self._beyond = True

    def ask(self, free_slots: int, left: Budget) -> list[Launch] | Ending:
        """See ``Race.ask``.

        A block is begun only where it is expected to fit; should the budget end within it all the
        same, what has not begun is dropped.
        """
        purse = RemainingBudget(_larger(self._spec.budget, left), left)
        if purse.spent:
            self._block.drop()
        self._offered = free_slots + self._block.flying
        while True:
            if self._block.over:
                following = self._next(purse)
                if isinstance(following, Ending) and following.reason is EndReason.DECIDED:
                    following = self._once_more(purse) or following
                if isinstance(following, Ending):
                    return following
                self._enter(following.stage)
                times = self._history.launches_by_arm(following.stage, following.arms)
                self._block.start(replace(following, times=times))
            taken = self._block.take(self._room(free_slots, left))
            if taken or not self._block.over:
                return [
                    msgspec.structs.replace(launch, cap_s=self._bounded_s(launch, left))
                    for launch in taken
                ]

    def _enter(self, stage: Stage) -> None:
        """Note that a block of a stage runs."""
        self._stage = stage

    def _once_more(self, purse: RemainingBudget) -> BlockPlan | None:
        """The newest block of confirmation again, where what is left is to be spent as well."""
        if not self._beyond or self._stage is not Stage.CONFIRM or purse.spent:
            return None
        arms = self._block.arms
        if any(self._lost(Stage.CONFIRM, arm) for arm in arms):
            return None
        return BlockPlan(Stage.CONFIRM, arms) if purse.affords(self._history.cost(arms)) else None

    def _abreast(self) -> int | None:
        """How many launches of the stage may run side by side; ``None``: as many as are offered."""
        return None

    def _bounded_s(self, launch: Launch, left: Budget) -> float | None:
        """After how long a launch is stopped: by its own cap, or far beyond the budget's end.

        A program that never ends must not hold a study for ever. What an arm usually takes is
        added three times, so that no value of a launch that had begun in time is lost.
        """
        own = self._cap_s(launch)
        if left.time_s is None:
            return own
        usual = self._history.wall_s(launch.arm) or 0.0
        end = max(left.time_s, MIN_TIMEOUT_S) + GRACE_FACTOR * usual
        return end if own is None else min(own, end)

    def _room(self, free_slots: int, left: Budget) -> int:
        """How many launches may begin: those in flight have not been taken off the budget yet."""
        flying, abreast = self._block.flying, self._abreast()
        if abreast is not None:
            free_slots = max(0, min(free_slots, abreast - flying))
        if left.launches is None:
            return free_slots
        return min(free_slots, max(left.launches - flying, 0 if flying else 1))

    def _lost(self, stage: Stage, arm: Arm) -> bool:
        """Whether an arm gave no value in the newest blocks of a stage in which it ran."""
        return self._history.lost(stage, arm.name, MAX_BLOCKS_WITHOUT_VALUE)

    def _works(self, stage: Stage, arm: Arm) -> bool:
        """Whether an arm gave a figure in a stage; one of 0 is one."""
        history = self._history
        return bool(history.known(stage, arm.name)) or history.has_zeros(arm.name, (stage,))

    def _failing(self, arm: Arm) -> str:
        """What an arm does that worked once, and gives no value any more."""
        newest = next(s for s in reversed(self._history.samples) if s.launch.arm == arm.name)
        if newest.outcome is not Outcome.OK:
            told = order_of_failures(self._history.samples)
            return told or FAILED_AFTER_FIRST
        metric = self._spec.workload.objective
        value = newest.metrics.get(metric.name)
        reason = newest.absent.get(metric.name, UNREADABLE)
        if value is not None:
            reason = not_positive(value)
        return missing_metric_ending(metric.name, reason)

    def _gave_nothing(self, arms: Sequence[Arm]) -> str:
        """Say whether arms without a value failed, or ended well without a usable figure."""
        names = {arm.name for arm in arms}
        mine = [sample for sample in self._history.samples if sample.launch.arm in names]
        good = sum(s.outcome is Outcome.OK and bool(self._history.observation(s)) for s in mine)
        return failure_predicate(
            len(mine),
            good,
            timed_out=all(sample.outcome is Outcome.TIMED_OUT for sample in mine),
            ended_well=any(sample.outcome is Outcome.OK for sample in mine),
            metric=self._spec.workload.objective.name,
        )

    def _refused(self, message: str, needed: Budget) -> Ending:
        """Return the end of a study whose budget does not do.

        Where no launch ended, no budget would.

        Args:
            message: one sentence.
            needed: the budget that would do.
        """
        samples = self._history.samples
        if not samples or any(sample.outcome is not Outcome.TIMED_OUT for sample in samples):
            return Ending(EndReason.TOO_SMALL, message, needed)
        arms = tuple(dict.fromkeys(sample.launch.arm for sample in samples))
        return Ending(EndReason.WORKLOAD_FAILED, PROGRAM_TIMED_OUT, arms=arms)

    def _to_repeat(
        self, arms: Sequence[Arm], purse: RemainingBudget, launches: int
    ) -> tuple[Arm, ...]:
        """Return the arms to launch once more before the budget counts as too small.

        Of these only a first launch is known, which may do what later ones do not (fill a cache).
        Settings that are costly to change are not changed for this.

        Args:
            arms: of a block.
            purse: what is left; as many are repeated as it has room for.
            launches: number of them that the study takes at least, besides.
        """
        history = self._history
        found: list[Arm] = []
        fits = purse.affords(Cost(0.0, len(arms) + launches))
        if purse.spent or history.costly or not fits:
            return ()
        for arm in arms:
            single = history.blocks_run(Stage.SURVEY, arm.name) == 1
            if single and purse.affords(history.cost([*found, arm], Stage.SURVEY)):
                found.append(arm)
        return tuple(found)

    def _budget_for(
        self, purse: RemainingBudget, block: Cost, blocks: int, more: Cost = NO_COST
    ) -> Budget:
        """Return the budget that does for so many blocks, with what was spent and is no wall time.

        Args:
            purse: what is left.
            block: one of them.
            blocks: their number.
            more: what comes before them.
        """
        samples = self._history.samples
        walls_s = sum(s.took_s for s in samples)
        spent_s = walls_s
        if purse.total.time_s is not None and purse.left.time_s is not None:
            spent_s = max(walls_s, purse.total.time_s - purse.left.time_s)
        beside_s = (spent_s - walls_s) / max(1, len(samples))
        launches = more.launches + block.launches * blocks
        time_s = more.time_s + block.time_s * blocks + beside_s * launches
        return sufficient_budget(Cost(spent_s + time_s, len(samples) + launches))

    def _may_follow_order(self, first: Arm, purse: RemainingBudget) -> bool:
        """Whether the arm that worked is to be tried again: others failed after it.

        Where it fails as well, the order of launches is at fault and not the arms.
        """
        samples = self._history.samples
        return (
            not purse.spent
            and samples[-1].launch.arm != first.name
            and samples[-1].outcome is Outcome.FAILED
            and not samples[-1].unbuilt
        )

    @abstractmethod
    def _next(self, purse: RemainingBudget) -> BlockPlan | Ending:
        """The next block, or the end."""

    def _cap_s(self, launch: Launch) -> float | None:
        """After how long a launch is stopped, unless overridden: see ``hang_timeout_s``."""
        return hang_timeout_s(self._spec, self._history, launch.arm)
