"""Steady parts of the launches of a study, by arm."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from assay.records import Metric, Sample, SteadyPart

if TYPE_CHECKING:
    from assay.stats.progress.launch_curve import LaunchCurve
    from assay.stats.progress.launch_length import LaunchCost
    from assay.stats.progress.warm_up import WarmUp

MAX_POOLED = 12
"""Number of launches of an arm whose curves are pooled: more show no slower tails."""


class SteadyLaunches:
    """Steady parts and reports of the launches of a study.

    Args:
        metric: metric whose values decide when a launch ends (``Workload.steady_metric``).
        samples: samples so far.
    """

    def __init__(self, metric: Metric, samples: Iterable[Sample] = ()) -> None:
        self._name = metric.name
        self._form = metric.rate_form
        self._samples: dict[str, list[Sample]] = {}
        self._curves: dict[str, list[LaunchCurve]] = {}
        for sample in samples:
            self.add(sample)

    def add(self, sample: Sample) -> None:
        """Add a sample; one without a steady part is left out."""
        if sample.outcome.succeeded and self._name in sample.steady:
            self._samples.setdefault(sample.launch.arm, []).append(sample)
            self._add_curve(sample)

    def _add_curve(self, sample: Sample) -> None:
        from assay.stats.progress.launch_curve import launch_curve
        from assay.stats.progress.reports import reports_of

        series = sample.series.get(self._name)
        if series is not None:
            curve = launch_curve(reports_of(series), self._form)
            self._curves.setdefault(sample.launch.arm, []).append(curve)

    @property
    def arms(self) -> list[str]:
        """Names of the arms with a steady part."""
        return list(self._samples)

    def samples(self, arm: str) -> Sequence[Sample]:
        """Return the samples of an arm that have a steady part."""
        return self._samples.get(arm, ())

    def part(self, sample: Sample) -> SteadyPart:
        """Return the steady part of a sample that was added."""
        return sample.steady[self._name]

    def values(self, arm: str) -> list[tuple[float, SteadyPart]]:
        """Return the positive values of the launches of an arm, with their steady parts.

        Values that are only bounds are left out.
        """
        found = ((s.metrics.get(self._name), self.part(s)) for s in self.samples(arm))
        return [(v, part) for v, part in found if v is not None and v > 0.0 and not part.bound]

    def logs(self, arm: str) -> list[float]:
        """Return the logarithms of these values."""
        return [math.log(value) for value, _ in self.values(arm)]

    @property
    def parts(self) -> list[SteadyPart]:
        """Steady parts of all launches, except those that ended early as worse."""
        return [
            part
            for samples in self._samples.values()
            for part in map(self.part, samples)
            if not part.ended_early
        ]

    def warm_up(self, arms: Iterable[str]) -> WarmUp | None:
        """Return the warm-up that counts for all of these arms: the longest of theirs.

        Args:
            arms: names of the arms; those without a launch are left out.
        """
        from assay.stats.progress.warm_up import common_warm_up, pooled_period, pooled_warm_up

        launches = {arm: self.curves(arm) for arm in arms if arm in self._samples}
        period = pooled_period([one for each in launches.values() for one in each])
        return common_warm_up([pooled_warm_up(each, period) for each in launches.values()])

    def curves(self, arm: str) -> list[LaunchCurve]:
        """Return the step times of the newest launches of an arm."""
        return self._curves.get(arm, [])[-MAX_POOLED:]

    @property
    def min_telling_reports(self) -> int:
        """Number of reports of a launch from which on it shows whether it became steady."""
        from assay.stats.progress.warm_up import MIN_TELLING_REPORTS

        return MIN_TELLING_REPORTS

    def step_variance(self) -> float | None:
        """Return the long-run variance of a step relative to the mean; ``None`` if unknown."""
        from assay.stats.progress.launch_length import step_variance

        return step_variance(self.parts)

    def cost(self) -> LaunchCost | None:
        """Return the cost of a launch, by its steady steps; ``None`` without a launch."""
        from assay.stats.progress.launch_length import launch_cost

        parts = self.parts
        return launch_cost(parts, self._outside_s()) if parts else None

    def _outside_s(self) -> float:
        """Return the mean time of a launch after its last steady report, in seconds."""
        rest = [
            max(0.0, sample.total_wall_s - self.part(sample).end_s)
            for samples in self._samples.values()
            for sample in samples
        ]
        return math.fsum(rest) / len(rest) if rest else 0.0
