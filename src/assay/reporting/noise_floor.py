"""Noise floor: data of the picture of the baseline's variation."""

from __future__ import annotations

import statistics
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from assay.records import Claim
from assay.reporting.arms import ArmRow, Role
from assay.reporting.formatting import arm_label
from assay.reporting.frame import Ends, fences, frame
from assay.reporting.inputs import ReportInput
from assay.reporting.trials import State
from assay.stats.drift import drift_ratio
from assay.stats.quantile import quantile


@dataclass(frozen=True, slots=True)
class NoiseFigure:
    """Variation of the baseline.

    Attributes:
        baseline: label of the arm.
        numbers: numbers of its launches.
        percents: their deviations, in per cent of their median.
        spread_percent: standard deviation over the mean, in per cent; ``None`` below two launches.
        drift_percent: median of the last third against that of the first, in per cent; ``None``
            below nine launches.
        floor: ratio and interval of two identical arms, if the study ran them.
        margin: margin of equivalence.
        frame: lowest and highest deviation of the axis, in per cent; values outside are marked at
            its edge.
    """

    baseline: str
    numbers: Sequence[int]
    percents: Sequence[float]
    spread_percent: float | None
    drift_percent: float | None
    floor: Claim | None
    margin: float
    frame: Ends

    @property
    def beyond(self) -> tuple[float, ...]:
        """Return the deviations outside the axis, in per cent."""
        low, high = self.frame
        return tuple(percent for percent in self.percents if not low <= percent <= high)


def noise_figure(report: ReportInput, rows: Sequence[ArmRow]) -> NoiseFigure | None:
    """Return the variation of the baseline; ``None`` below two launches."""
    base = [row for row in rows if row.role is Role.BASELINE]
    ordered = sorted(
        (t for row in base for t in row.trials if t.state is State.VALUE and t.value),
        key=lambda t: t.number,
    )
    values = [t.value for t in ordered if t.value is not None]
    middle = quantile(values, 0.5) if values else 0.0
    if len(values) < 2 or middle <= 0:
        return None
    percents = array("d", ((v / middle - 1) * 100 for v in values))
    moved = drift_ratio(values)
    return NoiseFigure(
        baseline=arm_label(base[0].name),
        numbers=array("I", (t.number for t in ordered)),
        percents=percents,
        spread_percent=statistics.stdev(values) / statistics.fmean(values) * 100,
        drift_percent=None if moved is None else (moved - 1) * 100,
        floor=report.conclusion.noise_floor if report.conclusion else None,
        margin=report.spec.margin,
        frame=_noise_frame(percents, report.spec.margin * 100),
    )


def _noise_frame(percents: Sequence[float], margin_percent: float) -> Ends:
    """Return the axis range with padding, not below -100 % for positive values."""
    low, high = frame([fences(percents)], (min(percents), max(percents)))
    low, high = min(low, -1.5 * margin_percent), max(high, 1.5 * margin_percent)
    room = (high - low) * 0.08
    low, high = low - room, high + room
    return (max(low, -100.0) if min(percents) > -100 else low), high
