"""Race of a sweep: all cells of a design in each block."""

from __future__ import annotations

from assay.records import (
    Arm,
    Claim,
    DesignKind,
    Stage,
    StudySpec,
    Verdict,
)
from assay.search.claims.claims import (
    MIN_BLOCKS,
    are_all_decided,
    claim_between,
    is_constant,
    is_precise,
)
from assay.search.claims.effects import contrasts
from assay.search.claims.precision import is_mean_precise
from assay.search.claims.reliability import may_be_by_chance
from assay.search.claims.requirement import claims_alpha, is_undecided, min_requirement_blocks
from assay.search.history.counted import counted
from assay.search.history.failure_order import describe_failure_order
from assay.search.history.history import History, launches_per_block
from assay.search.history.interim_analyses import is_analysis_due
from assay.search.history.remaining_budget import Cost, RemainingBudget
from assay.search.races.block_runner import BlockPlan
from assay.search.races.compare import compared_arms
from assay.search.races.race import (
    MAX_BLOCKS_WITHOUT_VALUE,
    BlockRace,
    Ending,
    EndReason,
    workload_failure,
)
from assay.search.space.switching import HardToChangeFactors
from assay.stats.confidence_sequence import min_values
from assay.wording.endings import (
    ALL_BUT_BASELINE,
    all_blocks_ending,
    arm_ending,
    budget_ending,
    cells_decided_ending,
    means_precise_ending,
    no_cell_left_ending,
    repeated_failures,
    saturated_ending,
    too_small_for_sweep_ending,
)

MAX_ATTEMPTS = 3
"""Launches in which the baseline may fail before the workload counts as failing always."""
WARMUP = 1
"""Default number of warm-up launches of each cell."""
REFUSAL_FACTOR = 2.0
"""Factor by which the budget must be too small for a refusal after the first launch. It is large,
since the baseline may be slower than the other cells, and its first launch ran cold."""


