"""Race of a tuning by several objectives: survey, gauge, search, confirmation of front points."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import cached_property

from assay.records import Arm, Claim, FrontExclusion, Sample, Stage, StudySpec, Verdict
from assay.search.claims.claims import (
    MIN_BLOCKS,
    are_all_decided,
    blocks_of_claim,
    is_constant,
    is_precise,
)
from assay.search.claims.front_claims import (
    claims_between,
    confirmed_points,
    dominating_arm,
    front_alpha,
    reason_off_front,
)
from assay.search.history.counted import counted
from assay.search.history.history import DEFAULT_ARM, History
from assay.search.history.interim_analyses import is_analysis_due
from assay.search.history.objective_view import ObjectiveView, with_single_objective
from assay.search.history.remaining_budget import CONFIRMATION_RESERVE, Cost, RemainingBudget
from assay.search.model.searcher import Searcher
from assay.search.races.block_runner import BlockPlan
from assay.search.races.front_search import FrontSearch, ModelFrontSearch, RacingFrontSearch
from assay.search.races.race import (
    MAX_BLOCKS_WITHOUT_VALUE,
    Ending,
    EndReason,
    ending_without_success,
)
from assay.search.races.reserved_budget import ReservedBudget
from assay.search.races.search_race import (
    FUTILE_FACTOR,
    HANG_TIMEOUT_FACTOR,
    NULL_ARM,
    TIMEOUT_SLACK_S,
    SearchRace,
)
from assay.search.races.single_objective import check_single_objective
from assay.search.space.search_space import SearchSpace
from assay.stats.confidence_sequence import min_values
from assay.stats.paired import effect
from assay.stats.verdict import blocks_needed
from assay.wording.endings import (
    NO_BETTER_FRONT,
    WINNER_WITHOUT_VALUE,
    budget_ending,
    decided_ending,
    front_undecided_ending,
    saturated_ending,
)

MAX_POINTS = 4
"""Largest number of confirmed points: each takes launches and a share of the error rate."""
CONFIRM_SHARE = 0.4
"""Largest share of the budget for the smallest confirmation of the planned points."""


class FrontRace(SearchRace):
    """Race of ``assay tune`` with several objectives.

    It measures the default and chooses between racing and a model, as ``TuneRace`` does. Then the
    candidate points of the Pareto front run in the same blocks as the default, until each is
    decided in each objective.

    Args:
        spec: specification of the study with its objectives.
        space: space of the study, bound to the machine.
        searcher: proposes configurations where they are too many to try all.

    Raises:
        InvalidInputError: an option is set that is valid for a single objective only.
    """

    def __init__(self, spec: StudySpec, space: SearchSpace, searcher: Searcher) -> None:
        check_single_objective(spec)
        super().__init__(spec, space, searcher)
        by_one = [with_single_objective(spec, metric) for metric in spec.targets]
        others = [ObjectiveView(one, History.of(one)) for one in by_one[1:]]
        self.objectives: tuple[ObjectiveView, ...] = (
            ObjectiveView(by_one[0], self._history),
            *others,
        )
        self._search: FrontSearch | None = None

    def tell(self, sample: Sample) -> None:
        """See ``Race.tell``."""
        for view in self.objectives[1:]:
            view.history.add(sample)
        super().tell(sample)

    def _searched(self, budget: RemainingBudget) -> Sequence[Arm] | None:
        return self._chosen_search().next_arms(self.objectives, budget)

    def _lost(self, stage: Stage, arm: Arm) -> bool:
        """Return whether an arm lacks a value of any objective in the newest blocks of a stage."""
        found = [
            view.history.newest(stage, arm.name, MAX_BLOCKS_WITHOUT_VALUE)
            for view in self.objectives
        ]
        together = list(zip(*found, strict=True))
        return len(together) == MAX_BLOCKS_WITHOUT_VALUE and all(
            None in values for values in together
        )

    # --- searching ---

    def _chosen_search(self) -> FrontSearch:
        """Return racing if all configurations fit, else a model; the gauge alone decides."""
        if self._search is None:
            every = self._space.enumerate(self._affordable_configurations())
            reserve = self._reserve()
            if every is not None:
                self._search = RacingFrontSearch(every, self._space, reserve)
            else:
                # Each caches the model of its own objective.
                searchers = [copy(self._searcher) for _ in self.objectives]
                self._search = ModelFrontSearch(self._space, searchers, self._spec.seed, reserve)
        return self._search

    def _reserve(self) -> ReservedBudget:
        points = self._planned_points()
        arms = 1 + self._spec.null + points
        return ReservedBudget(self._spec.margin, arms, self._min_blocks_for(points))

    def _planned_points(self) -> int:
        """Return the number of points that the budget can confirm, by the time of the default."""
        budget = self._spec.budget
        for points in range(MAX_POINTS, 1, -1):
            arms = 1 + self._spec.null + points
            proof = Cost(self._gauge_s() * arms, arms).times(
                CONFIRMATION_RESERVE * self._min_blocks_for(points)
            )
            if (budget.time_s is None or proof.time_s <= CONFIRM_SHARE * budget.time_s) and (
                budget.launches is None or proof.launches <= CONFIRM_SHARE * budget.launches
            ):
                return points
        return 1

    def _incumbent_cap_s(self) -> float | None:
        """Return a limit for hanging launches only: a slow arm may be best in another objective."""
        usual = self._history.successful_wall_s(DEFAULT_ARM.name)
        return None if usual is None else usual * HANG_TIMEOUT_FACTOR + TIMEOUT_SLACK_S

    @cached_property
    def candidates(self) -> list[Arm]:
        """Pareto front of the search, in order of preference for the confirmation."""
        return self._chosen_search().points(self.objectives, MAX_POINTS)

    # --- confirming ---

    @property
    def _min_blocks(self) -> int:
        """Smallest number of confirmation blocks of a study: those of one point."""
        return self._min_blocks_for(1)

    def _min_blocks_for(self, points: int) -> int:
        """Return the smallest number of blocks with conclusive intervals for a number of points."""
        return max(MIN_BLOCKS, min_values(front_alpha(self._spec, points)))

    def _confirm(self, budget: RemainingBudget) -> BlockPlan | Ending:
        points = confirmed_points(self._history, NULL_ARM)
        if not points:
            return self._first_block(budget)
        blocks = len(self._history.blocks(Stage.CONFIRM))
        racing = [arm for arm in self._history.newest_arms(Stage.CONFIRM) if arm in points]
        if is_analysis_due(blocks):
            alpha = front_alpha(self._spec, len(points))
            racing = [arm for arm in racing if not self._is_finished(arm, points, alpha)]
            over = self._over(racing, points, alpha, budget)
            if over is not None:
                return over
        arms = (*self._always, *racing)
        within = blocks < self._min_blocks_for(len(points))
        if not budget.spent and (within or budget.affords(self._history.cost(arms))):
            return BlockPlan(Stage.CONFIRM, arms)
        return Ending(EndReason.BUDGET, budget_ending(self._block_count))

    @property
    def _always(self) -> tuple[Arm, ...]:
        """Arms of every confirmation block."""
        return (DEFAULT_ARM, NULL_ARM) if self._spec.null else (DEFAULT_ARM,)

    @property
    def _block_count(self) -> str:
        return counted(self._history, "confirmation block")

    def _first_block(self, budget: RemainingBudget) -> BlockPlan | Ending:
        """Return the first confirmation block, with as many candidates as fit (rule 10)."""
        if not self.candidates:
            return self._no_candidates(budget)
        for count in range(len(self.candidates), 0, -1):
            arms = (*self._always, *self.candidates[:count])
            proof = self._history.cost(arms).times(self._min_blocks_for(count))
            if not budget.spent and budget.affords(proof):
                return BlockPlan(Stage.CONFIRM, arms)
        return self._no_room(self._history.cost(arms))

    def _no_candidates(self, budget: RemainingBudget) -> BlockPlan | Ending:
        """Return a block for the noise floor if requested, else the end without candidates."""
        blocks = len(self._history.blocks(Stage.CONFIRM))
        if self._spec.null and blocks < self._min_blocks:
            return self._floor_block(blocks, budget)
        if not any(sample.outcome.succeeded for sample in self._history.samples):
            return ending_without_success(self._history.samples)
        return Ending(EndReason.DECIDED, NO_BETTER_FRONT)

    def _floor_block(self, blocks: int, budget: RemainingBudget) -> BlockPlan | Ending:
        """Return another block of the default and its repeat; the first only if all of them fit."""
        cost = self._history.cost(self._always)
        if blocks == 0 and not budget.affords(cost.times(self._min_blocks)):
            return self._no_room(cost)
        if budget.spent:
            return Ending(EndReason.BUDGET, budget_ending(self._block_count))
        return BlockPlan(Stage.CONFIRM, self._always)

    def _claims(self, arm: Arm, alpha: float) -> list[Claim | None]:
        return claims_between(self.objectives, (DEFAULT_ARM.name, arm.name), alpha)

    def _is_finished(self, arm: Arm, points: Sequence[Arm], alpha: float) -> bool:
        """Return whether a point needs no further blocks: it fails, is dominated, or gains nothing.

        The intervals hold at every interim analysis, so that a proven result remains proven.
        """
        if self._lost(Stage.CONFIRM, arm):
            return True
        if len(self._history.complete(Stage.CONFIRM)) < self._min_blocks_for(len(points)):
            return False
        better = dominating_arm(self.objectives, arm, points, alpha)
        return reason_off_front(self._claims(arm, alpha), better) in (
            FrontExclusion.DOMINATED,
            FrontExclusion.NO_GAIN,
        )

    def _over(
        self, racing: Sequence[Arm], points: Sequence[Arm], alpha: float, budget: RemainingBudget
    ) -> Ending | None:
        """Return the end of the confirmation if its data decide it."""
        blocks = self._block_count
        if not racing and all(self._lost(Stage.CONFIRM, arm) for arm in points):
            return Ending(EndReason.DECIDED, WINNER_WITHOUT_VALUE)
        if len(self._history.complete(Stage.CONFIRM)) < self._min_blocks_for(len(points)):
            return None
        arms = (*self._always, *racing)
        claims = [self._claims(arm, alpha) for arm in racing]
        pairs = [
            (view, claim)
            for of_arm in claims
            for view, claim in zip(self.objectives, of_arm, strict=True)
        ]
        if all(self._is_settled(view, claim) for view, claim in pairs):
            decided = are_all_decided(claim for _, claim in pairs)
            return Ending(
                EndReason.DECIDED, decided_ending(blocks) if decided else saturated_ending(blocks)
            )
        if all(
            self._is_settled(view, claim) or self._is_futile(view, claim, budget, arms)
            for view, claim in pairs
        ):
            return Ending(
                EndReason.BUDGET,
                front_undecided_ending(blocks),
            )
        return None

    def _is_settled(self, view: ObjectiveView, claim: Claim | None) -> bool:
        """Return whether a claim is decided precisely enough, or cannot be decided."""
        if claim is None:
            return True
        values = [view.history.values(Stage.CONFIRM, name) for name in (claim.a, claim.b)]
        if all(map(is_constant, values)):
            return True
        return claim.verdict is not Verdict.UNCLEAR and is_precise(claim)

    def _is_futile(
        self, view: ObjectiveView, claim: Claim | None, budget: RemainingBudget, arms: Sequence[Arm]
    ) -> bool:
        """Return whether even a multiple of the remaining budget would not decide a claim."""
        if claim is None or claim.verdict is not Verdict.UNCLEAR:
            return False
        blocks = blocks_of_claim(view.history, claim)
        a, b = (view.history.observations(Stage.CONFIRM, n, blocks) for n in (claim.a, claim.b))
        found = effect(a, b, goal=view.history.goal, alpha=claim.alpha)
        needed = blocks_needed(found, margin=self._spec.margin, doubt=1.0)
        if needed is None or needed <= claim.blocks:
            return False
        more = (needed - claim.blocks) / FUTILE_FACTOR
        return not budget.affords(self._history.cost(arms).times(more))
