"""Strategy: which configurations run in the next search block, and which one won.

No claim rests on a search block; its data only choose what is reduced and confirmed later.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import Protocol

from assay.records import Arm, Configuration, Stage
from assay.search.history import DEFAULT_ARM, History, arm_of
from assay.search.purse import Cost, Purse
from assay.search.searcher import Observation, Searcher
from assay.search.space import SearchSpace

KEEP = 0.3
"""Share of the budget that reduction and confirmation are left (docs/statistics.md, rule 14)."""
MIN_SEARCH_BLOCKS = 3
"""Every configuration gets at least this many launches where all of them are tried."""
BATCH = 4
"""New proposals in a model-based block, beside the default and one replicate."""
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
        margin: the race ends when its leader cannot be further than this from the best.
    """

    def __init__(self, configurations: Sequence[Configuration], margin: float) -> None:
        self._arms = [arm_of(c) for c in configurations]
        self._margin = margin

    def roster(self, history: History, purse: Purse) -> list[Arm] | None:
        """See ``Strategy.roster``."""
        blocks = len(history.blocks(Stage.SEARCH))
        racing = self._arms if blocks == 0 else still_racing(history)
        if blocks >= MIN_SEARCH_BLOCKS and settled(history, racing, self._margin):
            return None
        if blocks > 0 and not purse.affords(history.cost(racing), keep=KEEP):
            return None
        return racing

    def winner(self, history: History) -> Arm:
        """See ``Strategy.winner``."""
        return best(history, still_racing(history))


class ModelBased:
    """A searcher proposes; a block is the default, a batch of proposals and one replicate.

    The best few then meet in a playoff, since the best of many single launches is mostly lucky.
    """

    def __init__(self, space: SearchSpace, searcher: Searcher, seed: int, margin: float) -> None:
        self._space = space
        self._searcher = searcher
        self._seed = seed
        self._margin = margin

    def roster(self, history: History, purse: Purse) -> list[Arm] | None:
        """See ``Strategy.roster``."""
        playing = self._playing_off(history)
        seen = self._observations(history)
        usual = history.cost([DEFAULT_ARM])
        batch_cost = Cost((BATCH + 2) * usual.time_s, BATCH + 2)
        if not playing and purse.affords(batch_cost, keep=PLAYOFF_FROM):
            batch = self._batch(history, seen)
            if batch:
                return batch
        racing = still_racing(history) if playing else [DEFAULT_ARM, *self._finalists(seen)]
        if playing and settled(history, racing, self._margin):
            return None
        return racing if purse.affords(history.cost(racing), keep=KEEP) else None

    def winner(self, history: History) -> Arm:
        """See ``Strategy.winner``."""
        if self._playing_off(history):
            return best(history, still_racing(history))
        return best(history, [DEFAULT_ARM, *self._finalists(self._observations(history))])

    def _batch(self, history: History, seen: list[Observation]) -> list[Arm]:
        block = len(history.blocks(Stage.SEARCH))
        text = f"{self._seed}/{block}".encode()
        seed = int.from_bytes(hashlib.sha256(text).digest()[:4]) // 2
        proposals = self._searcher.propose(self._space, seen, BATCH, seed)
        if not proposals:
            return []
        replicate = _replicate(seen)
        extra = [arm_of(replicate)] if replicate else []
        return [DEFAULT_ARM, *(arm_of(c) for c in proposals), *extra]

    def _observations(self, history: History) -> list[Observation]:
        """What is known of each configuration but the default, as log ratios to the default."""
        from assay.stats.eliminate import scores

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
            seen = [o for o in history.observations(Stage.SEARCH, arm.name) if o is not None]
            found.append(
                Observation(
                    configuration=arm.configuration,
                    score=score - zero,
                    launches=len(seen),
                    censored=any(o.censored for o in seen),
                    failed=not seen or math.isnan(score) or math.isnan(zero),
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
        before = {
            s.launch.arm
            for s in history.samples
            if s.launch.stage is Stage.SEARCH and s.launch.block < blocks[-1]
        }
        return all(arm.name in before for arm in history.roster(Stage.SEARCH))


def _replicate(seen: list[Observation]) -> Configuration | None:
    """The least known of the three best: a second look where it matters most."""
    usable = sorted((o for o in seen if not o.failed), key=lambda o: o.score)[:3]
    chosen = min(usable, key=lambda o: (o.launches, o.score), default=None)
    return chosen.configuration if chosen else None


def still_racing(history: History) -> list[Arm]:
    """The arms of the newest search block without those that it showed worse or that gave up.

    The default always stays: it shows the drift of the session.
    """
    from assay.stats.eliminate import worse

    arms = history.roster(Stage.SEARCH)
    able = [a for a in arms if a == DEFAULT_ARM or not history.gave_up(Stage.SEARCH, a.name)]
    out = worse(history.log_matrix(Stage.SEARCH, [a.name for a in able]))
    return [a for i, a in enumerate(able) if a == DEFAULT_ARM or i not in out]


def best(history: History, racing: Sequence[Arm]) -> Arm:
    """The arm of ``racing`` that stands best."""
    from assay.stats.eliminate import leader

    found = leader(history.log_matrix(Stage.SEARCH, [a.name for a in racing]))
    return DEFAULT_ARM if found is None else racing[found]


def settled(history: History, racing: Sequence[Arm], margin: float) -> bool:
    """Whether no arm can be better than the leader by more than the margin."""
    from assay.stats.eliminate import against, leader

    matrix = history.log_matrix(Stage.SEARCH, [a.name for a in racing])
    first = leader(matrix)
    if first is None:
        return False
    others = (i for i in range(len(racing)) if i != first)
    return all(against(matrix, first, other).hi < math.log1p(margin) for other in others)
