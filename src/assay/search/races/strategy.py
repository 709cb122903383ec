"""Strategy: which configurations run in the next search block, and which one won.

No claim rests on a search block; its data only choose what is reduced and confirmed later.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from assay.records import DEFAULT, Arm, Configuration, Stage
from assay.search.claims.proof import displaced_launches, is_last_chance, prefers_proof
from assay.search.history.history import DEFAULT_ARM, History, arm_of
from assay.search.history.looks import is_look_due
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
    non_default_trials,
)
from assay.search.model.trials import trials_of
from assay.search.races.confirmation import with_core
from assay.search.races.reserved_budget import ReservedBudget
from assay.search.space.search_space import SearchSpace
from assay.stats.elimination import all_within_margin, eliminated_arms, leading_arm

if TYPE_CHECKING:
    from assay.stats.elimination import Matrix

PROOF_SHARE = 0.3
"""Share of the budget that reduction and confirmation are left where all configurations race: each
has had its launches then, and more of them tell little (docs/explanation/statistics.md,
rule 10)."""
MIN_SEARCH_BLOCKS = 3
"""Every configuration gets at least this many launches where all of them are tried."""
BATCH = 8
"""Proposals in a model-based block, beside the default, of a large budget."""
SMALL_BUDGET = 60
"""A budget of fewer launches is small."""
DEFAULT_INTERVAL = 4
"""Of a small budget every so many blocks time the default. After 25 launches the regret is 0.75 of
what it is where all of them do (12 recorded spaces, 20 seeds)."""
CORE_LAUNCHES = 3
"""So many of the last launches go to what the best is made of."""
MAX_TRIALS = 200
"""No more configurations than this are proposed: a model's answer takes longer the more it knows,
and what is left of a budget is better spent on telling the best apart."""
MAX_LAUNCHES = 400
"""Nor is a model told more launches than this, the default's included."""

IDLE_DEVIATIONS = 0.5
"""A setting goes from a winner that is expected to cost less than so many standard deviations of
what is not known about that; what is left is reduced by launches."""
MIN_BLOCKS_BEFORE_END = 8
"""Before so many search blocks it is not believed that nothing is left to gain."""
CONFIDENCE = 0.95
"""That nothing is left to gain, before a search ends for it."""
REQUIREMENT_SHARE = 0.16
"""Share of the budget that a search leaves where the default breaks a requirement."""
EXPECTED_QUANTILE = 0.5
"""Quantile of what is left to gain that stands for its expectation,"""
GAIN_DOUBT = 2.0
"""of a model that doubts itself by this factor: the end of a search is to be sure, this is not."""


class Strategy(Protocol):
    """Search of one kind.

    Its answers follow from the history and the purse, and from ``prove``: a study that is
    resumed with more budget calls it again.
    """

    def roster(self, history: History, purse: RemainingBudget) -> list[Arm] | None:
        """The arms of the next block, or ``None`` when the search is over."""
        ...

    def winner(self, history: History) -> Arm:
        """The arm that stands best; the default where nothing stands better."""
        ...

    def prove(self) -> None:
        """Prefer a proof of the best that is known to further search, where it is affordable."""
        ...


class RacingStrategy:
    """All configurations run in every block; who is shown worse leaves.

    Args:
        configurations: all of them, the default first.
        keeping: the race ends when its leader cannot be further than the margin from the best.
    """

    def __init__(
        self, configurations: Sequence[Configuration], feasible_configurations: ReservedBudget
    ) -> None:
        self._arms = [arm_of(c) for c in configurations]
        self._keeping = feasible_configurations

    def prove(self) -> None:
        """See ``Strategy.prove``; what is kept of a budget is kept for that anyway."""

    def roster(self, history: History, purse: RemainingBudget) -> list[Arm] | None:
        """See ``Strategy.roster``."""
        blocks = len(history.blocks(Stage.SEARCH))
        if blocks == 0:
            return None if purse.spent else self._arms
        racing = still_racing(history)
        if racing == [DEFAULT_ARM]:
            return None
        if blocks >= MIN_SEARCH_BLOCKS and is_settled(history, racing, self._keeping.margin):
            return None
        return racing if self._keeping.affords(history, racing, purse, PROOF_SHARE) else None

    def winner(self, history: History) -> Arm:
        """See ``Strategy.winner``: of those that keep what is required."""
        if not history.blocks(Stage.SEARCH):
            return DEFAULT_ARM
        racing = still_racing(history)
        if not history.slacks.require:
            return best_arm(history, racing)
        trials = trials_of(history)
        kept = feasible_configurations(trials)
        return best_arm(history, [arm for arm in racing if arm.configuration in kept])


