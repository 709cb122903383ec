"""Strategy: the configurations of the next search block, and the winner.

No claim rests on a search block; its data only select the arms of reduction and confirmation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from assay.records import DEFAULT, Arm, Configuration, Stage
from assay.search.claims.proof import displaced_launches, is_last_chance, prefers_proof
from assay.search.history.history import DEFAULT_ARM, History, arm_of
from assay.search.history.interim_analyses import is_analysis_due
from assay.search.history.remaining_budget import NO_COST, Cost, RemainingBudget
from assay.search.model.candidate import Candidate, best_candidate
from assay.search.model.exclusions import admitted_space, is_excluded
from assay.search.model.feasibility import (
    CONFIRMATION_PROBABILITY,
    Feasibility,
    any_violation,
    feasible_configurations,
    infeasible_configurations,
    is_default_infeasible,
)
from assay.search.model.features import Features
from assay.search.model.negligible import is_negligible
from assay.search.model.options import SMALL_BATCH
from assay.search.model.searcher import (
    Searcher,
    Trial,
    launch_noise,
    launched_configurations,
    non_default_configurations,
)
from assay.search.model.trials import trials_of
from assay.search.races.block_seed import block_seed
from assay.search.races.confirmation import with_core
from assay.search.races.reserved_budget import ReservedBudget
from assay.search.space.search_space import SearchSpace
from assay.stats.elimination import all_within_margin, eliminated_arms, leading_arm

if TYPE_CHECKING:
    from assay.stats.elimination import Matrix

PROOF_SHARE = 0.3
"""Share of the budget that a race of all configurations leaves for reduction and confirmation: each
configuration has had its launches, and more of them add little (docs/explanation/statistics.md,
rule 10)."""
MIN_SEARCH_BLOCKS = 3
"""Smallest number of launches of each configuration where all are tried."""
BATCH = 8
"""Proposals of a model-based block, besides the default, with a large budget."""
SMALL_BUDGET = 60
"""Number of launches below which a budget is small."""
DEFAULT_INTERVAL = 4
"""Blocks between two launches of the default, with a small budget. After 25 launches the regret is
0.75 of that with the default in every block (12 recorded spaces, 20 seeds)."""
CORE_LAUNCHES = 3
"""Last launches, which measure parts of the best configuration."""
MAX_TIMED_OUT = 400
"""Launches after which a search ends in which all launches timed out or failed."""
COMPARED_FROM = 200
"""Proposed configurations from which every second block compares the best known ones: the best of
many is often so by chance."""

NEGLIGIBLE_DEVIATIONS = 0.5
"""Largest expected loss, in posterior standard deviations, at which a setting is removed from
the winner without further launches."""
MIN_BLOCKS_BEFORE_END = 8
"""Search blocks before the model may end the search for lack of a possible gain."""
CONFIDENCE = 0.95
"""Probability that no gain is left, at which a search ends."""
REQUIREMENT_SHARE = 0.16
"""Share of the budget that a search leaves where the default violates a requirement."""
EXPECTED_QUANTILE = 0.5
"""Quantile of the possible gain that stands for its expectation."""
GAIN_DOUBT = 2.0
"""Factor by which the model widens the possible gain: the end of a search must be certain."""


def compares_known(trials: Sequence[Trial], block: int) -> bool:
    """Return whether a block compares the best known configurations instead of proposing new ones.

    Args:
        trials: launches of the search so far.
        block: number of the block.
    """
    return block % 2 == 1 and len(non_default_configurations(trials)) >= COMPARED_FROM


class Strategy(Protocol):
    """Search of one kind.

    Its answers follow from the history, the budget, and ``prove``: a study that is resumed with
    more budget calls it again.
    """

    def next_arms(self, history: History, budget: RemainingBudget) -> list[Arm] | None:
        """Return the arms of the next block, or ``None`` at the end of the search."""
        ...

    def winner(self, history: History) -> Arm:
        """Return the best arm; the default if none is better."""
        ...

    def prove(self) -> None:
        """Prefer an affordable proof of the best known arm to further search."""
        ...


class RacingStrategy:
    """Race of all configurations in every block; it eliminates those proven worse.

    Args:
        configurations: all of them, the default first.
        reserve: the race ends when its leader is within the margin of this budget from the best.
    """

    def __init__(self, configurations: Sequence[Configuration], reserve: ReservedBudget) -> None:
        self._arms = [arm_of(c) for c in configurations]
        self._reserve = reserve

    def prove(self) -> None:
        """See ``Strategy.prove``; a race keeps the budget of the proof in any case."""

    def next_arms(self, history: History, budget: RemainingBudget) -> list[Arm] | None:
        """See ``Strategy.next_arms``."""
        blocks = len(history.blocks(Stage.SEARCH))
        if blocks == 0:
            return None if budget.spent else self._arms
        racing = remaining_arms(history)
        if racing == [DEFAULT_ARM]:
            return None
        if blocks >= MIN_SEARCH_BLOCKS and is_settled(history, racing, self._reserve.margin):
            return None
        return racing if self._reserve.affords(history, racing, budget, PROOF_SHARE) else None

    def winner(self, history: History) -> Arm:
        """See ``Strategy.winner``; only arms that meet the requirements count."""
        if not history.blocks(Stage.SEARCH):
            return DEFAULT_ARM
        racing = remaining_arms(history)
        if not history.slacks.require:
            return best_arm(history, racing)
        trials = trials_of(history)
        kept = feasible_configurations(trials)
        return best_arm(history, [arm for arm in racing if arm.configuration in kept])


class ModelStrategy:
    """Search by a model; a block is the default and a batch of proposals.

    Once enough configurations are known, launches go to those that may be the best. The winner is
    the best arm by the model, without settings that it expects to have no effect; the confirmation
    verifies that.
    """

    def __init__(
        self, space: SearchSpace, searcher: Searcher, seed: int, reserve: ReservedBudget
    ) -> None:
        self._space = space
        self._searcher = searcher
        self._seed = seed
        self._reserve = reserve
        # A cache: a new strategy gives the same answers.
        self._newest: tuple[list[Trial], Candidate] | None = None
        self._proving = False

    def prove(self) -> None:
        """See ``Strategy.prove``."""
        self._proving = True

    def next_arms(self, history: History, budget: RemainingBudget) -> list[Arm] | None:
        """See ``Strategy.next_arms``."""
        if budget.spent:
            return None
        trials = trials_of(history)
        if len(trials) >= MAX_TIMED_OUT and all(t.censored or t.value is None for t in trials):
            return None
        count = self._batch(history, budget)
        space = admitted_space(history, self._space)
        seed = self._block_seed(history)
        following = self._batch_cost(history, count)
        if count and self._wants_proof(history, space, trials, following, budget, seed):
            return None
        if not count:
            return self._single(history, space, trials, budget, seed)
        if self._is_exhausted(history, space, trials, seed):
            return None
        chosen: list[Configuration] = []
        if not compares_known(trials, len(history.blocks(Stage.SEARCH))):
            chosen = self._searcher.propose(space, trials, count, seed)
        if not chosen:
            chosen = self._searcher.verify(space, trials, count, seed)
        first = [DEFAULT_ARM] if self._times_default(history, budget) else []
        return self._fitting(history, [*first, *map(arm_of, chosen)], budget)

    def _batch(self, history: History, budget: RemainingBudget) -> int:
        """Return the proposals of the next block; 0 if none fits besides the default."""
        if self._is_small(history, budget):
            return self._small_batch(history, budget)
        last = NO_COST
        if history.parallel_launches == 1:
            last = history.cost([DEFAULT_ARM], Stage.SEARCH).times(CORE_LAUNCHES)
        return self._affordable_batch(history, budget, BATCH, last)

    def _small_batch(self, history: History, budget: RemainingBudget) -> int:
        """Return the batch of a small budget, whose last launches are single."""
        count = self._affordable_batch(history, budget, SMALL_BATCH)
        if history.parallel_launches > 1 or not count or not history.blocks(Stage.SEARCH):
            return count
        if not budget.affords(self._batch_cost(history, SMALL_BATCH)):
            return 0
        few = not budget.affords(self._batch_cost(history, SMALL_BATCH + 3))
        return min(count, SMALL_BATCH - 2) if few else count

    def _affordable_batch(
        self, history: History, budget: RemainingBudget, max_arms: int, last: Cost = NO_COST
    ) -> int:
        """Return the largest batch that fits, with the launches after it."""
        count = max(max_arms, history.parallel_launches - 1)
        while count and not budget.affords(self._batch_cost(history, count), min_cost=last):
            count -= 1
        return count

    def _times_default(self, history: History, budget: RemainingBudget) -> bool:
        """Return whether the next search block contains the default."""
        if history.parallel_launches > 1 or not self._is_small(history, budget):
            return True
        return len(history.blocks(Stage.SEARCH)) % DEFAULT_INTERVAL == 0

    def _is_small(self, history: History, budget: RemainingBudget) -> bool:
        """Return whether the whole budget has room for few launches of the default."""
        each = history.cost([DEFAULT_ARM], Stage.SEARCH)
        whole = budget.total.launches or math.inf
        if budget.total.time_s is not None:
            whole = min(
                whole, history.parallel_launches * budget.total.time_s / max(each.time_s, 1e-9)
            )
        return whole < SMALL_BUDGET * each.launches

    def _single(
        self,
        history: History,
        space: SearchSpace,
        trials: Sequence[Trial],
        budget: RemainingBudget,
        seed: int,
    ) -> list[Arm] | None:
        """Return one proposal without the default; finally the parts of the best configuration."""
        one = history.cost([DEFAULT_ARM], Stage.SEARCH)
        if not budget.affords(one):
            return None
        if trials and not _ran_twice(history, DEFAULT_ARM):
            return [DEFAULT_ARM]  # a cold first launch does not predict the time of others
        chosen: list[Configuration] = []
        if not budget.affords(one.times(CORE_LAUNCHES + 1)):
            chosen = self._searcher.core(space, trials)
        if not chosen:
            chosen = self._searcher.propose(space, trials, 1, seed)
        return self._fitting(history, [arm_of(c) for c in chosen], budget, min_arms=1)

    def _fitting(
        self, history: History, arms: list[Arm], budget: RemainingBudget, min_arms: int = 2
    ) -> list[Arm] | None:
        """Return the arms whose builds fit into the budget; ``None`` below ``min_arms``."""
        while (
            len(arms) >= min_arms
            and history.build_s
            and not budget.affords(history.cost(arms, Stage.SEARCH))
        ):
            arms = arms[:-1]
        return arms if len(arms) >= min_arms else None

    def _batch_cost(self, history: History, count: int) -> Cost:
        """Return the expected cost of a batch before its arms are known."""
        arms = [DEFAULT_ARM] * (1 + count)
        block = history.cost(arms, Stage.SEARCH)
        switching_s = history.hard_to_change.space_s(self._space, len(arms))
        built_s = count * history.build_s
        return Cost(block.time_s + switching_s, block.launches, block.once_s + built_s)

    def winner(self, history: History) -> Arm:
        """See ``Strategy.winner``; only arms that were launched and worked count."""
        trials = trials_of(history)
        best = self._best(trials)
        if best.arm == DEFAULT_ARM:
            return DEFAULT_ARM
        lean = self._without_negligible(trials, best.arm.configuration, best.estimate.mean)
        return arm_of(lean) if lean else DEFAULT_ARM

    def _best(self, trials: Sequence[Trial]) -> Candidate:
        if self._newest is None or self._newest[0] != trials:
            best = best_candidate(self._searcher, self._space, trials, self._reserve.margin)
            self._newest = list(trials), best
        return self._newest[1]

    def _without_negligible(
        self, trials: Sequence[Trial], winner: Configuration, gain: float
    ) -> Configuration:
        """Return a configuration without the settings that are expected to have no effect.

        Args:
            trials: all trials.
            winner: the configuration.
            gain: log ratio of the configuration to the default.
        """
        lean = winner
        while smaller := self._likely(trials, self._smaller(lean)):
            wanted = [{c: 1.0, winner: -1.0} for c in smaller]
            losses = self._searcher.contrasts(self._space, trials, wanted)
            least = min(range(len(losses)), key=lambda i: losses[i].mean)
            tolerance = math.log1p(self._reserve.margin)
            if not is_negligible(
                losses[least], gain, tolerance, NEGLIGIBLE_DEVIATIONS, len(trials)
            ):
                break
            lean = smaller[least]
        return lean

    def _smaller(self, configuration: Configuration) -> list[Configuration]:
        """Return the valid configurations with one setting less."""
        space = self._space
        found = [space.canonical(configuration.without(name)) for name in configuration]
        return [c for c in dict.fromkeys(found) if space.valid(c)]

    def _likely(
        self, trials: Sequence[Trial], configurations: list[Configuration]
    ) -> list[Configuration]:
        """Return the configurations that meet the requirements, launched or not."""
        if not configurations or not any_violation(trials):
            return configurations
        if is_default_infeasible(trials):
            configurations = [c for c in configurations if c != DEFAULT]
        kept, seen = feasible_configurations(trials), launched_configurations(trials)
        model = Feasibility(Features(self._space), trials)
        pairs = zip(
            configurations, model.likely(configurations, CONFIRMATION_PROBABILITY), strict=True
        )
        return [c for c, may in pairs if c in kept or (may and c not in seen)]

    def _is_exhausted(
        self, history: History, space: SearchSpace, trials: Sequence[Trial], seed: int
    ) -> bool:
        """Return whether no configuration is better than the best by more than the margin."""
        if len(history.blocks(Stage.SEARCH)) < MIN_BLOCKS_BEFORE_END:
            return False
        if any_violation(trials) and not feasible_configurations(trials):
            return False
        left = self._searcher.remaining_gain(space, trials, CONFIDENCE, seed)
        return left <= math.log1p(self._reserve.margin)

    def _wants_proof(
        self,
        history: History,
        space: SearchSpace,
        trials: Sequence[Trial],
        following: Cost,
        budget: RemainingBudget,
        seed: int,
    ) -> bool:
        """Return whether the remaining budget just suffices for a proof that should come now.

        That is a cheap one, or one that is worth more than search. If the budget has no room for
        it, the search uses all of it.

        Args:
            history, trials: launches so far.
            space: space of the admitted configurations.
            following: cost of the next search block.
            budget: remaining budget.
            seed: seed of the block.
        """
        if not history.blocks(Stage.SEARCH):
            return False
        if is_default_infeasible(trials):  # the proof is that of a requirement, not of a gain
            least = self._reserve.confirmation(history)
            return not budget.affords(following, keep=REQUIREMENT_SHARE, min_cost=least)
        if not budget.affords(self._reserve.least_proof(history)):
            return False
        best = self._best(trials)
        if best.arm == DEFAULT_ARM:
            return False
        noise = launch_noise(trials)
        gain = best.estimate.mean
        if not self._proving and budget.affords(
            following, min_cost=self._most(history, best, noise)
        ):
            return False  # without the models of its parts, which take longer than a proposal
        # The confirmed arm is the winner without negligible settings, which may need a build.
        arms = self._to_confirm(history, trials)
        proof = self._reserve.proof(history, arms, gain, noise)
        alone = self._reserve.proof(history, arms[:1], gain, noise)
        if self._proving and not budget.affords(proof.times(2.0)):
            # A core runs beside the winner only where both are affordable.
            return budget.affords(alone)
        if not is_last_chance(budget, proof, following):
            # Once the proof with a core does not fit any longer, that of the winner alone may.
            return self._reserve.keeps(budget, alone) and is_last_chance(budget, alone, following)
        if self._proving or self._reserve.keeps(budget, proof):
            return True
        if not math.isfinite(best.estimate.deviation):
            return True
        left = self._searcher.remaining_gain(space, trials, EXPECTED_QUANTILE, seed) / GAIN_DOUBT
        return prefers_proof(gain, left, len(trials), displaced_launches(budget, proof, following))

    def _most(self, history: History, best: Candidate, noise: float) -> Cost:
        """Return a cost above that of any proof of the best known configuration or its parts."""
        arms = (DEFAULT_ARM, best.arm)
        most = self._reserve.proof(history, arms, best.estimate.mean, noise).times(2.0)
        return Cost(most.time_s, most.launches, most.once_s + 2.0 * history.build_s)

    def _to_confirm(self, history: History, trials: Sequence[Trial]) -> tuple[Arm, ...]:
        """Return the winner, and its core if that would be confirmed as well."""
        winner = self.winner(history)
        if self._reserve.core_blocks is None:
            return (winner,)
        margin = self._reserve.margin
        return with_core(self._searcher, self._space, trials, winner, margin).arms

    def _block_seed(self, history: History) -> int:
        return block_seed(f"{self._seed}/{len(history.blocks(Stage.SEARCH))}")


def _ran_twice(history: History, arm: Arm) -> bool:
    """Return whether an arm has run after the survey, the first launch of all."""
    return any(history.observations(stage, arm.name) for stage in (Stage.GAUGE, Stage.SEARCH))


BATCH_ARMS = [DEFAULT_ARM] * (BATCH + 1)
"""Arms of a model-based block for an estimate of its cost: unknown arms count as the default."""


def remaining_arms(history: History) -> list[Arm]:
    """Return the arms of the newest search block without worse, failing and excluded ones.

    The default always remains: it shows the drift of the session.
    """
    arms = history.newest_arms(Stage.SEARCH)
    able = [a for a in arms if a == DEFAULT_ARM or _able(history, a)]
    if not is_analysis_due(len(history.blocks(Stage.SEARCH))):
        return able
    if history.slacks.require:
        trials = trials_of(history)
        few = len(history.blocks(Stage.SEARCH)) < MIN_SEARCH_BLOCKS
        lost = set() if few else infeasible_configurations(trials)
        able = [a for a in able if a == DEFAULT_ARM or a.configuration not in lost]
        rivals = _rivals(trials, able)
    else:
        rivals = able
    out = {rivals[i] for i in eliminated_arms(_matrix(history, rivals))}
    return [a for a in able if a == DEFAULT_ARM or a not in out]


def _rivals(trials: Sequence[Trial], arms: Sequence[Arm]) -> list[Arm]:
    """Return the arms for comparisons of cost: those that meet the requirements."""
    kept = feasible_configurations(trials)
    return [arm for arm in arms if arm.configuration in kept]


def _able(history: History, arm: Arm) -> bool:
    has_failed_block = history.has_failed_block(Stage.SEARCH, arm.name)
    return not has_failed_block and not is_excluded(history, arm.configuration)


def best_arm(history: History, racing: Sequence[Arm]) -> Arm:
    """Return the best arm of ``racing``; of equal arms the one with the fewest settings."""
    arms = sorted(racing, key=lambda arm: (len(arm.configuration), arm.name))
    found = leading_arm(_matrix(history, arms))
    return DEFAULT_ARM if found is None else arms[found]


def is_settled(history: History, racing: Sequence[Arm], margin: float) -> bool:
    """Return whether no arm can be better than the leader by more than the margin.

    This is true as well if all launches timed out.
    """
    if not is_analysis_due(len(history.blocks(Stage.SEARCH))):
        return False
    if history.slacks.require:
        racing = _rivals(trials_of(history), racing)
    known = (o for arm in racing for o in history.known(Stage.SEARCH, arm.name))
    return all(o.censored for o in known) or all_within_margin(_matrix(history, racing), margin)


def _matrix(history: History, arms: Sequence[Arm]) -> Matrix:
    return history.log_matrix(Stage.SEARCH, [arm.name for arm in arms])
