"""Sources of reports: each joins a follower with the metrics that read from it."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Protocol

from assay.executors.progress.line_matching import LineMatcher
from assay.executors.progress.metric_series import MetricSeries
from assay.executors.progress.output_files import LineFollower, TimedLine
from assay.executors.progress.presets.preset import Preset
from assay.executors.progress.report import Report
from assay.executors.progress.speed_units import UnitConverter
from assay.records import Metric, Progress

LAST_LINES = 5
"""Number of output lines that are kept for a message."""
MAX_KEYS = 32
"""Number of reported keys that are kept for a message."""
_MAX_LEAD_S = 1.0
"""Largest lead of a program's own time over the arrival of its line, from delays of the first."""
_time = itemgetter(0)


class Source(Protocol):
    """Source of the reports of some metrics."""

    @property
    def series(self) -> Sequence[MetricSeries]:
        """Series of the metrics."""
        ...

    def read(self) -> None:
        """Add the reports since the previous reading to the series."""
        ...

    def finish(self) -> None:
        """Add all remaining reports; the program has ended."""
        ...

    def close(self) -> None:
        """Close the files."""
        ...


class PatternReader:
    """Reads the value of one metric from lines by its pattern.

    Args:
        metric: metric with a pattern.
        progress: its source.

    Attributes:
        units: converter of the values.
        matcher: matcher of the pattern.
        series: series of the metric.
    """

    def __init__(self, metric: Metric, progress: Progress) -> None:
        self.units = UnitConverter(metric.unit)
        self.matcher = LineMatcher(progress.pattern or "", self.units)
        self.series = MetricSeries(metric, "")

    def read(self, lines: Sequence[TimedLine]) -> None:
        """Add the values of lines in which the pattern matches.

        Args:
            lines: lines of the output.
        """
        self.matcher.read(lines, self.series)


class PresetReader:
    """Reads the values of some metrics from lines of a known format.

    Args:
        preset: known format.
        series: series of the metrics.

    Attributes:
        preset, series: the same.
        reports: number of reports in the lines.
        keys: keys of their values, at most 32.
    """

    def __init__(self, preset: Preset, series: Sequence[MetricSeries]) -> None:
        self.preset = preset
        self.series = tuple(series)
        self.reports = 0
        self.keys: set[str] = set()
        self._reader = preset.reader()

    def read(self, lines: Sequence[TimedLine]) -> None:
        """Add the values of lines.

        Args:
            lines: lines of the output.
        """
        for line in lines:
            for report in self._reader.read(line):
                self.reports += 1
                report.time_s = min(report.time_s, line[0] + _MAX_LEAD_S)
                if len(self.keys) < MAX_KEYS:
                    self.keys.update(report.values)
                for series in self.series:
                    if report.restarted:
                        series.restart()
                    series.add(report)


class LineSource:
    """Lines of the output files of one process, or of a text file.

    Args:
        followers: followers of the files.
        patterns: readers of metrics with a pattern.
        presets: readers of known formats.

    Attributes:
        followers, patterns, presets: the same.
        last_lines: newest lines.
    """

    def __init__(
        self,
        followers: Sequence[LineFollower],
        patterns: Sequence[PatternReader],
        presets: Sequence[PresetReader] = (),
    ) -> None:
        self.followers = tuple(followers)
        self.patterns = tuple(patterns)
        self.presets = tuple(presets)
        self._readers: tuple[PatternReader | PresetReader, ...] = (*self.patterns, *self.presets)
        self.series: tuple[MetricSeries, ...] = (
            *(pattern.series for pattern in patterns),
            *(series for preset in presets for series in preset.series),
        )
        self.last_lines: deque[str] = deque(maxlen=LAST_LINES)

    @property
    def lines(self) -> int:
        """Number of lines so far."""
        return sum(follower.lines for follower in self.followers)

    def read(self) -> None:
        """Add the values of new lines."""
        self._match([follower.read() for follower in self.followers])

    def finish(self) -> None:
        """Add the values of all remaining lines."""
        self._match([follower.finish() for follower in self.followers])

    def close(self) -> None:
        """Close the files."""
        for follower in self.followers:
            follower.close()

    def _match(self, found: Sequence[list[TimedLine]]) -> None:
        full = [lines for lines in found if lines]
        if not full:
            return
        merged = full[0] if len(full) == 1 else list(heapq.merge(*full, key=_time))
        self.last_lines.extend(text for _, text, _ in merged[-LAST_LINES:])
        for reader in self._readers:
            reader.read(merged)


class ReportFollower(Protocol):
    """Follower that returns reports."""

    def read(self) -> list[Report]:
        """Return the reports since the previous reading."""
        ...

    def finish(self) -> list[Report]:
        """Return all remaining reports; the program has ended."""
        ...

    def close(self) -> None:
        """Close the files."""
        ...


class ReportSource:
    """Reports of the progress channel, or of a file of values.

    Args:
        follower: follower of the channel or file.
        series: series of the metrics that the program reports there.
        place: name of the channel or file for messages.
        invalid: returns the number of items that could not be read.
        dropped: returns the number of reports that the program could not write.
        path: path of the file; ``None`` for the channel.

    Attributes:
        series, place, invalid, dropped, path: the same.
        keys: keys that the program reported, at most 32.
    """

    def __init__(
        self,
        follower: ReportFollower,
        series: Sequence[MetricSeries],
        place: str,
        invalid: Callable[[], int],
        dropped: Callable[[], int] = int,
        path: Path | None = None,
    ) -> None:
        self._follower = follower
        self.series = tuple(series)
        self.place = place
        self.invalid = invalid
        self.dropped = dropped
        self.path = path
        self.keys: set[str] = set()

    def read(self) -> None:
        """Add the values of new reports."""
        self._add(self._follower.read())

    def finish(self) -> None:
        """Add the values of all remaining reports."""
        self._add(self._follower.finish())

    def close(self) -> None:
        """Close the files."""
        self._follower.close()

    def _add(self, reports: Sequence[Report]) -> None:
        for report in reports:
            if len(self.keys) < MAX_KEYS:
                self.keys.update(report.values)
            for series in self.series:
                series.add(report)
