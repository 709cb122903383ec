"""Race of a calibration: one arm under two names, in blocks until the budget ends."""

from __future__ import annotations

from assay.records import Arm, Stage, StudySpec
from assay.search.claims.claims import MIN_BLOCKS
from assay.search.history.counted import counted
from assay.search.history.history import History
from assay.search.history.remaining_budget import RemainingBudget
from assay.search.races.block_runner import BlockPlan
from assay.search.races.compare import second_arm
from assay.search.races.race import BlockRace, Ending, EndReason, workload_failure
from assay.wording.endings import (
    EVERY_LAUNCH_TIMED_OUT,
    PROGRAM,
    arm_ending,
    budget_ending,
    too_small_for_calibration_ending,
)

MAX_ATTEMPTS = 3
"""Launches that may fail before the workload counts as failing always."""


class CalibrateRace(BlockRace):
    """Race of ``assay study calibrate``.

    It ends with its budget alone: more launches describe the machine more precisely.

    Args:
        spec: specification of the study; ``arms`` contains one.
    """

    def __init__(self, spec: StudySpec) -> None:
        super().__init__(spec, Stage.SURVEY)
        self._arms = calibrated_arms(spec)

    def _next(self, budget: RemainingBudget) -> BlockPlan | Ending:
        first = self._arms[0]
        surveys = len(self._history.blocks(Stage.SURVEY))
        if not self._history.known(Stage.SURVEY, first.name):
            if surveys < MAX_ATTEMPTS and not (surveys and budget.spent):
                return BlockPlan(Stage.SURVEY, (first,))
            return workload_failure(arm_ending(PROGRAM, self._failure_text([first])), [first])
        blocks = len(self._history.blocks(Stage.CONFIRM))
        block = self._history.cost(self._arms)
        if blocks == 0 and not budget.affords(block.times(MIN_BLOCKS)):
            repeated = self._to_repeat([first], budget, 2 * MIN_BLOCKS)
            return BlockPlan(Stage.SURVEY, repeated) if repeated else self._too_small(budget)
        if self._lost(Stage.CONFIRM, first):
            return workload_failure(self._failing(first), [first])
        if blocks >= MAX_ATTEMPTS and not self._history.values(Stage.CONFIRM, first.name):
            return Ending(EndReason.WORKLOAD_FAILED, EVERY_LAUNCH_TIMED_OUT)
        if budget.affords(block):
            return BlockPlan(Stage.CONFIRM, self._arms)
        return Ending(EndReason.BUDGET, budget_ending(counted(self._history)))

    def _too_small(self, budget: RemainingBudget) -> Ending:
        """Return the end where the smallest number of blocks does not fit after the warm-up."""
        return self._refused(
            too_small_for_calibration_ending(MIN_BLOCKS),
            self._budget_for(budget, self._history.cost(self._arms), MIN_BLOCKS),
        )


def calibrated_arms(spec: StudySpec) -> tuple[Arm, Arm]:
    """Return the arm of a calibration and its repeat."""
    first = spec.arms[0]
    return first, second_arm(first)


def recording(spec: StudySpec, history: History) -> list[tuple[float, float]]:
    """Return the two values of each block of the summaries, in the order of measurement."""
    names = {arm.name for arm in calibrated_arms(spec)}
    summarised = set(history.summarised(Stage.CONFIRM))
    blocks: dict[int, dict[int, float]] = {}
    for sample in history.samples:
        launch = sample.launch
        found = history.observation(sample)
        confirmed = launch.stage is Stage.CONFIRM and launch.block in summarised
        if confirmed and launch.arm in names and found is not None and not found.censored:
            blocks.setdefault(launch.block, {})[launch.position] = found.value
    return [(both[0], both[1]) for _, both in sorted(blocks.items()) if len(both) == 2]
