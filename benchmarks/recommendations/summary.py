"""Summary: the figures of one row, each with its standard error where it is a share."""

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
    """Many studies of one kind.

    Attributes:
        space: the effects of a simulated space, or noise and default of tables.
        simulated: whether the space is simulated, so that idle settings are known.
        without: whether no setting has an effect.
        regret: mean; ``regret_error`` its standard error.
        default, unproven, proven: shares of the answers.
        idle: share of the recommendations other than the default with an idle setting.
        worse: share of the answers that are truly worse than the default by more than the margin.
        false: share of the proven answers that are truly no better.
        covered: share of the unproven recommendations whose interval holds the true ratio.
        width: median of the upper over the lower end of that interval.
        overclaim: mean of the true ratio over the expected one, less 1, of the unproven ones:
            positive for exaggerated claims; ``overclaim_error`` its standard error.
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
        """For JSON."""
        return asdict(self)

    def line(self) -> str:
        """In one line, for progress."""
        told = [f"{key} {value:.3f}" for key, value in asdict(self).items() if _is_figure(value)]
        return f"{self.space} {self.launches}: {', '.join(told)}"


def _is_figure(value: object) -> bool:
    return isinstance(value, float)


def summary(
    space: str, launches: int, found: Sequence[Answer], *, simulated: bool, without: bool = False
) -> Row:
    """The row of some answers.

    Args:
        space, launches, simulated, without: as ``Row`` has them.
        found: at least one.
    """
    regrets = [one.regret for one in found]
    others = [one for one in found if one.settings]
    unproven = [one for one in found if one.status is RecommendationStatus.UNPROVEN]
    proven = [one for one in found if one.status is RecommendationStatus.PROVEN]
    told = [one for one in unproven if one.told is not None and one.interval is not None]
    over = [one.ratio / (one.told or 1.0) - 1.0 for one in told]
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
        covered=_share([_holds(one) for one in told]) if told else None,
        width=statistics.median(_width(one) for one in told) if told else None,
        overclaim=statistics.fmean(over) if over else None,
        overclaim_error=_error(over),
    )


def _error(values: Sequence[float]) -> float:
    return statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0


def _share(values: Sequence[bool]) -> float:
    return sum(values) / len(values) if values else 0.0


def _holds(one: Answer) -> bool:
    assert one.interval is not None
    return one.interval[0] <= one.ratio <= one.interval[1]


def _width(one: Answer) -> float:
    assert one.interval is not None
    return one.interval[1] / one.interval[0]
