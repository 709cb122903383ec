"""Search by several objectives: the configurations of the next search block.

No claim rests on a search block; its data only select the points of the front that are confirmed.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Sequence
from typing import Protocol

from assay.records import Arm, Configuration, Stage
from assay.search.history.history import DEFAULT_ARM, arm_of
from assay.search.history.interim_analyses import is_analysis_due
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
)
from assay.search.model.trials import trials_of
from assay.search.races.reserved_budget import ReservedBudget
from assay.search.races.strategy import (
    BATCH,
    BATCH_ARMS,
    MIN_SEARCH_BLOCKS,
    PROOF_SHARE,
    compares_known,
)
from assay.search.space.search_space import SearchSpace
from assay.stats.elimination import difference_interval
from assay.stats.interval import Interval

WEIGHTINGS = 4
"""Weightings of the objectives in a block; each has its share of the proposals. In simulations of
two objectives, one weighting per block left more of the front undiscovered
(docs/explanation/search.md)."""


class FrontSearch(Protocol):
    """Search of one kind; its answers follow from the samples and the budget alone."""

    def next_arms(
        self, objectives: Sequence[ObjectiveView], budget: RemainingBudget
    ) -> list[Arm] | None:
        """Return the arms of the next block, or ``None`` at the end of the search."""
        ...

    def points(self, objectives: Sequence[ObjectiveView], count: int) -> list[Arm]:
        """Return up to ``count`` arms of the known Pareto front, without the default."""
        ...


class RacingFrontSearch:
    """Race of all configurations; it eliminates those proven worse in all objectives.

    Args:
        configurations: all of them, the default first.
        space: space of the study.
        reserve: budget of the confirmation.
    """

    def __init__(
        self, configurations: Sequence[Configuration], space: SearchSpace, reserve: ReservedBudget
    ) -> None:
        self._arms = [arm_of(c) for c in configurations]
        self._space = space
        self._reserve = reserve

    def next_arms(
        self, objectives: Sequence[ObjectiveView], budget: RemainingBudget
    ) -> list[Arm] | None:
        """See ``FrontSearch.next_arms``."""
        history = objectives[0].history
        blocks = len(history.blocks(Stage.SEARCH))
        if blocks == 0:
            return None if budget.spent else self._arms
        racing = remaining_arms(objectives, self._reserve.margin)
        if racing == [DEFAULT_ARM]:
            return None
        if blocks >= MIN_SEARCH_BLOCKS and self._settled(objectives, racing):
            return None
        return racing if self._reserve.affords(history, racing, budget, PROOF_SHARE) else None

    def points(self, objectives: Sequence[ObjectiveView], count: int) -> list[Arm]:
        """See ``FrontSearch.points``."""
        racing = {a.configuration for a in remaining_arms(objectives, self._reserve.margin)}
        known = ObjectiveModels(self._space, [SampleMeans()] * len(objectives), _trials(objectives))
        return [arm_of(c) for c in best_points(known, racing, count, self._reserve.margin)]

    def _settled(self, objectives: Sequence[ObjectiveView], racing: Sequence[Arm]) -> bool:
        """Return whether all arms are known precisely enough against the default."""
        if not is_analysis_due(len(objectives[0].history.blocks(Stage.SEARCH))):
            return False
        return all(
            _precise(gap, self._reserve.margin)
            for arm in racing
            if arm != DEFAULT_ARM
            for gap in _gaps(objectives, arm, DEFAULT_ARM)
        )


class ModelFrontSearch:
    """Search by a model with several weightings of the objectives in each block.

    Args:
        space: space of the study.
        searchers: one for each objective; the first one proposes.
        seed: seed of the study.
        reserve: budget of the confirmation.
    """

    def __init__(
        self, space: SearchSpace, searchers: Sequence[Searcher], seed: int, reserve: ReservedBudget
    ) -> None:
        self._space = space
        self._searchers = searchers
        self._seed = seed
        self._reserve = reserve

    def next_arms(
        self, objectives: Sequence[ObjectiveView], budget: RemainingBudget
    ) -> list[Arm] | None:
        """See ``FrontSearch.next_arms``."""
        history = objectives[0].history
        if budget.spent or not self._reserve.affords(history, BATCH_ARMS, budget, PROOF_SHARE):
            return None
        trials_by_objective = _trials(objectives)
        space = admitted_space(history, self._space)
        chosen = self._proposed(space, trials_by_objective, len(history.blocks(Stage.SEARCH)))
        return [DEFAULT_ARM, *map(arm_of, chosen)] if chosen else None

    def _proposed(
        self, space: SearchSpace, trials_by_objective: Sequence[Sequence[Trial]], block: int
    ) -> list[Configuration]:
        """Return a batch of distinct proposals by several weightings."""
        rng = random.Random(_seed_of(self._seed, block))
        known = launched_configurations(trials_by_objective[0])
        if not known - {Configuration()}:
            return fresh_configurations(space, [], known, BATCH, rng)
        compared = compares_known(trials_by_objective[0], block)
        chosen: list[Configuration] = []
        for number in range(1, WEIGHTINGS + 1):
            trials = scalarised(
                trials_by_objective,
                random_weights(len(trials_by_objective), rng),
                math.log1p(self._reserve.margin),
            )
            ask = self._searchers[0].verify if compared else self._searchers[0].propose
            found = ask(space, trials, BATCH * number // WEIGHTINGS, rng.getrandbits(31))
            others = [c for c in found if c not in chosen]
            chosen += others[: BATCH * number // WEIGHTINGS - len(chosen)]
        return chosen

    def points(self, objectives: Sequence[ObjectiveView], count: int) -> list[Arm]:
        """See ``FrontSearch.points``."""
        trials_by_objective = _trials(objectives)
        known = ObjectiveModels(self._space, self._searchers, trials_by_objective)
        among = set(mean_points(trials_by_objective))
        return [arm_of(c) for c in best_points(known, among, count, self._reserve.margin)]


def _trials(objectives: Sequence[ObjectiveView]) -> list[list[Trial]]:
    return [trials_of(view.history) for view in objectives]


def _seed_of(seed: int, block: int) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}/front/{block}".encode()).digest()[:4])


def remaining_arms(objectives: Sequence[ObjectiveView], margin: float) -> list[Arm]:
    """Return the arms of the newest search block without dominated, failing and excluded ones.

    The default always remains: it shows the drift of the session.
    """
    first = objectives[0].history
    arms = first.newest_arms(Stage.SEARCH)
    able = [a for a in arms if a == DEFAULT_ARM or _able(objectives, a)]
    if not is_analysis_due(len(first.blocks(Stage.SEARCH))):
        return able
    points = mean_points(_trials(objectives))
    known = [a for a in able if a.configuration in points]
    out = {
        arm.name
        for arm in known
        if (rival := _rival(arm, known, points, margin)) is not None
        and _shown_worse(_gaps(objectives, arm, rival), margin)
    }
    return [a for a in able if a == DEFAULT_ARM or a.name not in out]


def _able(objectives: Sequence[ObjectiveView], arm: Arm) -> bool:
    has_failed_block = any(
        view.history.has_failed_block(Stage.SEARCH, arm.name) for view in objectives
    )
    return not has_failed_block and not is_excluded(objectives[0].history, arm.configuration)


def _rival(
    arm: Arm,
    others: Sequence[Arm],
    points: dict[Configuration, tuple[float, ...]],
    margin: float,
) -> Arm | None:
    """Return the arm with the largest minimal lead over an arm, over all objectives.

    One rival is enough: each further one would raise the error rate.
    """
    scale = extent([points[other.configuration] for other in others], math.log1p(margin))
    own_values = points[arm.configuration]

    def lead(other: Arm) -> float:
        compared = zip(own_values, points[other.configuration], scale, strict=True)
        return min((a - b) / size for a, b, (_, size) in compared)

    rivals = [other for other in others if other != arm]
    return max(rivals, key=lambda other: (lead(other), other.name), default=None)


def _gaps(objectives: Sequence[ObjectiveView], arm: Arm, other: Arm) -> list[Interval]:
    """Return the loss of an arm against another in each objective, as intervals of log ratios."""
    return [_gap(view, arm, other) for view in objectives]


def _gap(view: ObjectiveView, arm: Arm, other: Arm) -> Interval:
    """Return the interval in one objective; equal differences in all blocks give an exact value."""
    matrix = view.history.log_matrix(Stage.SEARCH, [arm.name, other.name])
    gaps = [float(a - b) for a, b in matrix if not math.isnan(a - b)]
    if len(gaps) >= MIN_SEARCH_BLOCKS and max(gaps) == min(gaps):
        return Interval(gaps[0], gaps[0])
    return difference_interval(matrix, 0, 1)


def _precise(gap: Interval, margin: float) -> bool:
    """Return whether the half width is at most the margin, or a quarter of the difference."""
    half = (gap.hi - gap.lo) / 2
    return math.isfinite(half) and half <= max(math.log1p(margin), abs(gap.hi + gap.lo) / 8)


def _shown_worse(gaps: Sequence[Interval], margin: float) -> bool:
    """Return whether an arm is worse in one objective, and in none better by the margin."""
    near = -math.log1p(margin)
    return all(gap.lo > near for gap in gaps) and any(gap.lo > 0.0 for gap in gaps)
