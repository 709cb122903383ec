"""Strategy: which configurations run in the next search block, and which one won.

No claim rests on a search block; its data only choose what is reduced and confirmed later.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from assay.records import DEFAULT, Arm, Configuration, Goal, Stage
from assay.search.feasible import (
    CERTAIN,
    Feasibility,
    bites,
    breaking,
    default_breaks,
    keeping,
    to_the_share,
)
from assay.search.features import Features
from assay.search.history import DEFAULT_ARM, History, arm_of
from assay.search.idle import is_idle
from assay.search.keeping import Keeping
from assay.search.looks import due
from assay.search.purse import Cost, Purse
from assay.search.searcher import (
    Searcher,
    Trial,
    deviation_of_default,
    estimates,
    launched,
    newcomers,
    worked,
)
from assay.search.space import SearchSpace
from assay.stats.eliminate import leader, settled, worse

if TYPE_CHECKING:
    from assay.stats.eliminate import Matrix

KEEP = 0.3
"""Share of the budget that reduction and confirmation are left (docs/statistics.md, rule 14)."""
MIN_SEARCH_BLOCKS = 3
"""Every configuration gets at least this many launches where all of them are tried."""
BATCH = 8
"""Proposals in a model-based block, beside the default: fewer, and the default takes more of the
budget than it tells."""
MOST_TRIALS = 200
"""No more configurations than this are proposed: a model's answer takes longer the more it knows,
and what is left of a budget is better spent on telling the best apart."""
MOST_LAUNCHES = 400
"""Nor is a model told more launches than this, the default's included."""

KEEP_OF_MODEL = 0.16
"""Share of the budget that a model-based search leaves: where a model is needed at all, launches
are few, and what they find is worth more than how finely it is confirmed."""
IDLE_DOUBT = 0.5
"""A setting goes from a winner that is expected to cost less than so many standard deviations of
what is not known about that; what is left is reduced by launches."""
BLOCKS_BEFORE_PROOF = 4
"""Before so many search blocks what was found is a guess."""
BLOCKS_BEFORE_END = 8
"""Nor is it believed before so many that nothing is left to gain."""
CONFIDENCE = 0.95
"""That nothing is left to gain, before a search ends for it."""
STRETCH = 1.5
"""What takes up to so many times what is left may still be shown: the gain is only a guess."""
WIDTH = 2.8
"""Half the width of a claim's interval, in standard errors, where it takes 10 to 20 blocks."""


class Strategy(Protocol):
    """Search of one kind; what it answers follows from the history and the purse alone."""

    def roster(self, history: History, purse: Purse) -> list[Arm] | None:
        """The arms of the next block, or ``None`` when the search is over."""
        ...

    def winner(self, history: History) -> Arm:
        """The arm that stands best; the default where nothing stands better."""
        ...


class Racing:
    """All configurations run in every block; who is shown worse leaves.

    Args:
        configurations: all of them, the default first.
        keeping: the race ends when its leader cannot be further than the margin from the best.
    """

    def __init__(self, configurations: Sequence[Configuration], keeping: Keeping) -> None:
        self._arms = [arm_of(c) for c in configurations]
        self._keeping = keeping

    def roster(self, history: History, purse: Purse) -> list[Arm] | None:
        """See ``Strategy.roster``."""
        blocks = len(history.blocks(Stage.SEARCH))
        if blocks == 0:
            return None if purse.spent else self._arms
        racing = still_racing(history)
        if racing == [DEFAULT_ARM]:
            return None
        if blocks >= MIN_SEARCH_BLOCKS and is_settled(history, racing, self._keeping.margin):
            return None
        return racing if self._keeping.affords(history, racing, purse, KEEP) else None

    def winner(self, history: History) -> Arm:
        """See ``Strategy.winner``: of those that keep what is required."""
        racing = still_racing(history)
        if not history.slacks.require:
            return best(history, racing)
        trials = trials_of(history)
        kept = keeping(trials)
        return best(history, [arm for arm in racing if arm.configuration in kept])