class SweepRace(BlockRace):
    """Race of ``assay sweep``.

    The baseline runs alone first: it shows whether the program works, and its time. Then each
    cell warms up, in random order: files and compiled code may differ from cell to cell, so that
    one warm-up of the baseline would favour it. Then complete blocks run every cell once. A cell
    without any value is excluded when it fails at both attempts within a block. A cell with values
    is excluded after ``MAX_BLOCKS_WITHOUT_VALUE`` successive blocks without one. With ``null`` the
    baseline runs a second time in each block, under another name.

    The race ends after the requested number of blocks; or, with a precision, when the mean of every
    cell is precise enough, each cell leaving when its own is; or else when every claim is decided.
    In a factorial design all cells end together, since its effects need all of them.

    Args:
        spec: specification of the study; ``arms`` begins with the baseline.
    """

    def __init__(self, spec: StudySpec) -> None:
        super().__init__(spec, Stage.SURVEY)
        self._arms = compared_arms(spec)
        self._compared = self._arms[2:] if spec.null else self._arms[1:]
        """Cells that the study compares: all but the baseline and its repeat."""
        self._compared_names = frozenset(arm.name for arm in self._compared)
        self._alpha = sweep_alpha(spec)
        self._claiming = min_blocks(spec)
        """Smallest number of blocks with a conclusive interval at the error rate of each cell."""
        self._undecided: Arm | None = None

    def _next(self, budget: RemainingBudget) -> BlockPlan | Ending:
        baseline = self._first
        surveys = len(self._history.blocks(Stage.SURVEY))
        if not self._works(Stage.SURVEY, baseline):
            if surveys < MAX_ATTEMPTS and not (surveys and budget.spent):
                return BlockPlan(Stage.SURVEY, (baseline,))
            message = arm_ending(repr(baseline.name), self._failure_text([baseline]))
            return workload_failure(message, [baseline])
        if self._first_surveys <= surveys <= self._first_surveys + 1 and not self._compared_ran:
            small = self._too_small(budget, REFUSAL_FACTOR)
            if small is not None:
                again = self._to_repeat([self._first], budget, self._min_launches)
                return BlockPlan(Stage.SURVEY, again) if again else small
        warming = self._warming()
        if warming and not budget.spent:
            return BlockPlan(Stage.SURVEY, warming)
        able = self._able()
        if not any(self._is_compared(arm) for arm in able):
            if any(self._claim(arm) is not None for arm in self._compared):
                return Ending(EndReason.DECIDED, no_cell_left_ending(counted(self._history)))
            if self._may_depend_on_order(baseline, budget):
                return BlockPlan(Stage.SURVEY, (baseline,))
            several = len(self._compared) > 1
            subject = ALL_BUT_BASELINE if several else repr(self._compared[0].name)
            message = arm_ending(subject, self._failure_text(self._compared))
            order = describe_failure_order(self._history.samples)
            return workload_failure(order or message, self._compared)
        return self._measure(able, budget)

    def _is_compared(self, arm: Arm) -> bool:
        return arm.name in self._compared_names

    @property
    def _compared_ran(self) -> bool:
        """True if another arm than the first one was launched."""
        return any(s.launch.arm != self._first.name for s in self._history.samples)

    @property
    def _first(self) -> Arm:
        """First arm to run: the baseline, unless it takes another boot than other cells."""
        return next(iter(self._history.hard_to_change.initial_boot_arms(self._arms)), self._arms[0])

    @property
    def _first_surveys(self) -> int:
        """Number of blocks until the baseline first worked."""
        tries = self._history.observations(Stage.SURVEY, self._first.name)
        return 1 + next((at for at, found in enumerate(tries) if found is not None), len(tries))

    def _warming(self) -> tuple[Arm, ...]:
        """Return the cells of the next warm-up block: cold ones that have not failed."""
        if self._history.blocks(Stage.CONFIRM):
            return ()
        # Arms of another boot warm up there: see ``assay.study.booting``.
        here = self._history.hard_to_change.initial_boot_arms(self._able())
        return tuple(arm for arm in here if self._cold(arm) > 0)

    def _cold(self, arm: Arm) -> int:
        """Return the number of warm-up launches that an arm still needs."""
        wanted = WARMUP if self._spec.warmup is None else self._spec.warmup
        return wanted - self._history.blocks_run(Stage.SURVEY, arm.name)

    def _able(self) -> list[Arm]:
        """Return all arms but those that failed; the baseline may fail sometimes."""
        return [arm for arm in self._arms if arm == self._arms[0] or not self._failed(arm)]

    def _failed(self, arm: Arm) -> bool:
        stages = (Stage.SURVEY, Stage.CONFIRM)
        if any(self._history.has_value(stage, arm.name) for stage in stages):
            return any(self._lost(stage, arm) for stage in stages)
        return any(self._history.has_failed_block(stage, arm.name) for stage in stages)

    def _measure(self, able: list[Arm], budget: RemainingBudget) -> BlockPlan | Ending:
        """Return the next block of cells that need further launches, or the end."""
        blocks = len(self._history.blocks(Stage.CONFIRM))
        if blocks == 0:
            small = self._too_small(budget)
            if small is not None:
                again = self._to_repeat(able, budget, self._min_launches)
                return BlockPlan(Stage.SURVEY, again) if again else small
        if self._lost(Stage.CONFIRM, able[0]):
            return workload_failure(
                arm_ending(repr(able[0].name), repeated_failures(MAX_BLOCKS_WITHOUT_VALUE)),
                able[:1],
            )
        racing = self._racing(able, blocks)
        if isinstance(racing, Ending):
            return racing
        if not budget.spent and (
            blocks < self._min_blocks or budget.affords(self._history.cost(racing))
        ):
            return BlockPlan(Stage.CONFIRM, tuple(racing))
        return Ending(EndReason.BUDGET, budget_ending(counted(self._history)))

    def _racing(self, able: list[Arm], blocks: int) -> list[Arm] | Ending:
        """Return the arms of the next block, or the end."""
        design = self._spec.design
        if design is not None and design.repeats is not None and blocks >= design.repeats:
            return Ending(
                EndReason.DECIDED, all_blocks_ending(blocks, self._history.disturbed(Stage.CONFIRM))
            )
        if not is_analysis_due(blocks):
            newest = set(self._history.newest_arms(Stage.CONFIRM))
            return [arm for arm in able if arm in newest]
        if self._spec.precision is not None:
            return self._imprecise(able, blocks, self._spec.precision)
        if design is not None and design.repeats is not None:
            return able
        if all(self._decided(arm) for arm in self._doubtful_first(able)):
            return Ending(EndReason.DECIDED, self._ending(able))
        return able

    def _ending(self, able: list[Arm]) -> str:
        """Return the ending of a sweep in which no cell is undecided; failed cells do not count."""
        blocks = counted(self._history)
        if are_all_decided(self._claim(arm) for arm in able if self._is_compared(arm)):
            return cells_decided_ending(blocks)
        return saturated_ending(blocks)

    def _claim(self, arm: Arm) -> Claim | None:
        return sweep_claim(self._spec, self._history, self._arms, arm, self._alpha)

    def _imprecise(self, able: list[Arm], blocks: int, precision: float) -> list[Arm] | Ending:
        """Return the cells whose mean is not precise enough, and the baseline."""
        open_ones = [arm for arm in able if not self._precise(arm, precision)]
        if not open_ones:
            return Ending(
                EndReason.DECIDED,
                means_precise_ending(counted(self._history)),
            )
        if self._spec.design is not None and self._spec.design.kind is DesignKind.FACTORIAL:
            return able
        names = {able[0].name, *(arm.name for arm in open_ones)}
        return [arm for arm in able if arm.name in names]

    def _precise(self, arm: Arm, precision: float) -> bool:
        values = self._history.summarised_values(Stage.CONFIRM, arm.name)
        return is_constant(values) or is_mean_precise(
            self._history, arm, precision, self._spec.alpha
        )

    def _doubtful_first(self, able: list[Arm]) -> list[Arm]:
        """Return the compared cells, the last one found undecided first, to save time."""
        compared = [arm for arm in able if self._is_compared(arm)]
        return sorted(compared, key=lambda arm: arm != self._undecided)

    def _decided(self, arm: Arm) -> bool:
        """Return whether a cell is decided precisely enough, or cannot be decided."""
        found = self._claim(arm)
        if found is None:
            over = self._history.count_complete(Stage.CONFIRM) >= self._claiming
        elif all(
            is_constant(self._history.values(Stage.CONFIRM, a.name)) for a in (self._arms[0], arm)
        ):
            over = True
        elif found.verdict_withheld and found.data_problem is not None and not self._requires(arm):
            # Further blocks would not remove the objection.
            over = self._history.count_complete(Stage.CONFIRM) >= self._claiming
            over = over and not may_be_by_chance(found, self._history)
        else:
            over = found.verdict is not Verdict.UNCLEAR and is_precise(found)
            over = over and not self._requires(arm)
        if not over:
            self._undecided = arm
        return over

    def _requires(self, arm: Arm) -> bool:
        """Return whether a requirement is undecided for a cell or the baseline."""
        return is_undecided(self._spec, self._history, (self._arms[0], arm))

    @property
    def _min_blocks(self) -> int:
        """Smallest number of blocks of the sweep."""
        design = self._spec.design
        requested = design.repeats if design is not None else None
        return self._claiming if requested is None else requested

    @property
    def _missing_warm_ups(self) -> list[Arm]:
        """Remaining warm-up launches, each as its arm."""
        return [arm for arm in self._warming() for _ in range(self._cold(arm))]

    @property
    def _min_launches(self) -> int:
        """Smallest number of remaining launches."""
        block = self._history.cost(self._able())
        return len(self._missing_warm_ups) + block.launches * self._min_blocks

    def _too_small(self, budget: RemainingBudget, by: float = 1.0) -> Ending | None:
        """Return the end if the smallest number of blocks and the warm-up do not fit (rule 10)."""
        able = self._able()
        block = self._history.cost(able)
        warming = self._history.cost(self._missing_warm_ups, Stage.SURVEY)
        min_cost = Cost(
            (block.time_s * self._min_blocks + warming.time_s) / by,
            block.launches * self._min_blocks + warming.launches,
        )
        if budget.affords(min_cost):
            return None
        return self._refused(
            too_small_for_sweep_ending(self._min_blocks, len(able)),
            self._budget_for(budget, block, self._min_blocks, warming),
        )