class ModelStrategy:
    """A searcher proposes; a block is the default and a batch of proposals.

    Once enough configurations are known, launches go to those that may be the best of them. The
    winner is the best by the model without what the model expects to do nothing: the confirmation
    shows what that takes.
    """

    def __init__(
        self,
        space: SearchSpace,
        searcher: Searcher,
        seed: int,
        feasible_configurations: ReservedBudget,
    ) -> None:
        self._space = space
        self._searcher = searcher
        self._seed = seed
        self._keeping = feasible_configurations
        # Remembered, not learned: a new strategy answers alike.
        self._newest: tuple[list[Trial], Candidate] | None = None
        self._proving = False

    def prove(self) -> None:
        """See ``Strategy.prove``."""
        self._proving = True

    def roster(self, history: History, purse: RemainingBudget) -> list[Arm] | None:
        """See ``Strategy.roster``."""
        if purse.spent:
            return None
        trials = trials_of(history)
        if len(trials) >= MAX_LAUNCHES:
            return None
        count = self._batch(history, purse)
        space = admitted_space(history, self._space)
        seed = self._block_seed(history)
        following = self._batch_cost(history, count)
        if count and self._wants_proof(history, space, trials, following, purse, seed):
            return None
        if not count:
            return self._single(history, space, trials, purse, seed)
        if self._nothing_left(history, space, trials, seed):
            return None
        chosen: list[Configuration] = []
        if len(non_default_trials(trials)) < MAX_TRIALS:
            chosen = self._searcher.propose(space, trials, count, seed)
        if not chosen:
            chosen = self._searcher.verify(space, trials, count, seed)
        first = [DEFAULT_ARM] if self._times_default(history, purse) else []
        return self._fitting(history, [*first, *map(arm_of, chosen)], purse)

    def _batch(self, history: History, purse: RemainingBudget) -> int:
        """Return how many proposals the next block has; 0 where not one fits beside the default."""
        if self._is_small(history, purse):
            return self._small_batch(history, purse)
        last = NO_COST
        if history.abreast == 1:
            last = history.cost([DEFAULT_ARM], Stage.SEARCH).times(CORE_LAUNCHES)
        return self._affordable_batch(history, purse, BATCH, last)

    def _small_batch(self, history: History, purse: RemainingBudget) -> int:
        """The same for a small budget, whose last launches go one by one: each knows the others."""
        count = self._affordable_batch(history, purse, SMALL_BATCH)
        if history.abreast > 1 or not count or not history.blocks(Stage.SEARCH):
            return count
        if not purse.affords(self._batch_cost(history, SMALL_BATCH)):
            return 0
        few = not purse.affords(self._batch_cost(history, SMALL_BATCH + 3))
        return min(count, SMALL_BATCH - 2) if few else count

    def _affordable_batch(
        self, history: History, purse: RemainingBudget, most: int, last: Cost = NO_COST
    ) -> int:
        """The largest batch that the budget has room for, with what is spent after it."""
        count = max(most, history.abreast - 1)
        while count and not purse.affords(self._batch_cost(history, count), least=last):
            count -= 1
        return count

    def _times_default(self, history: History, purse: RemainingBudget) -> bool:
        """Return whether the next block of search times the default: of a small budget not all."""
        if history.abreast > 1 or not self._is_small(history, purse):
            return True
        return len(history.blocks(Stage.SEARCH)) % DEFAULT_INTERVAL == 0

    def _is_small(self, history: History, purse: RemainingBudget) -> bool:
        """Return whether the whole budget has room for few launches of the default."""
        each = history.cost([DEFAULT_ARM], Stage.SEARCH)
        whole = purse.total.launches or math.inf
        if purse.total.time_s is not None:
            whole = min(whole, history.abreast * purse.total.time_s / max(each.time_s, 1e-9))
        return whole < SMALL_BUDGET * each.launches

    def _single(
        self,
        history: History,
        space: SearchSpace,
        trials: Sequence[Trial],
        purse: RemainingBudget,
        seed: int,
    ) -> list[Arm] | None:
        """One proposal without the default; at last the few settings that the best is made of."""
        one = history.cost([DEFAULT_ARM], Stage.SEARCH)
        if not purse.affords(one):
            return None
        if trials and not _ran_twice(history, DEFAULT_ARM):
            return [DEFAULT_ARM]  # what began cold is no measure for what others take
        chosen: list[Configuration] = []
        if not purse.affords(one.times(CORE_LAUNCHES + 1)):
            chosen = self._searcher.core(space, trials)
        if not chosen:
            chosen = self._searcher.propose(space, trials, 1, seed)
        return self._fitting(history, [arm_of(c) for c in chosen], purse, least=1)

    def _fitting(
        self, history: History, arms: list[Arm], purse: RemainingBudget, least: int = 2
    ) -> list[Arm] | None:
        """As many as can still be built within the budget, where they are to be built."""
        while (
            len(arms) >= least
            and history.build_s
            and not purse.affords(history.cost(arms, Stage.SEARCH))
        ):
            arms = arms[:-1]
        return arms if len(arms) >= least else None

    def _batch_cost(self, history: History, count: int) -> Cost:
        """What a batch is expected to take, before it is known who is in it."""
        arms = [DEFAULT_ARM] * (1 + count)
        block = history.cost(arms, Stage.SEARCH)
        switching_s = history.costly.space_s(self._space, len(arms))
        built_s = count * history.build_s
        return Cost(block.time_s + switching_s, block.launches, block.once_s + built_s)

    def winner(self, history: History) -> Arm:
        """See ``Strategy.winner``: of what was launched and worked."""
        trials = trials_of(history)
        best = self._best(trials)
        if best.arm == DEFAULT_ARM:
            return DEFAULT_ARM
        lean = self._without_idle(trials, best.arm.configuration, best.estimate.mean)
        return arm_of(lean) if lean else DEFAULT_ARM

    def _best(self, trials: Sequence[Trial]) -> Candidate:
        if self._newest is None or self._newest[0] != trials:
            best = best_candidate(self._searcher, self._space, trials, self._keeping.margin)
            self._newest = list(trials), best
        return self._newest[1]

    def _without_idle(
        self, trials: Sequence[Trial], winner: Configuration, gain: float
    ) -> Configuration:
        """A configuration without the settings that are not expected to do anything.

        Args:
            trials: all.
            winner: the configuration.
            gain: its log ratio to the default.
        """
        lean = winner
        while smaller := self._likely(trials, self._smaller(lean)):
            wanted = [{c: 1.0, winner: -1.0} for c in smaller]
            losses = self._searcher.contrasts(self._space, trials, wanted)
            least = min(range(len(losses)), key=lambda i: losses[i].mean)
            tolerance = math.log1p(self._keeping.margin)
            if not is_negligible(losses[least], gain, tolerance, IDLE_DEVIATIONS, len(trials)):
                break
            lean = smaller[least]
        return lean

    def _smaller(self, configuration: Configuration) -> list[Configuration]:
        """The valid ones that leave one of its settings out."""
        space = self._space
        found = [space.canonical(configuration.without(name)) for name in configuration]
        return [c for c in dict.fromkeys(found) if space.valid(c)]

    def _likely(
        self, trials: Sequence[Trial], configurations: list[Configuration]
    ) -> list[Configuration]:
        """Those that keep what is required, launched or not."""
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

    def _nothing_left(
        self, history: History, space: SearchSpace, trials: Sequence[Trial], seed: int
    ) -> bool:
        """Whether no configuration is better than the best by more than the margin."""
        if len(history.blocks(Stage.SEARCH)) < MIN_BLOCKS_BEFORE_END:
            return False
        if any_violation(trials) and not feasible_configurations(trials):
            return False
        left = self._searcher.remaining_gain(space, trials, CONFIDENCE, seed)
        return left <= math.log1p(self._keeping.margin)

    def _wants_proof(
        self,
        history: History,
        space: SearchSpace,
        trials: Sequence[Trial],
        following: Cost,
        purse: RemainingBudget,
        seed: int,
    ) -> bool:
        """Whether what is left is just enough for a proof, and that is worth more than search.

        What cannot be proven within the budget stops nothing: all of it searches then.

        Args:
            history, trials: so far.
            space: that may be granted.
            following: cost of the next block of search.
            purse: what is left.
            seed: of the block.
        """
        if not history.blocks(Stage.SEARCH):
            return False
        if is_default_infeasible(trials):  # a requirement is to be shown, not a gain
            least = self._keeping.confirmation(history)
            return not purse.affords(following, keep=REQUIREMENT_SHARE, least=least)
        least = self._keeping.proof(history, [DEFAULT_ARM], math.inf, 1.0)
        if not purse.affords(least):
            return False
        best = self._best(trials)
        if best.arm == DEFAULT_ARM:
            return False
        noise = launch_noise(trials)
        gain = best.estimate.mean
        # What is confirmed is the winner without idle settings, which may be still to be built.
        proof = self._keeping.proof(history, self._to_confirm(history, trials), gain, noise)
        if self._proving and not purse.affords(proof.times(2.0)):
            # A core runs beside the winner only where both are affordable.
            alone = self._keeping.proof(history, (self.winner(history),), gain, noise)
            return purse.affords(alone)
        if not is_last_chance(purse, proof, following):
            return False
        if self._proving or not math.isfinite(best.estimate.deviation):
            return True
        left = self._searcher.remaining_gain(space, trials, EXPECTED_QUANTILE, seed) / GAIN_DOUBT
        return prefers_proof(gain, left, len(trials), displaced_launches(purse, proof, following))

    def _to_confirm(self, history: History, trials: Sequence[Trial]) -> tuple[Arm, ...]:
        """Return the winner, and its core where one would be confirmed beside it."""
        winner = self.winner(history)
        if self._keeping.core_blocks is None:
            return (winner,)
        margin = self._keeping.margin
        return with_core(self._searcher, self._space, trials, winner, margin).arms

    def _block_seed(self, history: History) -> int:
        text = f"{self._seed}/{len(history.blocks(Stage.SEARCH))}".encode()
        return int.from_bytes(hashlib.sha256(text).digest()[:4]) // 2


