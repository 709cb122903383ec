"""Trend: figures that rise or fall while a study runs."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence

from assay.records import Outcome, Sample, Stage, StudySpec
from assay.stats.ranks import order_test
from assay.units import show_quantity

MIN_LAUNCHES = 12
"""Launches from which on a trend is looked for."""
MIN_EACH = 4
"""Launches of an arm from which on its own order is looked at."""
ALPHA = 0.001
"""Accepted chance that a trend is told of figures without one."""
MIN_TAU = 0.4
"""Kendall's tau from which on the order explains a good part of the figures."""
MIN_RATIO = 1.2
"""Ratio of the last third of the figures to the first, or of the first to the last."""


def trend_notes(spec: StudySpec, samples: Sequence[Sample]) -> list[str]:
    """Say that the objective rose or fell while the launches that count were made.

    Args:
        spec: of the study.
        samples: in the order they were made.
    """
    metric = spec.workload.objective
    by_arm: dict[str, list[float]] = {}
    series: list[tuple[str, float]] = []
    for sample in samples:
        value = sample.metrics.get(metric.name, 0.0)
        if sample.launch.stage is Stage.CONFIRM and sample.outcome is Outcome.OK and value > 0:
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
    of = ""
    if len(by_arm) == 1:
        of = f" of {whose[0]}" if len(arms) > 1 else ""
        (middle,) = usual.values()
        values = (show_quantity(ratio * middle, metric.unit) for ratio in (first, last))
        told = "from {} to {}".format(*values)
    else:
        change = 100 * math.fabs(last / first - 1)
        told = f"by {change:.0f} % in all arms together"
    verb = "rose" if last > first else "fell"
    return [
        f"{metric.name}{of} {verb} while the study ran, {told} (medians of the first and the last "
        "third of the launches), so its mean depends on their number: launches may leave something "
        "behind that later ones meet (--prepare puts it back), or the machine changed"
    ]


def _whose(by_arm: Mapping[str, Sequence[float]]) -> tuple[str, ...] | None:
    """Return the arms to tell a trend of: all if all go one way, else the one that drifts."""
    taus = {arm: order_test(values)[0] for arm, values in by_arm.items() if len(values) >= MIN_EACH}
    one_way = len({tau > 0 for tau in taus.values()}) == 1
    if not taus or (one_way and min(map(abs, taus.values())) >= MIN_TAU / 2):
        return tuple(by_arm)
    drifting = [arm for arm, tau in taus.items() if abs(tau) >= MIN_TAU]
    return (drifting[0],) if len(drifting) == 1 else None
