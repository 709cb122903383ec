"""Outliers: a few launches far from all others, which change a mean but not a median."""

from __future__ import annotations

import math
from collections.abc import Sequence

from assay.records import ArmResult, Kind, Stage, Statistic, StudySpec
from assay.search.history.arm_result import LaunchesByArm, counted_launches
from assay.search.history.history import History
from assay.search.history.packed_samples import figures_of
from assay.stats.quantile import quantile
from assay.wording.launch_notes import outlier_note

MIN_DISTANCE = 3.0
"""Minimum factor between an outlier and the median."""
FENCE_FACTOR = 4.0
"""Minimum distance from the quartiles, in interquartile ranges, of both the values and their
logarithms (after Tukey 1977, whose outer fence is 3): skewed figures reach far beyond their median,
and one study of 500 beyond this."""
MIN_LAUNCHES = 12
"""Minimum number of launches to detect a single outlier."""
MAX_SHARE = 0.1
"""Maximum share of outliers; more are part of the program's behaviour."""
MIN_SHIFT = 0.01
"""Minimum shift of the mean for a note, as a share of the median."""


def outlier_notes(
    spec: StudySpec, history: History, launches: LaunchesByArm, results: Sequence[ArmResult]
) -> list[str]:
    """Return notes on outliers of an arm, and on the statistic that they do not change.

    Args:
        spec: specification of a measurement or a comparison.
        history: history of the study.
        launches: launches of the confirmation, by arm.
        results: results of these arms; arms with two groups of launches are skipped.
    """
    if spec.kind not in (Kind.MEASURE, Kind.COMPARE) or spec.statistic is not Statistic.MEAN:
        return []
    metric = spec.workload.objective
    notes = []
    for result in results:
        samples, _ = counted_launches(history, Stage.CONFIRM, launches[result.name])
        figures = figures_of(samples)
        values = [s.metrics[metric.name] for s in figures if metric.name in s.metrics]
        far = [] if result.modes else outliers(values)
        if far:
            notes.append(
                outlier_note(
                    metric,
                    "" if spec.kind is Kind.MEASURE else result.name,
                    len(values),
                    len(far),
                    far[0],
                    quantile(values, 0.5),
                    math.fsum(values) / len(values),
                )
            )
    return notes


def outliers(values: Sequence[float]) -> list[float]:
    """Return the outliers, the farthest first; none if there are many.

    Args:
        values: values of equal launches.
    """
    if len(values) < MIN_LAUNCHES or min(values) <= 0.0:
        return []
    logs = [math.log(value) for value in values]
    middle = quantile(logs, 0.5)
    near, near_logs = _fences(values), _fences(logs)
    found = [
        value
        for value, log in zip(values, logs, strict=True)
        if abs(log - middle) >= math.log(MIN_DISTANCE)
        and not near[0] <= value <= near[1]
        and not near_logs[0] <= log <= near_logs[1]
    ]
    if len(found) > max(1.0, MAX_SHARE * len(values)):
        return []
    median = math.exp(middle)
    moved = abs(math.fsum(value - median for value in found)) / len(values)
    if moved < MIN_SHIFT * median:
        return []
    return sorted(found, key=lambda value: -abs(math.log(value) - middle))


def _fences(values: Sequence[float]) -> tuple[float, float]:
    low, high = quantile(values, 0.25), quantile(values, 0.75)
    reach = FENCE_FACTOR * (high - low)
    return low - reach, high + reach