class ModelBased:
    """A searcher proposes; a block is the default and a batch of proposals.

    Once enough configurations are known, launches go to those that may be the best of them. The
    winner is the best by the model without what the model expects to do nothing: the confirmation
    shows what that takes.
    """

    def __init__(self, space: SearchSpace, searcher: Searcher, seed: int, keeping: Keeping) -> None:
        self._space = space
        self._searcher = searcher
        self._seed = seed
        self._keeping = keeping

    def roster(self, history: History, purse: Purse) -> list[Arm] | None:
        """See ``Strategy.roster``."""
        if purse.spent or not self._affords(history, purse):
            return None
        trials = trials_of(history)
        if len(trials) >= MOST_LAUNCHES:
            return None
        if self._wants_proof(history, trials, purse):
            return None
        space = self._granted(history)
        seed = self._block_seed(history)
        if self._nothing_left(history, space, trials, seed):
            return None
        chosen: list[Configuration] = []
        if len(newcomers(trials)) < MOST_TRIALS:
            chosen = self._searcher.propose(space, trials, BATCH, seed)
        if not chosen:
            chosen = self._searcher.verify(space, trials, BATCH, seed)
        return self._fitting(history, [DEFAULT_ARM, *map(arm_of, chosen)], purse)

    def _fitting(self, history: History, arms: list[Arm], purse: Purse) -> list[Arm] | None:
        """As many as can still be built within the budget, where they are to be built."""
        while (
            len(arms) > 1
            and history.build_s
            and not self._keeping.affords(history, arms, purse, KEEP_OF_MODEL)
        ):
            arms = arms[:-1]
        return arms if len(arms) > 1 else None

    def _affords(self, history: History, purse: Purse) -> bool:
        """Whether one more batch leaves its share of the budget, and a confirmation."""
        least = self._keeping.confirmation(history)
        return purse.affords(self._batch_cost(history), keep=KEEP_OF_MODEL, least=least)

    def _batch_cost(self, history: History) -> Cost:
        """What a batch is expected to take, before it is known who is in it."""
        block = history.cost(BATCH_ARMS, Stage.SEARCH)
        switching_s = history.costly.space_s(self._space, len(BATCH_ARMS))
        return Cost(block.time_s + switching_s, block.launches)

    def winner(self, history: History) -> Arm:
        """See ``Strategy.winner``: of what was launched and worked."""
        trials = trials_of(history)
        able = (worked(trials) & keeping(trials)) - {DEFAULT}
        among = sorted(able, key=lambda c: (len(c), str(c)))
        best = self._best(trials, among)
        if best is None or (best[1] >= 0.0 and not default_breaks(trials)):
            return DEFAULT_ARM
        lean = self._without_idle(trials, *best)
        return arm_of(lean) if lean else DEFAULT_ARM

    def _best(
        self, trials: Sequence[Trial], among: Sequence[Configuration]
    ) -> tuple[Configuration, float] | None:
        """The first that is expected to take least, and its log ratio to the default."""
        found = estimates(self._searcher, self._space, trials, among)
        means = [
            (c, e.mean) for c, e in zip(among, found, strict=True) if math.isfinite(e.deviation)
        ]
        return min(means, key=lambda pair: pair[1], default=None)

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
            if not is_idle(losses[least], gain, tolerance, IDLE_DOUBT, len(trials)):
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
        if not configurations or not bites(trials):
            return configurations
        if default_breaks(trials):
            configurations = [c for c in configurations if c != DEFAULT]
        kept, seen = keeping(trials), launched(trials)
        model = Feasibility(Features(self._space), trials)
        pairs = zip(configurations, model.likely(configurations, CERTAIN), strict=True)
        return [c for c, may in pairs if c in kept or (may and c not in seen)]

    def _nothing_left(
        self, history: History, space: SearchSpace, trials: Sequence[Trial], seed: int
    ) -> bool:
        """Whether no configuration is better than the best by more than the margin."""
        if len(history.blocks(Stage.SEARCH)) < BLOCKS_BEFORE_END:
            return False
        if bites(trials) and not keeping(trials):
            return False
        left = self._searcher.left_to_gain(space, trials, CONFIDENCE, seed)
        return left <= math.log1p(self._keeping.margin)

    def _wants_proof(self, history: History, trials: Sequence[Trial], purse: Purse) -> bool:
        """Whether what is left is just enough to show the gain that was found.

        To go on searching would more likely lose the proof than find much more. A gain that is
        beyond proof by now, or takes no more than the least confirmation, stops nothing.
        """
        if len(history.blocks(Stage.SEARCH)) < BLOCKS_BEFORE_PROOF:
            return False
        if default_breaks(trials):
            return False  # not a gain over the default is to be shown
        known = sorted((launched(trials) & keeping(trials)) - {DEFAULT}, key=str)
        best = self._best(trials, known)
        noise = deviation_of_default(trials)
        if best is None or best[1] >= 0.0 or math.isinf(noise):
            return False
        blocks = math.ceil(2.0 * (WIDTH * noise / best[1]) ** 2)
        proof = history.cost([DEFAULT_ARM] * (self._keeping.arms - 1) + [arm_of(best[0])])
        proof = proof.times(blocks)
        more = self._batch_cost(history)
        return purse.affords(proof.times(1.0 / STRETCH)) and not purse.affords(more, least=proof)

    def _granted(self, history: History) -> SearchSpace:
        """The space without what turned out to be refused."""
        refusals = history.refusals
        return self._space.avoiding(refusals.hold) if refusals.reasons else self._space

    def _block_seed(self, history: History) -> int:
        text = f"{self._seed}/{len(history.blocks(Stage.SEARCH))}".encode()
        return int.from_bytes(hashlib.sha256(text).digest()[:4]) // 2


