"""Arms that print the same constant speed although the times of their steps differ."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from assay.records import Metric, RateForm, Sample, Series, SteadyPart
from assay.wording.progress import contradicted_speed

MIN_RATIO = 1.25
"""Smallest ratio of the work of a step, by values and times, for a note."""


def contradicted_speeds(metric: Metric, samples: Sequence[Sample]) -> list[str]:
    """Return a note if arms print constant speeds that contradict their step times.

    A measured speed varies between steps. Within a launch a constant one agrees with any step time;
    only several arms show that it does not depend on the time.

    Args:
        metric: metric that the program reports.
        samples: succeeded launches.
    """
    if metric.rate_form is RateForm.LEVEL:
        return []
    times: dict[str, list[float]] = {}
    work: dict[str, list[float]] = {}
    for sample in samples:
        series, part = sample.series.get(metric.name), sample.steady.get(metric.name)
        if series is None or part is None:
            continue
        speed, step_s = _constant(series, part), _step_s(part)
        if speed is None or step_s is None:
            return []
        arm = sample.launch.arm
        times.setdefault(arm, []).append(step_s)
        is_rate = metric.rate_form is RateForm.RATE
        work.setdefault(arm, []).append(speed * step_s if is_rate else speed / step_s)
    mean_work = {arm: statistics.median(found) for arm, found in work.items()}
    if not mean_work or max(mean_work.values()) < MIN_RATIO * min(mean_work.values()):
        return []
    mean_s = {arm: statistics.median(found) for arm, found in times.items()}
    slow, fast = max(mean_s, key=mean_s.__getitem__), min(mean_s, key=mean_s.__getitem__)
    return [contradicted_speed(metric.name, slow, fast, mean_s[slow] / mean_s[fast])]


def _constant(series: Series, part: SteadyPart) -> float | None:
    """Return the positive value that all steady reports have; ``None`` if they differ."""
    bounds = (*(series.minima or series.values), *(series.maxima or series.values))
    found = {
        value
        for step, value in zip(2 * series.steps, bounds, strict=True)
        if step > part.begin_step
    }
    value = found.pop() if len(found) == 1 else 0.0
    return value if value > 0.0 else None


def _step_s(part: SteadyPart) -> float | None:
    """Return the mean time of a steady step, in seconds."""
    steps, seconds = part.end_step - part.begin_step, part.end_s - part.begin_s
    return seconds / steps if steps > 0 and seconds > 0 else None
