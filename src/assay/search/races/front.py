"""FrontRace: survey, gauge, search, confirm a few points of a front in several objectives."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import cached_property

from assay.records import Arm, Claim, FrontExclusion, Outcome, Sample, Stage, StudySpec, Verdict
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
from assay.search.history.looks import is_look_due
from assay.search.history.objective_view import ObjectiveView, with_single_objective
from assay.search.history.remaining_budget import CONFIRMATION_RESERVE, Cost, RemainingBudget
from assay.search.model.searcher import Searcher
from assay.search.races.front_search import FrontSearch, ModelFrontSearch, RacingFrontSearch
from assay.search.races.race import (
    MAX_BLOCKS_WITHOUT_VALUE,
    BlockPlan,
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
"""More are not confirmed: each takes a launch in every block, and a level for each other."""
CONFIRM_SHARE = 0.4
"""So many points are planned for that their least confirmation takes no more of the budget."""


class FrontRace(SearchRace):
    """The race behind ``assay tune`` with several objectives.

    It looks at the default, and decides between racing and a model, as ``TuneRace`` does. Then the
    points that seem to make up the front run in the same blocks as the default, until each is
    decided in each objective.

    Args:
        spec: of the study; names its objectives.
        space: the study's space, bound to the machine.
        searcher: proposes where there are too many configurations to try all.

    Raises:
        InvalidInputError: the study asks for what is decided by one objective.
    """

    def __init__(self, spec: StudySpec, space: SearchSpace, searcher: Searcher) -> None:
        check_single_objective(spec)
        super().__init__(spec, space, searcher)
        by_one = [with_single_objective(spec, metric) for metric in spec.targets]
        others = [ObjectiveView(one, History.of(one)) for one in by_one[1:]]
        self.facets: tuple[ObjectiveView, ...] = (ObjectiveView(by_one[0], self._history), *others)
        self._search: FrontSearch | None = None

    def tell(self, sample: Sample) -> None:
        """See ``Race.tell``."""
        for facet in self.facets[1:]:
            facet.history.add(sample)
        super().tell(sample)

    def _searched(self, purse: RemainingBudget) -> Sequence[Arm] | None:
        return self._chosen_search().roster(self.facets, purse)

    def _lost(self, stage: Stage, arm: Arm) -> bool:
        """Whether an arm lacks a value of any objective in the newest blocks of a stage."""
        found = [
            facet.history.newest(stage, arm.name, MAX_BLOCKS_WITHOUT_VALUE) for facet in self.facets
        ]
        together = list(zip(*found, strict=True))
        return len(together) == MAX_BLOCKS_WITHOUT_VALUE and all(
            None in values for values in together
        )

    # --- searching ---

    def _chosen_search(self) -> FrontSearch:
        """All configurations if each gets its launches, else a model; set by the gauge alone."""
        if self._search is None:
            every = self._space.enumerate(self._affordable_configurations())
            keeping = self._keeping()
            if every is not None:
                self._search = RacingFrontSearch(every, self._space, keeping)
            else:
                # Each remembers the model of its own objective.
                searchers = [copy(self._searcher) for _ in self.facets]
                self._search = ModelFrontSearch(self._space, searchers, self._spec.seed, keeping)
        return self._search

    def _keeping(self) -> ReservedBudget:
        points = self._planned_points()
        arms = 1 + self._spec.null + points
        return ReservedBudget(self._spec.margin, arms, self._least_for(points))

    def _planned_points(self) -> int:
        """How many points the budget lets be confirmed, if each takes what the default takes."""
        budget = self._spec.budget
        for points in range(MAX_POINTS, 1, -1):
            arms = 1 + self._spec.null + points
            proof = Cost(self._gauge_s() * arms, arms).times(
                CONFIRMATION_RESERVE * self._least_for(points)
            )
            if (budget.time_s is None or proof.time_s <= CONFIRM_SHARE * budget.time_s) and (
                budget.launches is None or proof.launches <= CONFIRM_SHARE * budget.launches
            ):
                return points
        return 1

    def _incumbent_cap_s(self) -> float | None:
        """What is slow may be the best in something else: only what hangs is stopped."""
        usual = self._history.successful_wall_s(DEFAULT_ARM.name)
        return None if usual is None else usual * HANG_TIMEOUT_FACTOR + TIMEOUT_SLACK_S

    @cached_property
    def candidates(self) -> list[Arm]:
        """The front as far as the search knows it, those first that are to be confirmed rather."""
        return self._chosen_search().points(self.facets, MAX_POINTS)

    # --- confirming ---

    @property
    def _least(self) -> int:
        """Blocks that a study takes at least: to confirm one point."""
        return self._least_for(1)

    def _least_for(self, points: int) -> int:
        """Blocks below which no interval excludes anything where so many points are confirmed."""
        return max(MIN_BLOCKS, min_values(front_alpha(self._spec, points)))

    def _confirm(self, purse: RemainingBudget) -> BlockPlan | Ending:
        points = confirmed_points(self._history, NULL_ARM)
        if not points:
            return self._first_block(purse)
        blocks = len(self._history.blocks(Stage.CONFIRM))
        racing = [arm for arm in self._history.roster(Stage.CONFIRM) if arm in points]
        if is_look_due(blocks):
            alpha = front_alpha(self._spec, len(points))
            racing = [arm for arm in racing if not self._leaves(arm, points, alpha)]
            over = self._over(racing, points, alpha, purse)
            if over is not None:
                return over
        arms = (*self._always, *racing)
        within = blocks < self._least_for(len(points))
        if not purse.spent and (within or purse.affords(self._history.cost(arms))):
            return BlockPlan(Stage.CONFIRM, arms)
        return Ending(EndReason.BUDGET, budget_ending(self._block_count))

    @property
    def _always(self) -> tuple[Arm, ...]:
        """Who is in every block of the confirmation."""
        return (DEFAULT_ARM, NULL_ARM) if self._spec.null else (DEFAULT_ARM,)

    @property
    def _block_count(self) -> str:
        return counted(self._history, "confirmation block")

    def _first_block(self, purse: RemainingBudget) -> BlockPlan | Ending:
        """As many of the candidates as the budget lets be confirmed (rule 14)."""
        if not self.candidates:
            return self._no_candidates(purse)
        for count in range(len(self.candidates), 0, -1):
            arms = (*self._always, *self.candidates[:count])
            proof = self._history.cost(arms).times(self._least_for(count))
            if not purse.spent and purse.affords(proof):
                return BlockPlan(Stage.CONFIRM, arms)
        return self._no_room(self._history.cost(arms))

    def _no_candidates(self, purse: RemainingBudget) -> BlockPlan | Ending:
        """Nothing to confirm; what is left to show is the noise floor, where it was asked for."""
        blocks = len(self._history.blocks(Stage.CONFIRM))
        if self._spec.null and blocks < self._least:
            return self._floor_block(blocks, purse)
        if not any(sample.outcome is Outcome.OK for sample in self._history.samples):
            return ending_without_success(self._history.samples)
        return Ending(EndReason.DECIDED, NO_BETTER_FRONT)

    def _floor_block(self, blocks: int, purse: RemainingBudget) -> BlockPlan | Ending:
        """One more of the default beside itself; the first only where all of them will fit."""
        cost = self._history.cost(self._always)
        if blocks == 0 and not purse.affords(cost.times(self._least)):
            return self._no_room(cost)
        if purse.spent:
            return Ending(EndReason.BUDGET, budget_ending(self._block_count))
        return BlockPlan(Stage.CONFIRM, self._always)

    def _claims(self, arm: Arm, alpha: float) -> list[Claim | None]:
        return claims_between(self.facets, (DEFAULT_ARM.name, arm.name), alpha)

    def _leaves(self, arm: Arm, points: Sequence[Arm], alpha: float) -> bool:
        """Whether further blocks of a point are of no use: it fails, is dominated or gains nothing.

        The intervals hold at every look, so that what is shown by now stays shown.
        """
        if self._lost(Stage.CONFIRM, arm):
            return True
        if len(self._history.complete(Stage.CONFIRM)) < self._least_for(len(points)):
            return False
        better = dominating_arm(self.facets, arm, points, alpha)
        return reason_off_front(self._claims(arm, alpha), better) in (
            FrontExclusion.DOMINATED,
            FrontExclusion.NO_GAIN,
        )

    def _over(
        self, racing: Sequence[Arm], points: Sequence[Arm], alpha: float, purse: RemainingBudget
    ) -> Ending | None:
        """The end of the confirmation, where its data bring it about."""
        told = self._block_count
        if not racing and all(self._lost(Stage.CONFIRM, arm) for arm in points):
            return Ending(EndReason.DECIDED, WINNER_WITHOUT_VALUE)
        if len(self._history.complete(Stage.CONFIRM)) < self._least_for(len(points)):
            return None
        arms = (*self._always, *racing)
        claims = [self._claims(arm, alpha) for arm in racing]
        pairs = [
            (facet, claim)
            for of_arm in claims
            for facet, claim in zip(self.facets, of_arm, strict=True)
        ]
        if all(self._is_told(facet, claim) for facet, claim in pairs):
            decided = are_all_decided(claim for _, claim in pairs)
            return Ending(
                EndReason.DECIDED, decided_ending(told) if decided else saturated_ending(told)
            )
        if all(
            self._is_told(facet, claim) or self._is_futile(facet, claim, purse, arms)
            for facet, claim in pairs
        ):
            return Ending(
                EndReason.BUDGET,
                front_undecided_ending(told),
            )
        return None

    def _is_told(self, facet: ObjectiveView, claim: Claim | None) -> bool:
        """Decided and told well enough, or past deciding."""
        if claim is None:
            return True
        values = [facet.history.values(Stage.CONFIRM, name) for name in (claim.a, claim.b)]
        if all(map(is_constant, values)):
            return True
        return claim.verdict is not Verdict.UNCLEAR and is_precise(claim)

    def _is_futile(
        self, facet: ObjectiveView, claim: Claim | None, purse: RemainingBudget, arms: Sequence[Arm]
    ) -> bool:
        """Whether not even a multiple of what is left would decide (see ``TuneRace``)."""
        if claim is None or claim.verdict is not Verdict.UNCLEAR:
            return False
        blocks = blocks_of_claim(facet.history, claim)
        a, b = (facet.history.observations(Stage.CONFIRM, n, blocks) for n in (claim.a, claim.b))
        found = effect(a, b, goal=facet.history.goal, alpha=claim.alpha)
        needed = blocks_needed(found, margin=self._spec.margin, doubt=1.0)
        if needed is None or needed <= claim.blocks:
            return False
        more = (needed - claim.blocks) / FUTILE_FACTOR
        return not purse.affords(self._history.cost(arms).times(more))
