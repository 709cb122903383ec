"""Confirmation: who is held against the default, and who of them is recommended.

Beside the winner of a search runs its *core*, the one or two settings that may do all that the
winner does, where a model expects that and the budget has room. Both are held against the default
in the same blocks, so that their difference is known as well as their gains.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from assay.records import DEFAULT, Arm, Configuration, Stage, StudySpec
from assay.search.history import History
from assay.search.reduction import may_go
from assay.search.searcher import Searcher, Trial
from assay.search.space import SearchSpace
from assay.units import show_count

CORE_SETTINGS = 2
"""A core has at most so many settings."""
AS_GOOD = 0.5
"""Probability from which on a core is expected to lose no more than the margin."""


@dataclass(frozen=True)
class Confirmed:
    """Who runs beside the default in a confirmation.

    Attributes:
        whole: the winner of the search.
        core: some of its settings alone; ``None`` where only the winner runs.
    """

    whole: Arm
    core: Arm | None = None

    @classmethod
    def of(cls, arms: Iterable[Arm]) -> Confirmed | None:
        """Those among the arms of a block; ``None`` where the default runs alone."""
        others = {arm for arm in arms if arm.configuration != DEFAULT}
        ordered = sorted(others, key=lambda arm: len(arm.configuration), reverse=True)
        return cls(*ordered) if ordered else None

    @property
    def arms(self) -> tuple[Arm, ...]:
        """The winner, and its core if it runs."""
        return (self.whole,) if self.core is None else (self.whole, self.core)


def likely_core(
    searcher: Searcher,
    space: SearchSpace,
    trials: Sequence[Trial],
    whole: Configuration,
    margin: float,
) -> Configuration | None:
    """The likeliest of the smallest parts of a winner that are expected to be as good.

    Args:
        searcher: whose model estimates.
        space: says which parts are valid.
        trials: all launches that the model is to know.
        whole: the winner.
        margin: ratio differences below it count as none.
    """
    parts = _parts(space, whole)
    if not parts:
        return None
    losses = searcher.contrasts(space, trials, [{part: 1.0, whole: -1.0} for part in parts])
    limit = math.log1p(margin)
    chances = [
        statistics.NormalDist(loss.mean, max(loss.deviation, 1e-9)).cdf(limit)
        if math.isfinite(loss.deviation)
        else 0.0
        for loss in losses
    ]
    able = [(c, part) for c, part in zip(chances, parts, strict=True) if c >= AS_GOOD]
    return min(able, key=lambda pair: (len(pair[1]), -pair[0]))[1] if able else None


def _parts(space: SearchSpace, whole: Configuration) -> list[Configuration]:
    """The valid configurations of one or two of the settings of another one, but for itself."""
    some = (
        space.canonical(Configuration(dict(pairs)))
        for size in range(1, CORE_SETTINGS + 1)
        for pairs in itertools.combinations(whole.items(), size)
    )
    return [p for p in dict.fromkeys(some) if p not in (DEFAULT, whole) and space.valid(p)]


def is_as_good(spec: StudySpec, history: History, found: Confirmed) -> bool:
    """Whether the confirmation does not show that the core loses more than the margin."""
    if found.core is None:
        return False
    return may_go(_gaps(history, found), math.log1p(spec.margin))


def _gaps(history: History, found: Confirmed) -> list[float]:
    """By how much the core was worse than the whole, block by block: log ratios."""
    if found.core is None:
        return []
    matrix = history.log_matrix(Stage.CONFIRM, [found.core.name, found.whole.name])
    gaps = [float(core - whole) for core, whole in matrix]
    return [gap for gap in gaps if not math.isnan(gap)]


def core_notes(history: History, found: Confirmed, chosen: Arm) -> list[str]:
    """What the blocks of a confirmation say of the winner against its core.

    Args:
        history: of the study.
        found: who ran.
        chosen: the one of them that is recommended, or would be.
    """
    if found.core is None:
        return []
    gaps = _gaps(history, found)
    if not gaps:
        return []
    share = 100.0 * abs(math.expm1(statistics.fmean(gaps)))
    side = "worse" if statistics.fmean(gaps) > 0.0 else "better"
    told = (
        f"{found.core.name} alone was {share:.1f} % {side} than {found.whole.name} "
        f"in {show_count(len(gaps), 'common block', 'common blocks')}"
    )
    return [f"{told}: the other settings are left out." if chosen == found.core else f"{told}."]