def trials_of(
    history: History, stages: Sequence[Stage] = (Stage.GAUGE, Stage.SEARCH)
) -> list[Trial]:
    """Every launch of the search, as a searcher is told it, and that of the gauge.

    What asks for something that was refused in the run counts as failed, and so does what lacks a
    figure that is required.
    """
    sign = 1.0 if history.goal is Goal.LOWER else -1.0
    required = bool(history.slacks.require)
    found = []
    for stage in stages:
        for arm, block, observation in history.outcomes(stage):
            refused = history.refusals.hold(arm.configuration)
            value = None if observation is None or refused else sign * math.log(observation.value)
            censored = observation is not None and observation.censored
            slack = history.slacks.at(stage, arm.name, block)
            if required and slack is None and not censored:
                value = None
            found.append(Trial(arm.configuration, block, value, censored, slack))
    return to_the_share(found, history.slacks.share)


BATCH_ARMS = [DEFAULT_ARM] * (BATCH + 1)
"""Stands for a model-based block where its cost is foretold: what is not known yet counts as the
default."""


def still_racing(history: History) -> list[Arm]:
    """The arms of the newest search block without those that it showed worse or that gave up.

    Nor those that ask for what was refused in the run. The default always stays: it shows the
    drift of the session.
    """
    arms = history.roster(Stage.SEARCH)
    able = [a for a in arms if a == DEFAULT_ARM or _able(history, a)]
    if not due(len(history.blocks(Stage.SEARCH))):
        return able
    if history.slacks.require:
        trials = trials_of(history)
        few = len(history.blocks(Stage.SEARCH)) < MIN_SEARCH_BLOCKS
        lost = set() if few else breaking(trials)
        able = [a for a in able if a == DEFAULT_ARM or a.configuration not in lost]
        rivals = _rivals(trials, able)
    else:
        rivals = able
    out = {rivals[i] for i in worse(_matrix(history, rivals))}
    return [a for a in able if a == DEFAULT_ARM or a not in out]


def _rivals(trials: Sequence[Trial], arms: Sequence[Arm]) -> list[Arm]:
    """Those that what they take is held against: whoever breaks a requirement beats nobody."""
    kept = keeping(trials)
    return [arm for arm in arms if arm.configuration in kept]


def _able(history: History, arm: Arm) -> bool:
    gave_up = history.gave_up(Stage.SEARCH, arm.name)
    return not gave_up and not history.refusals.hold(arm.configuration)


def best(history: History, racing: Sequence[Arm]) -> Arm:
    """The arm of ``racing`` that stands best; of equals the one that sets least."""
    arms = sorted(racing, key=lambda arm: (len(arm.configuration), arm.name))
    found = leader(_matrix(history, arms))
    return DEFAULT_ARM if found is None else arms[found]


def is_settled(history: History, racing: Sequence[Arm], margin: float) -> bool:
    """Whether no arm can be better than the leader by more than the margin.

    Nor is there anything to tell apart where all of them ran into their time-outs.
    """
    if not due(len(history.blocks(Stage.SEARCH))):
        return False
    if history.slacks.require:
        racing = _rivals(trials_of(history), racing)
    known = (o for arm in racing for o in history.known(Stage.SEARCH, arm.name))
    return all(o.censored for o in known) or settled(_matrix(history, racing), margin)


def _matrix(history: History, arms: Sequence[Arm]) -> Matrix:
    return history.log_matrix(Stage.SEARCH, [arm.name for arm in arms])
