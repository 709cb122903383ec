"""Strategy: which configurations run in the next search block, and which one won.

No claim rests on a search block; its data only choose what is reduced and confirmed later.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from assay.records import Arm, Configuration, Stage
from assay.search.history import DEFAULT_ARM, History, arm_of
from assay.search.keeping import Keeping
from assay.search.looks import due
from assay.search.purse import Purse
from assay.search.searcher import Observation, Searcher
from assay.search.space import SearchSpace
from assay.stats.eliminate import leader, scores, settled, worse

if TYPE_CHECKING:
    from assay.stats.eliminate import Matrix

KEEP = 0.3
"""Share of the budget that reduction and confirmation are left (docs/statistics.md, rule 14)."""
MIN_SEARCH_BLOCKS = 3
"""Every configuration gets at least this many launches where all of them are tried."""
BATCH = 4
"""New proposals in a model-based block, beside the default and one replicate."""
MOST_TRIALS = 200
"""No more configurations than this are proposed: a model's answer takes longer the more it knows,
and what is left of a budget is better spent on telling the best apart."""
PLAYOFF = 4
"""How many of the best meet again at the end of a model-based search."""
PLAYOFF_FROM = KEEP + 0.15
"""The playoff starts when less than this share of the budget is left."""


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
        """See ``Strategy.winner``."""
        return best(history, still_racing(history))


class ModelBased:
    """A searcher proposes; a block is the default, a batch of proposals and one replicate.

    The best few then meet in a playoff, since the best of many single launches is mostly lucky.
    """

    def __init__(self, space: SearchSpace, searcher: Searcher, seed: int, keeping: Keeping) -> None:
        self._space = space
        self._searcher = searcher
        self._seed = seed
        self._keeping = keeping

    def roster(self, history: History, purse: Purse) -> list[Arm] | None:
        """See ``Strategy.roster``."""
        if purse.spent:
            return None
        if self._playing_off(history):
            racing = still_racing(history)
            if racing == [DEFAULT_ARM] or is_settled(history, racing, self._keeping.margin):
                return None
            return racing if self._keeping.affords(history, racing, purse, KEEP) else None
        seen = self._observations(history)
        if len(seen) < MOST_TRIALS and self._keeping.affords(
            history, BATCH_ARMS, purse, PLAYOFF_FROM
        ):
            batch = self._batch(history, seen)
            if batch:
                return batch
        finalists = [DEFAULT_ARM, *self._finalists(seen)]
        if finalists == [DEFAULT_ARM]:
            return None
        return finalists if self._keeping.affords(history, finalists, purse, KEEP) else None

    def winner(self, history: History) -> Arm:
        """See ``Strategy.winner``."""
        if self._playing_off(history):
            return best(history, still_racing(history))
        return best(history, [DEFAULT_ARM, *self._finalists(self._observations(history))])

    def _batch(self, history: History, seen: list[Observation]) -> list[Arm]:
        block = len(history.blocks(Stage.SEARCH))
        text = f"{self._seed}/{block}".encode()
        seed = int.from_bytes(hashlib.sha256(text).digest()[:4]) // 2
        space = self._space.avoiding(history.refusals.hold)
        proposals = self._searcher.propose(space, seen, BATCH, seed)
        if not proposals:
            return []
        replicate = _replicate(seen)
        extra = [arm_of(replicate)] if replicate else []
        return [DEFAULT_ARM, *(arm_of(c) for c in proposals), *extra]

    def _observations(self, history: History) -> list[Observation]:
        """What is known of each configuration but the default, as log ratios to the default."""
        arms = history.arms(Stage.SEARCH)
        if not arms:
            return []
        standing = scores(history.log_matrix(Stage.SEARCH, [a.name for a in arms]))
        names = [a.name for a in arms]
        zero = standing[names.index(DEFAULT_ARM.name)] if DEFAULT_ARM.name in names else 0.0
        found = []
        for arm, score in zip(arms, standing, strict=True):
            if arm == DEFAULT_ARM:
                continue
            seen = history.known(Stage.SEARCH, arm.name)
            found.append(
                Observation(
                    configuration=arm.configuration,
                    score=score - zero,
                    launches=len(seen),
                    censored=any(o.censored for o in seen),
                    failed=not seen
                    or math.isnan(score)
                    or math.isnan(zero)
                    or history.refusals.hold(arm.configuration),
                )
            )
        return found

    def _finalists(self, seen: list[Observation]) -> list[Arm]:
        usable = [o for o in seen if not o.failed]
        ranked = sorted(usable, key=lambda o: (o.score, str(o.configuration)))
        return [arm_of(o.configuration) for o in ranked[:PLAYOFF]]

    def _playing_off(self, history: History) -> bool:
        """Whether the newest block brought no new configuration."""
        blocks = history.blocks(Stage.SEARCH)
        if len(blocks) < 2:
            return False
        return all(
            history.first_block(Stage.SEARCH, arm.name) not in (None, blocks[-1])
            for arm in history.roster(Stage.SEARCH)
        )


def _replicate(seen: list[Observation]) -> Configuration | None:
    """The least known of the three best: a second look where it matters most."""
    usable = sorted((o for o in seen if not o.failed), key=lambda o: o.score)[:3]
    chosen = min(usable, key=lambda o: (o.launches, o.score), default=None)
    return chosen.configuration if chosen else None


BATCH_ARMS = [DEFAULT_ARM] * (BATCH + 2)
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
    out = worse(_matrix(history, able))
    return [a for i, a in enumerate(able) if a == DEFAULT_ARM or i not in out]


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
    known = (o for arm in racing for o in history.known(Stage.SEARCH, arm.name))
    return all(o.censored for o in known) or settled(_matrix(history, racing), margin)


def _matrix(history: History, arms: Sequence[Arm]) -> Matrix:
    return history.log_matrix(Stage.SEARCH, [arm.name for arm in arms])
