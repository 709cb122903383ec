"""Launch counts: numbers of launches of an arm by their outcome."""

from __future__ import annotations

from assay.records import Metric, Outcome, Sample, Stage
from assay.search.history.counts.block_costs import DEFAULT_ARM
from assay.search.history.units import ArmUnits

_SEARCHING = frozenset((Stage.SURVEY, Stage.SCREEN, Stage.SEARCH, Stage.REDUCE))
"""Stages in which a search stops slow launches."""


class LaunchCounts:
    """Counts of all launches of one arm, which each addition updates.

    Objections to a claim rest on them, so that an interim analysis does not read the samples.

    Args:
        metric: the objective.

    Attributes:
        full_time, hung: launches with the full time-out, and those of them that reached it.
        counted, failed: launches that are neither warm-ups nor failed builds, and those of them
            that failed or hung.
        succeeded: successful launches without the survey; the following counts are of these.
        zeros: launches with a figure of zero or less.
        lacking: launches whose objective is unavailable.
        bounded: launches whose objective is a lower bound.
        with_figure: launches with the objective.
        units: units of the objective.
    """

    def __init__(self, metric: Metric) -> None:
        self._metric = metric.name
        self.full_time = self.hung = 0
        self.counted = self.failed = 0
        self.succeeded = self.zeros = self.lacking = self.bounded = self.with_figure = 0
        self.units = ArmUnits(metric)

    def add(self, sample: Sample) -> None:
        """Add a launch."""
        self.full_time += had_full_time(sample)
        if not sample.outcome.succeeded:
            self.hung += is_hung(sample)
            if _is_counted(sample):
                self.counted += 1
                self.failed += 1
        elif sample.launch.stage is not Stage.SURVEY:
            self.counted += 1
            self._add_success(sample)

    def _add_success(self, sample: Sample) -> None:
        self.succeeded += 1
        self.lacking += self._metric in sample.unavailable
        value = sample.metrics.get(self._metric)
        if value is not None:
            self.zeros += value <= 0.0
            self.with_figure += 1
            self.bounded += self._metric in sample.upper_bounds
            self.units.add(sample)


def is_hung(sample: Sample) -> bool:
    """Return whether a launch hung; launches that a search stops for being slow do not count."""
    return sample.outcome is Outcome.TIMED_OUT and had_full_time(sample)


def had_full_time(sample: Sample) -> bool:
    """Return whether a launch had the full time-out."""
    return sample.launch.stage not in _SEARCHING or sample.launch.arm == DEFAULT_ARM.name


def _is_counted(sample: Sample) -> bool:
    """Return whether a failed launch counts: neither a warm-up nor a failed build."""
    if sample.outcome is Outcome.TIMED_OUT:
        return is_hung(sample)
    return sample.launch.stage is not Stage.SURVEY and not sample.build_failed
