"""CompareRace: named arms, block by block, until each is decided against its rival.

The rival of an arm is the one that it is a step from, where it names one, and else the first.
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
from assay.search.history.failing_order import order_of_failures
from assay.search.history.looks import due
from assay.search.history.remaining_budget import RemainingBudget
from assay.search.races.race import (
    MAX_BLOCKS_WITHOUT_VALUE,
    BlockPlan,
    BlockRace,
    Ending,
    EndReason,
    workload_failure,
)
from assay.stats.sequence import least
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
    """The race behind ``assay compare``.

    Every arm runs once as a warm-up whose time is not used. With ``null`` the first arm runs a
    second time in each block, under another name.

    Args:
        spec: of the study; ``arms`` holds the baseline first.
    """

    def __init__(self, spec: StudySpec) -> None:
        super().__init__(spec, Stage.SURVEY)
        self._arms = compared_arms(spec)

    def _next(self, purse: RemainingBudget) -> BlockPlan | Ending:
        # Those of another boot are not looked at before their first block.
        cold = [arm for arm in self._history.costly.begins(self._arms) if not self._warm(arm)]
        looks = len(self._history.blocks(Stage.SURVEY))
        if cold and looks < MAX_ATTEMPTS and not (looks and purse.spent):
            return BlockPlan(Stage.SURVEY, tuple(cold))
        warming = self._warming(looks)
        if warming and not purse.spent:
            return BlockPlan(Stage.SURVEY, warming)
        # An arm that the budget left no warm-up for has not failed.
        able = [
            arm
            for arm in self._arms
            if arm not in cold or not self._history.blocks_run(Stage.SURVEY, arm.name)
        ]
        if self._arms[0] not in able:
            return self._first_failed(self._arms[:1])
        if not any(arm in self._compared for arm in able):
            if self._may_follow_order(self._arms[0], purse):
                return BlockPlan(Stage.SURVEY, self._arms[:1])
            return self._failed(self._compared)
        return self._compare(able, purse)

    @property
    def _compared(self) -> tuple[Arm, ...]:
        """The arms that the study is about: neither the first nor its second name."""
        return self._arms[2:] if self._spec.null else self._arms[1:]

    def _failed(self, arms: Sequence[Arm]) -> Ending:
        """The end where none of the arms that the study is about gave a value beside the first."""
        subject = ALL_BUT_FIRST if len(arms) > 1 else repr(arms[0].name)
        message = arm_ending(subject, self._gave_nothing(arms))
        return workload_failure(order_of_failures(self._history.samples) or message, arms)

    def _first_failed(self, arms: Sequence[Arm]) -> Ending:
        """Return the ending where the first arm gave no value.

        Args:
            arms: that failed.
        """
        predicate = self._gave_nothing(self._arms[:1])
        return workload_failure(arm_ending(repr(self._arms[0].name), predicate), arms)

    def _compare(self, able: list[Arm], purse: RemainingBudget) -> BlockPlan | Ending:
        """The next block of those that are not decided yet."""
        blocks = len(self._history.blocks(Stage.CONFIRM))
        if blocks == 0:
            small = self._too_small(able, purse)
            if small is not None:
                repeated = self._to_repeat(able, purse, len(able) * self._least)
                return BlockPlan(Stage.SURVEY, repeated) if repeated else small
        roster = self._roster(able, blocks)
        if not roster:
            return self._without_claim(purse) or Ending(EndReason.DECIDED, self._ending())
        if self._lost(Stage.CONFIRM, able[0]):
            return workload_failure(
                arm_ending(repr(able[0].name), repeated_failures(MAX_BLOCKS_WITHOUT_VALUE)),
                able[:1],
            )
        if not purse.spent and (blocks < self._least or purse.affords(self._history.cost(roster))):
            return BlockPlan(Stage.CONFIRM, roster)
        ended = Ending(EndReason.BUDGET, budget_ending(counted(self._history)))
        return self._without_claim(purse) or ended

    def _without_claim(self, purse: RemainingBudget) -> Ending | None:
        """The end of a comparison that holds nothing against anything; ``None`` of any other."""
        if any(self._claim(arm) is not None for arm in self._compared):
            return None
        lost = [
            arm for arm in self._arms if self._history.has_failed_block(Stage.CONFIRM, arm.name)
        ]
        late = all(s.outcome is Outcome.TIMED_OUT for s in self._history.samples)
        if not lost or late:
            return self._no_block(self._arms, purse)
        if self._arms[0] in lost and order_of_failures(self._history.samples) is None:
            return self._first_failed(lost)
        return self._failed([arm for arm in lost if arm in self._compared] or lost)

    def _ending(self) -> str:
        """Why nothing races any more."""
        told = counted(self._history)
        if are_all_decided(self._claim(arm) for arm in self._compared):
            steps = any(arm.against is not None for arm in self._compared)
            return comparisons_decided_ending(told, steps=steps)
        return saturated_ending(told)

    def _claim(self, arm: Arm) -> Claim | None:
        pair = (self._rival(arm).name, arm.name)
        return claim_between(self._spec, self._history, pair, claim_alpha(self._spec))

    def _rival(self, arm: Arm) -> Arm:
        """What an arm is held against: the first, too, where the one it names gives no values."""
        named = next((one for one in self._arms if one.name == arm.against), self._arms[0])
        works = self._warm(named) and not self._lost(Stage.CONFIRM, named)
        return named if works else self._arms[0]

    def _roster(self, able: list[Arm], blocks: int) -> tuple[Arm, ...]:
        """Those not decided yet and their rivals; the first's second name goes along."""
        if not is_look_due(blocks):
            return tuple(self._history.roster(Stage.CONFIRM))
        open_ = [arm for arm in able[1:] if arm not in self._compared or not self._decided(arm)]
        if not any(arm in self._compared for arm in open_):
            return ()
        wanted = {arm.name for arm in (*open_, *map(self._rival, open_))}
        return tuple(arm for arm in able if arm.name in wanted)

    @property
    def _least(self) -> int:
        """No interval excludes anything after fewer blocks, at the level that each arm has."""
        return min_blocks(self._spec)

    def _too_small(self, arms: list[Arm], purse: RemainingBudget) -> Ending | None:
        """The least blocks must fit (rule 14); the warm-up launches tell how long one takes."""
        if purse.affords(self._history.cost(arms).times(self._least)):
            return None
        return self._no_block(arms, purse)

    def _no_block(self, arms: Sequence[Arm], purse: RemainingBudget) -> Ending:
        """The end where the least blocks do not fit, with the budget that they take."""
        warmed = sum(self._warm(arm) for arm in self._arms)
        rest = self._history.cost(self._arms[warmed:], Stage.SURVEY)
        return self._refused(
            too_small_for_claim_ending(self._least),
            self._budget_for(purse, self._history.cost(arms), self._least, rest),
        )

    def _warm(self, arm: Arm) -> bool:
        return any(self._works(stage, arm) for stage in (Stage.SURVEY, Stage.CONFIRM))

    def _warming(self, looks: int) -> tuple[Arm, ...]:
        """The arms of another warm-up block, where more than one was asked for."""
        if self._history.blocks(Stage.CONFIRM) or looks >= (self._spec.warmup or 1):
            return ()
        return tuple(arm for arm in self._arms if self._warm(arm))

    def _decided(self, arm: Arm) -> bool:
        """Decided and told well enough, or past deciding."""
        found = self._claim(arm)
        if self._lost(Stage.CONFIRM, arm):
            return True
        if found is None:
            return len(self._history.complete(Stage.CONFIRM)) >= self._least
        pair = (self._rival(arm), arm)
        if all(is_constant(self._history.values(Stage.CONFIRM, one.name)) for one in pair):
            return True
        if self._requires(arm):
            return False
        if found.withheld and found.objection is not None:  # further blocks keep that
            if may_be_by_chance(found, self._history):
                return False
            return len(self._history.complete(Stage.CONFIRM)) >= self._least
        if found.verdict is Verdict.UNCLEAR or not is_precise(found):
            return False
        return not needs_more_blocks(self._spec.gate, found)

    def _requires(self, arm: Arm) -> bool:
        """Whether it is unclear yet if an arm keeps what is required, or if the first does."""
        return is_undecided(self._spec, self._history, (self._rival(arm), arm))


