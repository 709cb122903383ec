"""Series of one metric over a launch, one for each process that reports."""

from __future__ import annotations

from math import isfinite

from assay.executors.progress.json_records import number
from assay.executors.progress.recorder import MAX_REPORTS, SeriesRecorder
from assay.executors.progress.report import Report
from assay.executors.progress.speed_units import is_time_per_step, seconds_in
from assay.executors.progress.step_count import StepCount
from assay.records import Metric

MAX_PROCESSES = 4096
"""Number of ranks with a series of their own."""
OTHER_RANKS = 1 << 31
"""Rank under which all further ones are recorded."""
MAX_OTHER_REPORTS = 1 << 12
"""Number of reports that are kept singly for ranks other than 0."""
MAX_VALUE = 1e100
"""Largest absolute value: statistics need its square."""


class ProcessSeries:
    """Reports of one process.

    Args:
        rank: rank of the process; ``None`` without one.
        completed: see ``StepCount``.

    Attributes:
        recorder: the reports.
        steps: count of the steps.
        last_s: time of the newest report since the start of the launch; ``None`` before the first.
        longest_s: longest time between two reports, in seconds.
        base: time and step of the last report with a new step, from which a speed is computed.
    """

    def __init__(self, rank: int | None, *, completed: bool) -> None:
        self.recorder = SeriesRecorder(rank, MAX_REPORTS if not rank else MAX_OTHER_REPORTS)
        self.steps = StepCount(completed=completed)
        self.last_s: float | None = None
        self.longest_s = 0.0
        self.base: tuple[float, float] | None = None

    def arrive(self, time_s: float) -> float:
        """Register the arrival of a report; return its time, never before the previous one.

        Args:
            time_s: time of the report since the start of the launch, in seconds.
        """
        last_s = self.last_s
        if last_s is not None:
            interval_s = time_s - last_s
            if interval_s <= 0.0:
                return last_s
            if interval_s > self.longest_s:
                self.longest_s = interval_s
        self.last_s = time_s
        return time_s


class MetricSeries:
    """Reports of one metric, by rank.

    Args:
        metric: metric with a source of progress.
        key: key of its value in the reports; ``None``: its value is the speed, from differences of
            step and time.
        completed: see ``StepCount``.

    Attributes:
        metric: the same.
        processes: reports of each process, by rank.
        not_finite: number of values that were NaN, infinite or too large; they are not kept.
    """

    def __init__(self, metric: Metric, key: str | None, *, completed: bool = False) -> None:
        self.metric = metric
        self.processes: dict[int | None, ProcessSeries] = {}
        self.not_finite = 0
        self._key = key
        self._completed = completed
        self._inverse = is_time_per_step(metric.unit)
        self._unit_s = seconds_in(metric.unit)

    def add(self, report: Report) -> None:
        """Add the value of a report, if it has one.

        Args:
            report: report of any process.
        """
        if report.step is not None and not isfinite(report.step):
            return
        if self._key is None:
            self._add_speed(report)
            return
        value = number(report.values.get(self._key))
        if value is not None:
            self.add_value(value, report.time_s, report.step, report.total, report.rank)

    def add_value(
        self,
        value: float,
        time_s: float,
        step: float | None = None,
        total: float | None = None,
        rank: int | None = None,
    ) -> None:
        """Add a value.

        Args:
            value: value in the unit of the metric.
            time_s: time since the start of the launch, in seconds.
            step, total, rank: see ``Report``.
        """
        process = self.processes.get(rank) or self._new_process(rank)
        time_s = process.arrive(time_s)
        epochs = process.steps.epochs
        step = process.steps.next(time_s, step, total)
        if process.steps.epochs > epochs:
            process.recorder.restart_count()
        if abs(value) <= MAX_VALUE:  # false for NaN
            process.recorder.add(time_s, step, value)
        else:
            self.not_finite += 1
            process.recorder.ends_finite = False

    def restart(self) -> None:
        """Drop all reports: they belong to something else."""
        self.processes.clear()

    @property
    def main(self) -> ProcessSeries | None:
        """Reports of the process that stands for the launch: that with the lowest rank.

        Ranks of one job advance together. The slowest rank of a launch is mostly the one with the
        most noise, and another one in each launch, which would make every launch look slow.
        """
        found = sorted(self.processes.items(), key=lambda entry: (entry[0] is not None, entry[0]))
        usable = [process for _, process in found if len(process.recorder)]
        return usable[0] if usable else None

    @property
    def reports(self) -> int:
        """Number of reports of all processes."""
        return sum(process.recorder.reports for process in self.processes.values())

    def _new_process(self, rank: int | None) -> ProcessSeries:
        if len(self.processes) >= MAX_PROCESSES:
            rank = OTHER_RANKS
        process = self.processes.get(rank)
        if process is None:
            process = ProcessSeries(rank, completed=self._completed)
            self.processes[rank] = process
        return process

    def _add_speed(self, report: Report) -> None:
        """Add the speed since the last report with a new step."""
        if report.step is None:
            return
        process = self.processes.get(report.rank) or self._new_process(report.rank)
        time_s = process.arrive(report.time_s)
        step = process.steps.next(time_s, report.step, report.total)
        if process.base is None:
            process.base = time_s, step
            return
        since_s, since_step = process.base
        if step <= since_step or time_s <= since_s:
            return
        process.base = time_s, step
        per_step_s = (time_s - since_s) / (step - since_step)
        value = per_step_s / self._unit_s if self._inverse else self._unit_s / per_step_s
        process.recorder.add(time_s, step, value)
