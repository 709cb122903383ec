"""Race of a comparison: named arms run in blocks until each is decided against its reference.

The reference of an arm is the arm that it names, and else the first arm.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import Arm, Claim, Outcome, Stage, StudySpec, Verdict
from assay.search.claims.claims import (
    MIN_BLOCKS,
    are_all_decided,
    claim_between,
    is_constant,
    is_precise,
)
from assay.search.claims.gate import needs_more_blocks
from assay.search.claims.reliability import may_be_by_chance
from assay.search.claims.requirement import claims_alpha, is_undecided, min_requirement_blocks
from assay.search.history.counted import counted
from assay.search.history.failure_order import describe_failure_order
from assay.search.history.interim_analyses import is_analysis_due
from assay.search.history.remaining_budget import RemainingBudget
from assay.search.races.block_runner import BlockPlan
from assay.search.races.race import (
    MAX_BLOCKS_WITHOUT_VALUE,
    BlockRace,
    Ending,
    EndReason,
    workload_failure,
)
from assay.stats.confidence_sequence import min_values
from assay.wording.endings import (
    ALL_BUT_FIRST,
    arm_ending,
    budget_ending,
    comparisons_decided_ending,
    repeated_failures,
    saturated_ending,
    too_small_for_claim_ending,
)

MAX_ATTEMPTS = 3
"""Blocks in which an arm may fail before it counts as failing always."""


class CompareRace(BlockRace):
    """Race of ``assay compare``.

    Every arm runs once as a warm-up whose time does not count. With ``null`` the first arm runs a
    second time in each block, under another name.

    Args:
        spec: specification of the study; ``arms`` begins with the baseline.
    """

    def __init__(self, spec: StudySpec) -> None:
        super().__init__(spec, Stage.SURVEY)
        self._arms = compared_arms(spec)
        self._compared = self._arms[2:] if spec.null else self._arms[1:]
        """Arms that the study compares: all but the first and its repeat."""
        self._by_name = {arm.name: arm for arm in reversed(self._arms)}
        self._alpha = claim_alpha(spec)
        self._conclusive_blocks = min_blocks(spec)

    def _next(self, budget: RemainingBudget) -> BlockPlan | Ending:
        # Arms of another boot have no warm-up before their first block.
        cold = [
            arm
            for arm in self._history.hard_to_change.initial_boot_arms(self._arms)
            if not self._warm(arm)
        ]
        attempts = len(self._history.blocks(Stage.SURVEY))
        if cold and attempts < MAX_ATTEMPTS and not (attempts and budget.spent):
            return BlockPlan(Stage.SURVEY, tuple(cold))
        warming = self._warming(attempts)
        if warming and not budget.spent:
            return BlockPlan(Stage.SURVEY, warming)
        # An arm that the budget left without a warm-up has not failed.
        able = [
            arm
            for arm in self._arms
            if arm not in cold or not self._history.blocks_run(Stage.SURVEY, arm.name)
        ]
        if self._arms[0] not in able:
            return self._first_failed(self._arms[:1])
        if not any(arm in self._compared for arm in able):
            if self._may_depend_on_order(self._arms[0], budget):
                return BlockPlan(Stage.SURVEY, self._arms[:1])
            return self._failed(self._compared)
        return self._compare(able, budget)

    def _failed(self, arms: Sequence[Arm]) -> Ending:
        """Return the end where no compared arm gave a value in a block with the first."""
        subject = ALL_BUT_FIRST if len(arms) > 1 else repr(arms[0].name)
        message = arm_ending(subject, self._failure_text(arms))
        return workload_failure(describe_failure_order(self._history.samples) or message, arms)

    def _first_failed(self, arms: Sequence[Arm]) -> Ending:
        """Return the ending where the first arm gave no value.

        Args:
            arms: failed arms.
        """
        predicate = self._failure_text(self._arms[:1])
        return workload_failure(arm_ending(repr(self._arms[0].name), predicate), arms)

    def _compare(self, able: list[Arm], budget: RemainingBudget) -> BlockPlan | Ending:
        """Return the next block of undecided arms, or the end."""
        blocks = len(self._history.blocks(Stage.CONFIRM))
        if blocks == 0:
            small = self._too_small(able, budget)
            if small is not None:
                repeated = self._to_repeat(able, budget, len(able) * self._min_blocks)
                return BlockPlan(Stage.SURVEY, repeated) if repeated else small
        arms = self._undecided_arms(able, blocks)
        if not arms:
            return self._without_claim(budget) or Ending(EndReason.DECIDED, self._ending())
        if self._lost(Stage.CONFIRM, able[0]):
            return workload_failure(
                arm_ending(repr(able[0].name), repeated_failures(MAX_BLOCKS_WITHOUT_VALUE)),
                able[:1],
            )
        if not budget.spent and (
            blocks < self._min_blocks or budget.affords(self._history.cost(arms))
        ):
            return BlockPlan(Stage.CONFIRM, arms)
        ended = Ending(EndReason.BUDGET, budget_ending(counted(self._history)))
        return self._without_claim(budget) or ended

    def _without_claim(self, budget: RemainingBudget) -> Ending | None:
        """Return the end of a comparison without any claim; ``None`` if there is one."""
        if any(self._claim(arm) is not None for arm in self._compared):
            return None
        lost = [
            arm for arm in self._arms if self._history.has_failed_block(Stage.CONFIRM, arm.name)
        ]
        late = all(s.outcome is Outcome.TIMED_OUT for s in self._history.samples)
        if not lost or late:
            return self._no_block(self._arms, budget)
        if self._arms[0] in lost and describe_failure_order(self._history.samples) is None:
            return self._first_failed(lost)
        return self._failed([arm for arm in lost if arm in self._compared] or lost)

    def _ending(self) -> str:
        """Return the ending of a comparison in which no arm is undecided."""
        blocks = counted(self._history)
        if are_all_decided(self._claim(arm) for arm in self._compared):
            steps = any(arm.parent is not None for arm in self._compared)
            return comparisons_decided_ending(blocks, steps=steps)
        return saturated_ending(blocks)

    def _claim(self, arm: Arm) -> Claim | None:
        pair = (self._reference(arm).name, arm.name)
        return claim_between(self._spec, self._history, pair, self._alpha)

    def _reference(self, arm: Arm) -> Arm:
        """Return the reference of an arm; the first arm if the named one gives no values."""
        named = self._by_name.get(arm.parent or "", self._arms[0])
        works = self._warm(named) and not self._lost(Stage.CONFIRM, named)
        return named if works else self._arms[0]

    def _undecided_arms(self, able: list[Arm], blocks: int) -> tuple[Arm, ...]:
        """Return the undecided arms, their references, and the repeat of the first arm."""
        if not is_analysis_due(blocks):
            return tuple(self._history.newest_arms(Stage.CONFIRM))
        open_ = [arm for arm in able[1:] if arm not in self._compared or not self._decided(arm)]
        if not any(arm in self._compared for arm in open_):
            return ()
        wanted = {arm.name for arm in (*open_, *map(self._reference, open_))}
        return tuple(arm for arm in able if arm.name in wanted)

    @property
    def _min_blocks(self) -> int:
        """Smallest number of blocks with a conclusive interval at the error rate of each arm."""
        return self._conclusive_blocks

    def _too_small(self, arms: list[Arm], budget: RemainingBudget) -> Ending | None:
        """Return the end if the smallest number of blocks does not fit (rule 10)."""
        if budget.affords(self._shortest(self._history.cost(arms)).times(self._min_blocks)):
            return None
        return self._no_block(arms, budget)

    def _no_block(self, arms: Sequence[Arm], budget: RemainingBudget) -> Ending:
        """Return the end where the smallest number of blocks does not fit, with its budget."""
        warmed = sum(self._warm(arm) for arm in self._arms)
        rest = self._history.cost(self._arms[warmed:], Stage.SURVEY)
        return self._refused(
            too_small_for_claim_ending(self._min_blocks),
            self._budget_for(
                budget, self._shortest(self._history.cost(arms)), self._min_blocks, rest
            ),
        )

    def _warm(self, arm: Arm) -> bool:
        return any(self._works(stage, arm) for stage in (Stage.SURVEY, Stage.CONFIRM))

    def _warming(self, attempts: int) -> tuple[Arm, ...]:
        """Return the arms of another warm-up block, if more than one was requested."""
        if self._history.blocks(Stage.CONFIRM) or attempts >= (self._spec.warmup or 1):
            return ()
        return tuple(arm for arm in self._arms if self._warm(arm))

    def _decided(self, arm: Arm) -> bool:
        """Return whether an arm is decided precisely enough, or cannot be decided."""
        found = self._claim(arm)
        if self._lost(Stage.CONFIRM, arm):
            return True
        if found is None:
            return self._history.count_complete(Stage.CONFIRM) >= self._min_blocks
        pair = (self._reference(arm), arm)
        if all(is_constant(self._history.values(Stage.CONFIRM, a.name)) for a in pair):
            return True
        if self._requires(arm):
            return False
        if found.verdict_withheld and found.data_problem is not None:
            # Further blocks do not remove the problem.
            if may_be_by_chance(found, self._history):
                return False
            return self._history.count_complete(Stage.CONFIRM) >= self._min_blocks
        if found.verdict is Verdict.UNCLEAR or not is_precise(found):
            return False
        return not needs_more_blocks(self._spec.exit_conditions, found)

    def _requires(self, arm: Arm) -> bool:
        """Return whether a requirement is undecided for an arm or its reference."""
        return is_undecided(self._spec, self._history, (self._reference(arm), arm))


def min_blocks(spec: StudySpec) -> int:
    """Return the smallest number of blocks with a conclusive interval in a comparison."""
    return max(MIN_BLOCKS, min_values(claim_alpha(spec)), min_requirement_blocks(spec))


def compared_arms(spec: StudySpec) -> tuple[Arm, ...]:
    """Return the arms of a comparison, with the repeat of the first if requested."""
    if not spec.null:
        return spec.arms
    first, *others = spec.arms
    return (first, second_arm(first), *others)


def second_arm(arm: Arm) -> Arm:
    """Return the repeat of an arm, under its second name."""
    return Arm(name=null_name(arm.name), configuration=arm.configuration)


def null_name(name: str) -> str:
    """Return the name of the repeat of an arm."""
    return f"{name} (again)"


def claimed_pairs(spec: StudySpec) -> tuple[tuple[str, str], ...]:
    """Return the names of the compared pairs: each arm against the first."""
    first, *others = compared_arms(spec)
    return tuple((first.name, arm.name) for arm in others)


def step_pairs(spec: StudySpec) -> tuple[tuple[str, str], ...]:
    """Return the names of further pairs: arms against another reference than the first arm."""
    first = spec.arms[0].name
    return tuple((arm.parent, arm.name) for arm in spec.arms if arm.parent not in (None, first))


def claim_alpha(spec: StudySpec) -> float:
    """Return the error rate of each claim, such that all intervals hold simultaneously."""
    return claims_alpha(spec) / (len(claimed_pairs(spec)) + len(step_pairs(spec)))