def _ran_twice(history: History, arm: Arm) -> bool:
    """Return whether an arm has run outside the survey, the first launch of all, as well."""
    return any(history.observations(stage, arm.name) for stage in (Stage.GAUGE, Stage.SEARCH))


BATCH_ARMS = [DEFAULT_ARM] * (BATCH + 1)
"""Stands for a model-based block where its cost is foretold: what is not known yet counts as the
default."""


def still_racing(history: History) -> list[Arm]:
    """The arms of the newest search block without those that it showed worse or that gave up.

    Nor those that are excluded (``is_excluded``). The default always stays: it shows the drift of
    the session.
    """
    arms = history.roster(Stage.SEARCH)
    able = [a for a in arms if a == DEFAULT_ARM or _able(history, a)]
    if not is_look_due(len(history.blocks(Stage.SEARCH))):
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
    """Those that what they take is held against: whoever breaks a requirement beats nobody."""
    kept = feasible_configurations(trials)
    return [arm for arm in arms if arm.configuration in kept]


def _able(history: History, arm: Arm) -> bool:
    has_failed_block = history.has_failed_block(Stage.SEARCH, arm.name)
    return not has_failed_block and not is_excluded(history, arm.configuration)


def best_arm(history: History, racing: Sequence[Arm]) -> Arm:
    """The arm of ``racing`` that stands best; of equals the one that sets least."""
    arms = sorted(racing, key=lambda arm: (len(arm.configuration), arm.name))
    found = leading_arm(_matrix(history, arms))
    return DEFAULT_ARM if found is None else arms[found]


def is_settled(history: History, racing: Sequence[Arm], margin: float) -> bool:
    """Whether no arm can be better than the leader by more than the margin.

    Nor is there anything to tell apart where all of them ran into their time-outs.
    """
    if not is_look_due(len(history.blocks(Stage.SEARCH))):
        return False
    if history.slacks.require:
        racing = _rivals(trials_of(history), racing)
    known = (o for arm in racing for o in history.known(Stage.SEARCH, arm.name))
    return all(o.censored for o in known) or all_within_margin(_matrix(history, racing), margin)


def _matrix(history: History, arms: Sequence[Arm]) -> Matrix:
    return history.log_matrix(Stage.SEARCH, [arm.name for arm in arms])