def min_launches(spec: StudySpec) -> int:
    """Return the smallest number of launches of a sweep: warm-up and conclusive blocks."""
    warmups = WARMUP if spec.warmup is None else spec.warmup
    requested = spec.design.repeats if spec.design is not None else None
    arms = len(compared_arms(spec))
    initial_boot_arms = len(HardToChangeFactors.of(spec).initial_boot_arms(compared_arms(spec)))
    each = launches_per_block(spec.statistic, Stage.CONFIRM)
    return max(1, warmups * initial_boot_arms) + (requested or min_blocks(spec)) * arms * each


def min_blocks(spec: StudySpec) -> int:
    """Return the smallest number of blocks with a conclusive interval in a sweep."""
    return max(MIN_BLOCKS, min_values(sweep_alpha(spec)), min_requirement_blocks(spec))


def sweep_alpha(spec: StudySpec) -> float:
    """Return the error rate of each interval, such that all of them hold simultaneously."""
    shown = len(spec.arms) - 1 + spec.null + len(contrasts(spec))
    return claims_alpha(spec) / max(1, shown)


def sweep_claim(
    spec: StudySpec, history: History, arms: tuple[Arm, ...], arm: Arm, alpha: float
) -> Claim | None:
    """Return the claim on a cell against the baseline."""
    return claim_between(spec, history, (arms[0].name, arm.name), alpha)
