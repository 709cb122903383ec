"""Race of a measurement: one arm, until its mean is as precise as requested."""

from __future__ import annotations

from assay.records import Budget, Launch, Outcome, Stage, StudySpec
from assay.search.claims.claims import MIN_BLOCKS, MIN_CONSTANT
from assay.search.claims.precision import is_mean_precise
from assay.search.claims.requirement import is_undecided
from assay.search.history.interim_analyses import is_analysis_due
from assay.search.history.packed_samples import figures_of
from assay.search.history.remaining_budget import Cost, RemainingBudget
from assay.search.races.block_runner import BlockPlan
from assay.search.races.race import MIN_TIMEOUT_S, BlockRace, Ending, EndReason, workload_failure
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
"""Largest number of warm-up launches, unless more are requested."""
WARMUP_GAIN = 0.02
"""Relative reduction of the shortest time from which on the warm-up continues."""
PRECISION = 0.01
"""Default half width of the interval over the mean at which a measurement ends."""


class MeasureRace(BlockRace):
    """Race of ``assay measure``: warm-up launches, then launches until the mean is precise.

    The warm-up ends with the first launch that is not faster than all before it. Launches count
    from the next one on, so that no value is selected by its size.

    Args:
        spec: specification of the study; ``arms`` contains one.
    """

    def __init__(self, spec: StudySpec) -> None:
        super().__init__(spec, Stage.SURVEY)
        self._arm = spec.arms[0]
        self._repeating = False

    def _next(self, budget: RemainingBudget) -> BlockPlan | Ending:
        surveys = len(self._history.blocks(Stage.SURVEY))
        works = any(self._works(stage, self._arm) for stage in (Stage.SURVEY, Stage.CONFIRM))
        if not self._history.samples and self._single:
            return BlockPlan(Stage.CONFIRM, (self._arm,))
        if not works and surveys < MAX_ATTEMPTS and not (self._history.samples and budget.spent):
            return BlockPlan(Stage.SURVEY, (self._arm,))
        if works and self._warming(budget):
            return BlockPlan(Stage.SURVEY, (self._arm,))
        if not works:
            message = arm_ending(PROGRAM, self._failure_text([self._arm]))
            return workload_failure(message, [self._arm])
        blocks = len(self._history.blocks(Stage.CONFIRM))
        has_figure = self._history.has_figure(Stage.CONFIRM, self._arm.name)
        equal = self._history.count_equal_figures(Stage.CONFIRM, self._arm.name)
        affordable = budget.affords(self._history.cost([self._arm]))
        if self._lost(Stage.CONFIRM, self._arm) or (
            blocks and not has_figure and (blocks >= MAX_ATTEMPTS or not affordable)
        ):
            return workload_failure(self._no_value_ending(), [self._arm])
        if is_analysis_due(blocks) and self._precise() and not self._requires():
            return Ending(EndReason.DECIDED, precise_ending(self._tally()))
        if equal >= MIN_CONSTANT and not self._requires():
            return Ending(EndReason.DECIDED, constant_ending(equal))
        if affordable:
            return BlockPlan(Stage.CONFIRM, (self._arm,))
        if blocks == 0 and not budget.spent and surveys == 1:
            self._repeating = True
            return BlockPlan(Stage.SURVEY, (self._arm,))
        if blocks == 0:
            return self._too_small(budget)
        return Ending(EndReason.BUDGET, budget_ending(self._tally()))

    @property
    def _single(self) -> bool:
        """True if the study has one launch, which then gives its value."""
        return self._spec.budget.launches == 1 and not self._spec.warmup

    def _bounded_s(self, launch: Launch, left: Budget) -> float | None:
        """See ``BlockRace``; a first launch that used the budget is not given it twice."""
        found = super()._bounded_s(launch, left)
        if not self._repeating or launch.stage is not Stage.SURVEY or left.time_s is None:
            return found
        rest_s = max(left.time_s, MIN_TIMEOUT_S)
        return rest_s if found is None else min(found, rest_s)

    def _tally(self) -> str:
        """Return the launches of the study by their use; those of the mean come first.

        The sum is the number of launches of the study.
        """
        name = self._spec.workload.objective.name
        counting = set(self._history.summarised(Stage.CONFIRM))
        warm = sound = timed = 0
        for sample in figures_of(self._history.samples):
            launch = sample.launch
            warm += launch.stage is Stage.SURVEY
            if (
                launch.stage is Stage.CONFIRM
                and sample.outcome.succeeded
                and name in sample.metrics
            ):
                timed += 1
                sound += launch.block in counting
        lost = len(self._history.samples) - warm - timed
        return launch_tally(sound, timed - sound, lost, warm)

    def _warming(self, budget: RemainingBudget) -> bool:
        """Return whether another warm-up launch is due and leaves room for a summary."""
        if self._history.blocks(Stage.CONFIRM):
            return False
        walls = [
            s.wall_s
            for s in self._history.samples
            if s.wall_s and (s.outcome.succeeded or s.outcome is Outcome.TIMED_OUT)
        ]
        if self._spec.warmup is not None:
            return len(walls) < self._spec.warmup and not budget.spent
        one = self._history.cost([self._arm])
        if len(walls) >= MAX_WARMUP or not budget.affords(one.times(MIN_BLOCKS + 1)):
            return False
        return len(walls) < 2 or walls[-1] < (1.0 - WARMUP_GAIN) * min(walls[:-1])

    def _no_value_ending(self) -> str:
        """Return the ending where no launch gives a value any longer."""
        if self._history.newest(Stage.CONFIRM, self._arm.name, 1) == [None]:
            return self._failing(self._arm)
        return NOTHING_TO_AVERAGE

    def _too_small(self, budget: RemainingBudget) -> Ending:
        """Return the end where no launch fits after the warm-up; hooks count twice."""
        one = Cost(self._history.cost([self._arm]).time_s, 1)
        whole = self._budget_for(budget, one, MIN_BLOCKS)
        return self._refused(
            WARM_UP_USED_BUDGET,
            Budget(time_s=whole.time_s, launches=len(self._history.samples) + 1),
        )

    def _requires(self) -> bool:
        """Return whether a requirement is undecided."""
        return is_undecided(self._spec, self._history, (self._arm,))

    def _precise(self) -> bool:
        """Return whether the undisturbed launches give the mean as precisely as requested."""
        wanted = self._spec.precision or PRECISION
        return is_mean_precise(self._history, self._arm, wanted, self._spec.alpha)
