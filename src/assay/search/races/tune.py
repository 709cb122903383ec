"""Race of a tuning: survey, gauge, search, reduction, confirmation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from assay.records import (
    Arm,
    Claim,
    Outcome,
    RequirementVerdict,
    Stage,
    StudySpec,
    Verdict,
)
from assay.records.requirement import overall_verdict
from assay.search.claims.claims import is_precise
from assay.search.claims.planned_analysis import planned_blocks
from assay.search.claims.proof import blocks_at_any_analysis, proof_cost
from assay.search.claims.reliability import may_be_by_chance
from assay.search.claims.requirement import requirement_results
from assay.search.history.counted import counted
from assay.search.history.history import DEFAULT_ARM
from assay.search.history.interim_analyses import is_analysis_due
from assay.search.history.remaining_budget import Cost, RemainingBudget, sufficient_budget
from assay.search.model.candidate import Candidate, all_trials, best_candidate
from assay.search.model.feasibility import is_default_infeasible
from assay.search.model.searcher import Searcher, estimates, launch_noise
from assay.search.model.trials import trials_of
from assay.search.races.block_runner import BlockPlan
from assay.search.races.confirmation import (
    ConfirmedArms,
    claim_alpha,
    claim_on,
    claims_on,
    count_winners,
    min_blocks,
    recommended_arm,
    with_core,
)
from assay.search.races.futility import (
    is_claim_futile,
    is_requirement_futile,
    undecided_requirements,
)
from assay.search.races.incumbent_timeout import incumbent_timeout_s
from assay.search.races.promoted import PromotedStrategy
from assay.search.races.race import Ending, EndReason, ending_without_success
from assay.search.races.reduction import ReducedWinner, Reduction
from assay.search.races.reserved_budget import ReservedBudget
from assay.search.races.screening import Screening
from assay.search.races.search_race import (
    NULL_ARM,
    SearchRace,
)
from assay.search.races.strategy import SMALL_BUDGET, ModelStrategy, RacingStrategy, Strategy
from assay.search.races.violating import best_violating_arm
from assay.search.space.search_space import SearchSpace
from assay.wording.endings import (
    NO_BETTER_CONFIGURATION,
    NO_BETTER_THAT_MEETS_REQUIREMENTS,
    NO_CONFIGURATION_MEETS_REQUIREMENTS,
    NO_PAIRED_BLOCK,
    OBJECTION_REMAINS,
    SHORTER_LAUNCHES,
    WINNER_NOT_BETTER,
    WINNER_WITHOUT_VALUE,
    budget_ending,
    decided_ending,
    no_proof_ending,
    only_default_ran_ending,
    requirement_broken_ending,
    requirement_undecided_ending,
    searched_budget_ending,
    undecided_ending,
)

LONG_LAUNCH_S = 10.0
"""Time of a launch beyond which reported values shorten a study."""
MIN_ANSWER_LAUNCHES = 8
"""Smallest number of launches of an answer: fewer can only show a large gain."""


class TuneRace(SearchRace):
    """Race of ``assay tune``.

    Args:
        spec: specification of the study.
        space: space of the study, bound to the machine.
        searcher: proposes configurations where they are too many to try all.
    """

    def __init__(self, spec: StudySpec, space: SearchSpace, searcher: Searcher) -> None:
        super().__init__(spec, space, searcher)
        self._strategy: Strategy | None = None
        self._reduction: Reduction | None = None
        self._proving = False
        fidelity = spec.fidelity
        self._screening = (
            Screening(spec, fidelity, space, searcher, self._reserve, self._end_rules)
            if fidelity is not None
            else None
        )

    def use_rest(self) -> None:
        """See ``BlockRace.use_rest``; a proof precedes further search."""
        super().use_rest()
        self._proving = True

    def _measure_default(self, stage: Stage, budget: RemainingBudget) -> BlockPlan | Ending | None:
        """Measure the default as every search does, and continue with any budget.

        With few remaining launches the search blocks measure the default as well.
        """
        seen = self._history.observations(stage, DEFAULT_ARM.name)
        if stage is Stage.GAUGE and not seen:
            nothing = self._nothing_to_try()
            small = not budget.affords(Cost(self._gauge_s(), 1).times(SMALL_BUDGET))
            if nothing is not None or (small and not self._needs_whole_launch):
                return nothing
        if any(o is not None for o in seen):
            return None if stage is Stage.SURVEY else self._nothing_to_try()
        return super()._measure_default(stage, budget)

    @property
    def _needs_whole_launch(self) -> bool:
        """True if the cost of low fidelities has no whole launch to be compared with."""
        if self._screening is None or self._spec.until is not None:
            return False
        samples = self._history.launches_of(DEFAULT_ARM.name)
        return not any(sample.outcome is Outcome.OK for sample in samples)

    def _screened(self, budget: RemainingBudget) -> BlockPlan | None:
        if self._screening is None:
            return None
        self._history.parallel_launches = self._width
        return self._screening.next_block(self._history, budget)

    def _searched(self, budget: RemainingBudget) -> Sequence[Arm] | None:
        strategy = self._chosen_strategy()
        if self._proving:
            strategy.prove()
        return strategy.next_arms(self._history, budget)

    def _reducing(self, budget: RemainingBudget) -> Sequence[Arm] | None:
        if self.winner == DEFAULT_ARM:
            return None
        return self._chosen_reduction().next_arms(self._history, budget)

    def _chosen_strategy(self) -> Strategy:
        """Return racing if all configurations fit, else a model; the gauge alone decides.

        After a screening at low fidelity, the promoted configurations race.
        """
        if self._strategy is None and self._screening is not None:
            self._history.parallel_launches = self._width
            if self._screening.was_used(self._history):
                model = ModelStrategy(self._space, self._searcher, self._spec.seed, self._reserve)
                self._strategy = PromotedStrategy(self._screening, model, self._reserve)
        if self._strategy is None:
            self._history.parallel_launches = self._width
            most = self._affordable_configurations()
            every = self._space.enumerate(most)
            self._strategy = (
                RacingStrategy(every, self._reserve)
                if every is not None
                else ModelStrategy(self._space, self._searcher, self._spec.seed, self._reserve)
            )
        return self._strategy

    @property
    def _reserve(self) -> ReservedBudget:
        """Budget of the confirmation; that of a requirement contains the winner alone."""
        spec = self._spec
        core_blocks = None if spec.requirements else min_blocks(spec, winners=2)
        unplanned = spec.until is not None and spec.until.is_auto
        alpha = claim_alpha(spec) if unplanned else None
        return ReservedBudget(spec.margin, 2 + spec.null, min_blocks(spec), core_blocks, alpha)

    @property
    def guided(self) -> bool:
        """True if a model chose the configurations, with results of earlier studies if any.

        It is valid only after the search has begun.
        """
        return isinstance(self._chosen_strategy(), ModelStrategy)

    @cached_property
    def winner(self) -> Arm:
        """Winner of the search; valid only after its end.

        Once the winner has run again, its launches define it: a model may differ in a last digit on
        another machine.
        """
        reducing = self._history.arms(Stage.REDUCE)
        if reducing:  # all other arms lack some of its settings
            return max(reducing, key=lambda arm: len(arm.configuration))
        if running := self._being_confirmed():
            return running.whole
        return self._chosen_strategy().winner(self._history)

    @cached_property
    def reduced(self) -> ReducedWinner:
        """Winner without settings that have no effect; valid only after the reduction."""
        if self.winner == DEFAULT_ARM:
            return ReducedWinner(DEFAULT_ARM)
        found = self._chosen_reduction().result(self._history)
        running = self._being_confirmed()
        return found if running is None else ReducedWinner(running.whole, found.note)

    def _being_confirmed(self) -> ConfirmedArms | None:
        """Return the arms of the confirmation, if it has begun."""
        return ConfirmedArms.among(self._history.newest_arms(Stage.CONFIRM))

    def _chosen_reduction(self) -> Reduction:
        if self._reduction is None:
            self._reduction = Reduction(self.winner, self._space, self._reserve)
        return self._reduction

    def _confirm_arms(self, *winners: Arm) -> tuple[Arm, ...]:
        return (DEFAULT_ARM, *((NULL_ARM,) if self._spec.null else ()), *winners)

    def _confirm(self, budget: RemainingBudget) -> BlockPlan | Ending:
        whole = self.reduced.arm
        if whole == DEFAULT_ARM:
            return self._keep_default(budget)
        running = self._being_confirmed() or self._to_confirm(whole, budget)
        arms = self._confirm_arms(*running.arms)
        blocks = len(self._history.blocks(Stage.CONFIRM))
        if is_analysis_due(blocks):
            arm = self._recommended(running)
            over = self._decided(arm, arms, budget)
            if over is not None:
                return over
        return self._confirmation_block(arms, blocks, budget)

    def _recommended(self, running: ConfirmedArms) -> Arm:
        claims = claims_on(self._spec, self._history, running)
        return recommended_arm(self._spec, self._history, running, claims)

    def _to_confirm(self, whole: Arm, budget: RemainingBudget) -> ConfirmedArms:
        """Return a winner, with its core if a proof of both is affordable."""
        alone, reserve = ConfirmedArms(whole), self._reserve
        if reserve.core_blocks is None or not self.guided:
            return alone
        trials = all_trials(self._history)
        both = with_core(self._searcher, self._space, trials, whole, self._spec.margin)
        if both.core is None:
            return alone
        gain = estimates(self._searcher, self._space, trials, [whole.configuration])[0].mean
        proof = reserve.proof(self._history, both.arms, gain, launch_noise(trials))
        return both if budget.affords(proof) else alone

    def _keep_default(self, budget: RemainingBudget) -> BlockPlan | Ending:
        """Return the end without a winner; before, blocks for noise floor and requirements."""
        blocks = len(self._history.blocks(Stage.CONFIRM))
        tried = [arm for arm in self._history.arms(Stage.SEARCH) if arm != DEFAULT_ARM]
        if (self._spec.null or self._spec.requirements) and blocks < self._min_blocks:
            following = self._confirmation_block(self._confirm_arms(), blocks, budget)
            if tried or isinstance(following, BlockPlan):
                return following
        if not any(sample.outcome.succeeded for sample in self._history.samples):
            return ending_without_success(self._history.samples)
        if self.winner == DEFAULT_ARM and is_default_infeasible(trials_of(self._history)):
            return Ending(EndReason.DECIDED, NO_CONFIGURATION_MEETS_REQUIREMENTS)
        if not tried:
            return self._nothing_tried()
        if self.winner == DEFAULT_ARM:
            return self._nothing_better(len(tried), budget)
        return Ending(EndReason.DECIDED, WINNER_NOT_BETTER)

    def _nothing_better(self, tried: int, budget: RemainingBudget) -> Ending:
        """Return the end of a search without a better arm.

        Args:
            tried: number of configurations besides the default.
            budget: remaining budget.
        """
        if budget.affords(self._history.cost([DEFAULT_ARM], Stage.SEARCH)):
            violating = best_violating_arm(self._spec, self._history)
            return Ending(
                EndReason.DECIDED,
                NO_BETTER_CONFIGURATION if violating is None else NO_BETTER_THAT_MEETS_REQUIREMENTS,
            )
        needed = None
        if len(self._history.samples) < MIN_ANSWER_LAUNCHES * self._repeats:
            each = Cost(self._gauge_s(), 1).times(MIN_ANSWER_LAUNCHES * self._repeats)
            needed = sufficient_budget(self._with_builds(each))
        return Ending(
            EndReason.BUDGET,
            self._with_next_step(searched_budget_ending(tried)),
            needed,
        )

    def _nothing_tried(self) -> Ending:
        """Return the end of a study whose budget had room for the default alone."""
        each = Cost(self._gauge_s(), 1).times(MIN_ANSWER_LAUNCHES * self._repeats)
        needed = sufficient_budget(self._with_builds(each))
        return Ending(
            EndReason.BUDGET,
            self._with_next_step(only_default_ran_ending(self._spec.budget, needed)),
            needed,
        )

    def _with_next_step(self, ending: str) -> str:
        """Return the end of a short search with advice for a program whose launches are long."""
        long = self._gauge_s() > LONG_LAUNCH_S and self._spec.workload.steady_metric is None
        return f"{ending} {SHORTER_LAUNCHES}" if long else ending

    def _decided(self, arm: Arm, arms: tuple[Arm, ...], budget: RemainingBudget) -> Ending | None:
        """Return the end of the confirmation if its data decide it.

        Args:
            arm: arm to recommend.
            arms: arms of a block.
            budget: remaining budget.
        """
        if self._lost(Stage.CONFIRM, arm):
            return Ending(EndReason.DECIDED, WINNER_WITHOUT_VALUE)
        found = self.confirmation(arm)
        ran = self._history.count_complete(Stage.CONFIRM)
        if found is None and ran >= self._min_blocks:
            return Ending(EndReason.DECIDED, NO_PAIRED_BLOCK)
        if found is None:
            return None
        required = requirement_results(self._spec, self._history, (DEFAULT_ARM, arm))
        if overall_verdict(required, arm.name) is RequirementVerdict.BROKEN:
            return Ending(
                EndReason.DECIDED,
                requirement_broken_ending(self._counted(found)),
            )
        open_ones = undecided_requirements(required, found)
        decided = found.verdict is not Verdict.UNCLEAR and (
            found.single_analysis or is_precise(found)
        )
        if decided and not open_ones:
            return Ending(EndReason.DECIDED, decided_ending(self._counted(found)))
        objected = found.verdict_withheld and found.data_problem is not None
        objected = objected and not may_be_by_chance(found, self._history)
        if objected and not open_ones and ran >= self._min_blocks:
            return Ending(EndReason.DECIDED, OBJECTION_REMAINS)
        lost = [
            candidate
            for candidate in open_ones
            if is_requirement_futile(self._history, candidate, budget, arms, self._min_blocks)
        ]
        # Requirements of the default do not matter if the claim is a gain.
        if lost and (decided or any(candidate.arm == arm.name for candidate in lost)):
            return Ending(
                EndReason.BUDGET,
                requirement_undecided_ending(self._counted(found)),
            )
        if len(open_ones) > len(lost) or self._before_planned:
            return None
        if found.blocks >= self._min_blocks and is_claim_futile(
            self._spec, self._history, found, budget, arms
        ):
            return Ending(
                EndReason.BUDGET,
                undecided_ending(self._counted(found)),
            )
        return None

    def _confirmation_block(
        self, arms: tuple[Arm, ...], blocks: int, budget: RemainingBudget
    ) -> BlockPlan | Ending:
        """Return one more block; the first only if a claim fits (rule 10)."""
        cost, running = self._history.cost(arms), ConfirmedArms.among(arms)
        fewest = min_blocks(self._spec, count_winners(arms))
        if blocks == 0 and not budget.affords(cost.times(fewest)):
            return Ending(
                EndReason.BUDGET,
                no_proof_ending(fewest),
            )
        # Below the smallest number of blocks, an inexact estimate of cost ends nothing.
        if not budget.spent and (blocks < fewest or budget.affords(cost)):
            return BlockPlan(Stage.CONFIRM, arms)
        found = None
        if running is not None:
            found = self.confirmation(self._recommended(running))
        return Ending(EndReason.BUDGET, budget_ending(self._counted(found)))

    def _counted(self, found: Claim | None) -> str:
        """Return the number of blocks of a claim, as text."""
        return counted(self._history, "confirmation block", found)

    @property
    def _alpha(self) -> float:
        return claim_alpha(self._spec, count_winners(self._history.newest_arms(Stage.CONFIRM)))

    @property
    def _min_blocks(self) -> int:
        """See ``SearchRace._min_blocks``."""
        return min_blocks(self._spec, count_winners(self._history.newest_arms(Stage.CONFIRM)))

    @property
    def _before_planned(self) -> bool:
        """True if the planned analysis, the most powerful one, is still to come."""
        planned = planned_blocks(self._spec, self._history, self._alpha)
        return planned is not None and self._history.count_complete(Stage.CONFIRM) < planned

    @property
    def candidate(self) -> Candidate:
        """Configuration that is expected to be best by all launches so far.

        During the confirmation it is a confirmed one, except those proven not to gain.
        """
        running = self._being_confirmed()
        trials = all_trials(self._history)
        if running is not None:
            claims = claims_on(self._spec, self._history, running)
            useless = {a for a, c in claims.items() if c.verdict in (Verdict.SAME, Verdict.SLOWER)}
            among = [arm.configuration for arm in running.arms if arm not in useless]
        else:
            every = self._history.arms(Stage.SEARCH)
            lost = {a for a in every if self._history.has_failed_block(Stage.SEARCH, a.name)}
            among = [a.configuration for a in every if a not in lost]
        return best_candidate(self._searcher, self._space, trials, self._spec.margin, among)

    def proof(self, candidate: Candidate) -> Cost:
        """Return the expected remaining cost of a proof of a candidate."""
        noise = launch_noise(all_trials(self._history))
        blocks = blocks_at_any_analysis(
            candidate.estimate.mean, noise, self._min_blocks, self._alpha
        )
        blocks -= len(self._history.undisturbed_blocks(Stage.CONFIRM))
        running = self._being_confirmed() or ConfirmedArms(candidate.arm)
        arms = self._confirm_arms(*running.arms)
        return proof_cost(self._history, arms, max(blocks, 1))

    def confirmation(self, arm: Arm) -> Claim | None:
        """Return the claim on an arm from the confirmation blocks alone."""
        return claim_on(self._spec, self._history, arm)

    def _incumbent_cap_s(self) -> float | None:
        return incumbent_timeout_s(self._spec, self._history)
