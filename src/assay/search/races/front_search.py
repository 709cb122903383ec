"""FrontSearch: which configurations run in the next search block, for several objectives.

No claim rests on a search block; its data only choose which points of the front are confirmed.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Sequence
from typing import Protocol

from assay.records import Arm, Configuration, Stage
from assay.search.history.history import DEFAULT_ARM, arm_of
from assay.search.history.looks import is_look_due
from assay.search.history.objective_view import ObjectiveView
from assay.search.history.remaining_budget import RemainingBudget
from assay.search.model.exclusions import admitted_space, is_excluded
from assay.search.model.front_points import ObjectiveModels, best_points
from assay.search.model.pareto import extent
from assay.search.model.sample_means import SampleMeans
from assay.search.model.scalarisation import mean_points, random_weights, scalarised
from assay.search.model.searcher import (
    Searcher,
    Trial,
    fresh_configurations,
    launched_configurations,
    non_default_trials,
)
from assay.search.model.trials import trials_of
from assay.search.races.reserved_budget import ReservedBudget
from assay.search.races.strategy import (
    BATCH,
    BATCH_ARMS,
    MAX_LAUNCHES,
    MAX_TRIALS,
    MIN_SEARCH_BLOCKS,
    PROOF_SHARE,
)
from assay.search.space.search_space import SearchSpace
from assay.stats.elimination import difference_interval
from assay.stats.interval import Interval

WEIGHTINGS = 4
"""Weightings of the objectives in a block; each has its share of the proposals. In simulations of
two objectives one weighting a block left more of the front unseen (docs/explanation/search.md)."""


class FrontSearch(Protocol):
    """Search of one kind; what it answers follows from the facets and the purse alone."""

    def roster(self, facets: Sequence[ObjectiveView], purse: RemainingBudget) -> list[Arm] | None:
        """The arms of the next block, or ``None`` when the search is over."""
        ...

    def points(self, facets: Sequence[ObjectiveView], count: int) -> list[Arm]:
        """Up to ``count`` arms that make up the front, as far as it is known; none the default."""
        ...


class RacingFrontSearch:
    """All configurations run in every block; who is shown worse than another in all leaves.

    Args:
        configurations: all of them, the default first.
        space: of the study.
        keeping: what the confirmation is left.
    """

    def __init__(
        self, configurations: Sequence[Configuration], space: SearchSpace, keeping: ReservedBudget
    ) -> None:
        self._arms = [arm_of(c) for c in configurations]
        self._space = space
        self._keeping = keeping

    def roster(self, facets: Sequence[ObjectiveView], purse: RemainingBudget) -> list[Arm] | None:
        """See ``FrontSearch.roster``."""
        history = facets[0].history
        blocks = len(history.blocks(Stage.SEARCH))
        if blocks == 0:
            return None if purse.spent else self._arms
        racing = still_racing(facets, self._keeping.margin)
        if racing == [DEFAULT_ARM]:
            return None
        if blocks >= MIN_SEARCH_BLOCKS and self._settled(facets, racing):
            return None
        return racing if self._keeping.affords(history, racing, purse, PROOF_SHARE) else None

    def points(self, facets: Sequence[ObjectiveView], count: int) -> list[Arm]:
        """See ``FrontSearch.points``."""
        racing = {a.configuration for a in still_racing(facets, self._keeping.margin)}
        known = ObjectiveModels(self._space, [SampleMeans()] * len(facets), _told(facets))
        return [arm_of(c) for c in best_points(known, racing, count, self._keeping.margin)]

    def _settled(self, facets: Sequence[ObjectiveView], racing: Sequence[Arm]) -> bool:
        """Whether all are known against the default well enough, in each objective."""
        if not is_look_due(len(facets[0].history.blocks(Stage.SEARCH))):
            return False
        return all(
            _precise(gap, self._keeping.margin)
            for arm in racing
            if arm != DEFAULT_ARM
            for gap in _gaps(facets, arm, DEFAULT_ARM)
        )


class ModelFrontSearch:
    """A searcher proposes, by several weightings of the objectives in each block.

    Args:
        space: of the study.
        searchers: one for each objective; the first proposes as well.
        seed: of the study.
        keeping: what the confirmation is left.
    """

    def __init__(
        self, space: SearchSpace, searchers: Sequence[Searcher], seed: int, keeping: ReservedBudget
    ) -> None:
        self._space = space
        self._searchers = searchers
        self._seed = seed
        self._keeping = keeping

    def roster(self, facets: Sequence[ObjectiveView], purse: RemainingBudget) -> list[Arm] | None:
        """See ``FrontSearch.roster``."""
        history = facets[0].history
        if purse.spent or not self._keeping.affords(history, BATCH_ARMS, purse, PROOF_SHARE):
            return None
        told = _told(facets)
        if len(told[0]) >= MAX_LAUNCHES:
            return None
        space = admitted_space(history, self._space)
        chosen = self._proposed(space, told, len(history.blocks(Stage.SEARCH)))
        return [DEFAULT_ARM, *map(arm_of, chosen)] if chosen else None

    def _proposed(
        self, space: SearchSpace, told: Sequence[Sequence[Trial]], block: int
    ) -> list[Configuration]:
        """A batch by several weightings; what another has proposed is left to it."""
        rng = random.Random(_seed_of(self._seed, block))
        known = launched_configurations(told[0])
        if not known - {Configuration()}:
            return fresh_configurations(space, [], known, BATCH, rng)
        new = len(non_default_trials(told[0])) < MAX_TRIALS
        chosen: list[Configuration] = []
        for number in range(1, WEIGHTINGS + 1):
            trials = scalarised(
                told, random_weights(len(told), rng), math.log1p(self._keeping.margin)
            )
            ask = self._searchers[0].propose if new else self._searchers[0].verify
            found = ask(space, trials, BATCH * number // WEIGHTINGS, rng.getrandbits(31))
            others = [c for c in found if c not in chosen]
            chosen += others[: BATCH * number // WEIGHTINGS - len(chosen)]
        return chosen

    def points(self, facets: Sequence[ObjectiveView], count: int) -> list[Arm]:
        """See ``FrontSearch.points``."""
        told = _told(facets)
        known = ObjectiveModels(self._space, self._searchers, told)
        among = set(mean_points(told))
        return [arm_of(c) for c in best_points(known, among, count, self._keeping.margin)]


def _told(facets: Sequence[ObjectiveView]) -> list[list[Trial]]:
    return [trials_of(facet.history) for facet in facets]


def _seed_of(seed: int, block: int) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}/front/{block}".encode()).digest()[:4])


def still_racing(facets: Sequence[ObjectiveView], margin: float) -> list[Arm]:
    """The arms of the newest search block without those that are dominated or that gave up.

    Nor those that are excluded (``is_excluded``). The default always stays: it shows the drift of
    the session.
    """
    first = facets[0].history
    arms = first.roster(Stage.SEARCH)
    able = [a for a in arms if a == DEFAULT_ARM or _able(facets, a)]
    if not is_look_due(len(first.blocks(Stage.SEARCH))):
        return able
    points = mean_points(_told(facets))
    known = [a for a in able if a.configuration in points]
    out = {
        arm.name
        for arm in known
        if (rival := _rival(arm, known, points, margin)) is not None
        and _shown_worse(_gaps(facets, arm, rival), margin)
    }
    return [a for a in able if a == DEFAULT_ARM or a.name not in out]


def _able(facets: Sequence[ObjectiveView], arm: Arm) -> bool:
    has_failed_block = any(
        facet.history.has_failed_block(Stage.SEARCH, arm.name) for facet in facets
    )
    return not has_failed_block and not is_excluded(facets[0].history, arm.configuration)


def _rival(
    arm: Arm,
    others: Sequence[Arm],
    points: dict[Configuration, tuple[float, ...]],
    margin: float,
) -> Arm | None:
    """Who is ahead of an arm by most in the objective in which it is ahead by least.

    One is enough: each further one would be a further chance to drop an arm wrongly.
    """
    scale = extent([points[other.configuration] for other in others], math.log1p(margin))
    mine = points[arm.configuration]

    def lead(other: Arm) -> float:
        ahead = zip(mine, points[other.configuration], scale, strict=True)
        return min((a - b) / size for a, b, (_, size) in ahead)

    rivals = [other for other in others if other != arm]
    return max(rivals, key=lambda other: (lead(other), other.name), default=None)


def _gaps(facets: Sequence[ObjectiveView], arm: Arm, other: Arm) -> list[Interval]:
    """How much worse one arm was than another, in each objective: intervals of log-ratios."""
    return [_gap(facet, arm, other) for facet in facets]


def _gap(facet: ObjectiveView, arm: Arm, other: Arm) -> Interval:
    """A figure that differs by the same in every block is known: a size often is."""
    matrix = facet.history.log_matrix(Stage.SEARCH, [arm.name, other.name])
    gaps = [float(a - b) for a, b in matrix if not math.isnan(a - b)]
    if len(gaps) >= MIN_SEARCH_BLOCKS and max(gaps) == min(gaps):
        return Interval(gaps[0], gaps[0])
    return difference_interval(matrix, 0, 1)


def _precise(gap: Interval, margin: float) -> bool:
    """Whether half an interval is at most the margin, or a quarter of what it is about."""
    half = (gap.hi - gap.lo) / 2
    return math.isfinite(half) and half <= max(math.log1p(margin), abs(gap.hi + gap.lo) / 8)


def _shown_worse(gaps: Sequence[Interval], margin: float) -> bool:
    """Worse in one objective, and in no other better by as much as the margin."""
    near = -math.log1p(margin)
    return all(gap.lo > near for gap in gaps) and any(gap.lo > 0.0 for gap in gaps)
