"""MeasureRace: one arm, until its mean is known as precisely as asked."""

from __future__ import annotations

from assay.records import Budget, Launch, Outcome, Stage, StudySpec
from assay.search.claims.claims import MIN_BLOCKS, is_constant
from assay.search.claims.precision import is_mean_precise
from assay.search.claims.requirement import is_undecided
from assay.search.history.looks import is_look_due
from assay.search.history.remaining_budget import Cost, RemainingBudget
from assay.search.races.race import (
    MIN_TIMEOUT_S,
    BlockPlan,
    BlockRace,
    Ending,
    EndReason,
    workload_failure,
)
from assay.wording.endings import (
    NOTHING_TO_AVERAGE,
    PROGRAM,
    WARM_UP_USED_BUDGET,
    arm_ending,
    budget_ending,
    constant_ending,
    launch_tally,
    precise_ending,
)

MAX_ATTEMPTS = 3
"""Launches that may fail before the workload counts as failing always."""
MAX_WARMUP = 10
"""More warm-up launches than this are not made unless asked for."""
WARMUP_GAIN = 0.02
"""A launch is faster than those before it if it takes less than their least time by this share."""
PRECISION = 0.01
"""Half width of the interval over the mean at which a measurement stops unless asked otherwise."""


class MeasureRace(BlockRace):
    """The race behind ``assay measure``: warm-up launches, then launches until it is precise.

    The warm-up is over with the first launch that is not faster than all before it. What counts
    begins after it, so that no value is chosen by what it is.

    Args:
        spec: of the study; ``arms`` holds one.
    """

    def __init__(self, spec: StudySpec) -> None:
        super().__init__(spec, Stage.SURVEY)
        self._arm = spec.arms[0]
        self._repeating = False

    def _next(self, purse: RemainingBudget) -> BlockPlan | Ending:
        looks = len(self._history.blocks(Stage.SURVEY))
        works = self._works(Stage.SURVEY, self._arm)
        if not works and looks < MAX_ATTEMPTS and not (looks and purse.spent):
            return BlockPlan(Stage.SURVEY, (self._arm,))
        if works and self._warming(purse):
            return BlockPlan(Stage.SURVEY, (self._arm,))
        if not works:
            message = arm_ending(PROGRAM, self._gave_nothing([self._arm]))
            return workload_failure(message, [self._arm])
        blocks = len(self._history.blocks(Stage.CONFIRM))
        values = self._history.figures(Stage.CONFIRM, self._arm.name)
        affordable = purse.affords(self._history.cost([self._arm]))
        if self._lost(Stage.CONFIRM, self._arm) or (
            blocks and not values and (blocks >= MAX_ATTEMPTS or not affordable)
        ):
            return workload_failure(self._silence(), [self._arm])
        if due(blocks) and self._precise() and not self._requires():
            return Ending(EndReason.DECIDED, precise_ending(self._tally()))
        if is_constant(values) and not self._requires():
            return Ending(EndReason.DECIDED, constant_ending(len(values)))
        if affordable:
            return BlockPlan(Stage.CONFIRM, (self._arm,))
        if blocks == 0 and not purse.spent and looks == 1:
            self._repeating = True
            return BlockPlan(Stage.SURVEY, (self._arm,))
        if blocks == 0:
            return self._too_small(purse)
        return Ending(EndReason.BUDGET, budget_ending(self._tally()))

    def _bounded_s(self, launch: Launch, left: Budget) -> float | None:
        """See ``BlockRace``; a first launch that used up the budget is not paid for twice."""
        found = super()._bounded_s(launch, left)
        if not self._repeating or launch.stage is not Stage.SURVEY or left.time_s is None:
            return found
        rest_s = max(left.time_s, MIN_TIMEOUT_S)
        return rest_s if found is None else min(found, rest_s)

    def _tally(self) -> str:
        """All launches that were made, by what they were good for; the first figure is the mean's.

        The sum is the number of launches of the study.
        """
        name = self._spec.workload.objective.name
        samples = self._history.samples
        warm = sum(s.launch.stage is Stage.SURVEY for s in samples)
        timed = [
            s
            for s in samples
            if s.outcome is Outcome.OK and name in s.metrics and s.launch.stage is Stage.CONFIRM
        ]
        counting = set(self._history.summarised(Stage.CONFIRM))
        sound = [s for s in timed if s.launch.block in counting]
        lost = len(samples) - warm - len(timed)
        return launch_tally(len(sound), len(timed) - len(sound), lost, warm)

    def _warming(self, purse: RemainingBudget) -> bool:
        """Whether another warm-up launch is due, and leaves what a summary takes."""
        if self._history.blocks(Stage.CONFIRM):
            return False
        walls = [
            s.wall_s
            for s in self._history.samples
            if s.wall_s and s.outcome in (Outcome.OK, Outcome.TIMED_OUT)
        ]
        if self._spec.warmup is not None:
            return len(walls) < self._spec.warmup and not purse.spent
        one = self._history.cost([self._arm])
        if len(walls) >= MAX_WARMUP or not purse.affords(one.times(MIN_BLOCKS + 1)):
            return False
        return len(walls) < 2 or walls[-1] < (1.0 - WARMUP_GAIN) * min(walls[:-1])

    def _silence(self) -> str:
        """Why no launch gives a value any more."""
        if self._history.newest(Stage.CONFIRM, self._arm.name, 1) == [None]:
            return self._failing(self._arm)
        return NOTHING_TO_AVERAGE

    def _too_small(self, purse: RemainingBudget) -> Ending:
        """Not one launch fits behind the warm-up; what hooks took is spent, and will be again."""
        one = Cost(self._history.cost([self._arm]).time_s, 1)
        whole = self._budget_for(purse, one, MIN_BLOCKS)
        return self._refused(
            WARM_UP_USED_BUDGET,
            Budget(time_s=whole.time_s, launches=len(self._history.samples) + 1),
        )

    def _requires(self) -> bool:
        """Whether it is unclear yet if what is required is kept."""
        return is_undecided(self._spec, self._history, (self._arm,))

    def _precise(self) -> bool:
        """Whether the undisturbed launches tell the mean as precisely as asked."""
        wanted = self._spec.precision or PRECISION
        return is_mean_precise(self._history, self._arm, wanted, self._spec.alpha)
