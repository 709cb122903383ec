"""Trend: figures that rise or fall while a study runs."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence

from assay.records import Sample, Stage, StudySpec
from assay.search.history.packed_samples import figures_of
from assay.stats.ranks import order_test
from assay.wording.launch_notes import trend_note

MIN_LAUNCHES = 12
"""Minimum number of launches for a trend."""
MIN_EACH = 4
"""Minimum number of launches of an arm for a trend of its own."""
ALPHA = 0.001
"""Error rate: reporting a trend of figures without one."""
MIN_TAU = 0.4
"""Minimum of Kendall's tau: the order explains a considerable part of the figures."""
MIN_RATIO = 1.2
"""Minimum ratio of the last third of the figures to the first, or of the first to the last."""


def trend_notes(spec: StudySpec, samples: Sequence[Sample]) -> list[str]:
    """Return a note if the objective rose or fell during the counted launches.

    Args:
        spec: specification of the study.
        samples: samples in the order of the launches.
    """
    metric = spec.workload.objective
    by_arm: dict[str, list[float]] = {}
    series: list[tuple[str, float]] = []
    for sample in figures_of(samples):
        value = sample.metrics.get(metric.name, 0.0)
        if sample.launch.stage is Stage.CONFIRM and sample.outcome.succeeded and value > 0:
            series.append((sample.launch.arm, value))
            by_arm.setdefault(sample.launch.arm, []).append(value)
    if len(series) < MIN_LAUNCHES:
        return []
    arms = tuple(by_arm)
    whose = _whose(by_arm)
    if whose is None:
        return []
    by_arm = {arm: by_arm[arm] for arm in whose}
    series = [(arm, value) for arm, value in series if arm in whose]
    usual = {arm: statistics.median(values) for arm, values in by_arm.items()}
    ratios = [value / usual[arm] for arm, value in series]
    tau, error = order_test(ratios)
    if abs(tau) < MIN_TAU or error > ALPHA:
        return []
    third = len(ratios) // 3
    first, last = statistics.median(ratios[:third]), statistics.median(ratios[-third:])
    if max(first, last) < MIN_RATIO * min(first, last):
        return []
    arm, ends = "", None
    if len(by_arm) == 1:
        arm = whose[0] if len(arms) > 1 else ""
        (middle,) = usual.values()
        ends = first * middle, last * middle
    change = math.fabs(last / first - 1)
    return [trend_note(metric, arm, rose=last > first, ends=ends, change=change)]


def _whose(by_arm: Mapping[str, Sequence[float]]) -> tuple[str, ...] | None:
    """Return the arms with a trend: all if all have the same direction, else the drifting one."""
    taus = {arm: order_test(values)[0] for arm, values in by_arm.items() if len(values) >= MIN_EACH}
    one_way = len({tau > 0 for tau in taus.values()}) == 1
    if not taus or (one_way and min(map(abs, taus.values())) >= MIN_TAU / 2):
        return tuple(by_arm)
    drifting = [arm for arm, tau in taus.items() if abs(tau) >= MIN_TAU]
    return (drifting[0],) if len(drifting) == 1 else None
