"""Summary of the studies of a row."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from assay.records import RecommendationStatus

from .studies import Answer

MARGIN = 0.01


@dataclass(frozen=True)
class Row:
    """Figures of all studies of one kind.

    Attributes:
        space: effects of a simulated space, or noise and default of recorded spaces.
        simulated: true for a simulated space, whose idle settings are known.
        without: true if no setting has an effect.
        regret, regret_error: mean regret and its standard error.
        default, unproven, proven: shares of the answers.
        idle: share of recommendations with an idle setting; those of the default do not count.
        worse: share of answers that are truly worse than the default by more than the margin.
        false: share of proven answers that are not truly better.
        covered: share of unproven recommendations whose interval contains the true ratio.
        width: median ratio of the upper to the lower end of that interval.
        overclaim, overclaim_error: mean ratio of the true ratio to the expected one, minus 1, of
            unproven recommendations, and its standard error; positive for exaggerated claims.
    """

    space: str
    simulated: bool
    without: bool
    launches: int
    studies: int
    regret: float
    regret_error: float
    default: float
    unproven: float
    proven: float
    idle: float
    worse: float
    false: float
    covered: float | None
    width: float | None
    overclaim: float | None
    overclaim_error: float

    def document(self) -> dict[str, Any]:
        """Return the row for JSON."""
        return asdict(self)

    def line(self) -> str:
        """Return the row as one line, for progress."""
        parts = [f"{key} {value:.3f}" for key, value in asdict(self).items() if _is_figure(value)]
        return f"{self.space} {self.launches}: {', '.join(parts)}"


def _is_figure(value: object) -> bool:
    return isinstance(value, float)


def summary(
    space: str, launches: int, found: Sequence[Answer], *, simulated: bool, without: bool = False
) -> Row:
    """Return the row of some answers.

    Args:
        space, launches, simulated, without: attributes of the ``Row``.
        found: answers, at least one.
    """
    regrets = [one.regret for one in found]
    others = [one for one in found if one.settings]
    unproven = [one for one in found if one.status is RecommendationStatus.UNPROVEN]
    proven = [one for one in found if one.status is RecommendationStatus.PROVEN]
    claims = [one for one in unproven if one.claimed is not None and one.interval is not None]
    over = [one.ratio / (one.claimed or 1.0) - 1.0 for one in claims]
    return Row(
        space=space,
        simulated=simulated,
        without=without,
        launches=launches,
        studies=len(found),
        regret=statistics.fmean(regrets),
        regret_error=_error(regrets),
        default=1.0 - len(others) / len(found),
        unproven=len(unproven) / len(found),
        proven=len(proven) / len(found),
        idle=_share([one.idle > 0 for one in others]),
        worse=_share([one.ratio > 1.0 + MARGIN for one in found]),
        false=_share([bool(one.settings) and one.ratio >= 1.0 for one in proven])
        if proven
        else 0.0,
        covered=_share([_is_covered(one) for one in claims]) if claims else None,
        width=statistics.median(_width(one) for one in claims) if claims else None,
        overclaim=statistics.fmean(over) if over else None,
        overclaim_error=_error(over),
    )


def _error(values: Sequence[float]) -> float:
    return statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0


def _share(values: Sequence[bool]) -> float:
    return sum(values) / len(values) if values else 0.0


def _is_covered(one: Answer) -> bool:
    assert one.interval is not None
    return one.interval[0] <= one.ratio <= one.interval[1]


def _width(one: Answer) -> float:
    assert one.interval is not None
    return one.interval[1] / one.interval[0]