def min_blocks(spec: StudySpec) -> int:
    """Blocks below which no interval of a comparison excludes anything."""
    return max(MIN_BLOCKS, least(claim_alpha(spec)), min_requirement_blocks(spec))


def compared_arms(spec: StudySpec) -> tuple[Arm, ...]:
    """The arms of a comparison, with the second name of the first where ``null`` asks for it."""
    if not spec.null:
        return spec.arms
    first, *others = spec.arms
    return (first, second_arm(first), *others)


def second_arm(arm: Arm) -> Arm:
    """An arm that runs twice, under its second name."""
    return Arm(name=null_name(arm.name), configuration=arm.configuration)


def null_name(name: str) -> str:
    """The second name of an arm that runs twice."""
    return f"{name} (again)"


def claimed_pairs(spec: StudySpec) -> tuple[tuple[str, str], ...]:
    """Names of the pairs that a comparison claims something on: all against the first."""
    first, *others = compared_arms(spec)
    return tuple((first.name, arm.name) for arm in others)


def step_pairs(spec: StudySpec) -> tuple[tuple[str, str], ...]:
    """Names of the pairs that are claimed on beside: steps from another arm than the first."""
    first = spec.arms[0].name
    return tuple((arm.against, arm.name) for arm in spec.arms if arm.against not in (None, first))


def claim_alpha(spec: StudySpec) -> float:
    """Error rate of each claim of a comparison: shared out, so that all intervals hold together."""
    return claims_alpha(spec) / (len(claimed_pairs(spec)) + len(step_pairs(spec)))
