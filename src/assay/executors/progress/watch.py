"""Reports of one launch, read while it runs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from assay.executors.progress import diagnosis
from assay.executors.progress.buffering import buffered, buffering_advice, empty_output
from assay.executors.progress.launch_clock import LaunchClock
from assay.executors.progress.metric_series import MetricSeries
from assay.executors.progress.notices import Notice
from assay.executors.progress.recorder import SeriesRecorder
from assay.executors.progress.source_choice import channel_source, file_sources, output_source
from assay.executors.progress.sources import LineSource, Source
from assay.machine.document import Program
from assay.records import Metric, Series, Workload

DRAIN_INTERVAL_S = 0.05
"""Time between two readings: reading each line as it arrives costs five times as much."""
_EARLY_FINDINGS_S = 30.0
"""Running time after which output without a match, or without lines, is reported."""


class ProgressWatch:
    """Reads the reports of one launch.

    Create it before the launch starts, so that earlier contents of files do not count; call
    ``begin`` at its start, ``drain`` while it runs, ``finish`` after its end, then ``close``.

    Args:
        workload: source of the metrics; those without progress are ignored.
        outputs: output files of each instance, which may be missing still; one entry without
            instances.
        channel: FIFO of the progress channel; ``None`` without one.
        folder: folder that relative paths of files start from; the one of the workload if absent.
        program: program of the command, for advice on its output; absent if unknown.

    Raises:
        InvalidInputError: the format of a progress file is unknown.
        OSError: the channel cannot be opened.
    """

    def __init__(
        self,
        workload: Workload,
        outputs: Sequence[Sequence[Path]],
        channel: Path | None = None,
        folder: Path | None = None,
        program: Program | None = None,
    ) -> None:
        metrics = tuple(metric for metric in workload.metrics if metric.progress is not None)
        self._clock = LaunchClock(0.0)
        self._outputs: list[LineSource] = []
        self._sources: list[Source] = []
        self._silence = diagnosis.SilenceWatch()
        self._advice = buffering_advice(program, workload.argv)
        self._early_findings_reported = False
        self._instances = len(outputs)
        try:
            self._open(metrics, outputs, channel, folder or Path(workload.cwd or "."))
        except BaseException:
            self.close()
            raise

    def _open(
        self,
        metrics: Sequence[Metric],
        outputs: Sequence[Sequence[Path]],
        channel: Path | None,
        folder: Path,
    ) -> None:
        for files in outputs:
            lines = output_source(metrics, files, self._clock)
            if lines is not None:
                self._outputs.append(lines)
                self._sources.append(lines)
        self._sources += file_sources(metrics, folder, self._clock)
        if channel is not None:
            found = channel_source(metrics, channel, self._clock)
            self._sources += [found] if found else []

    def begin(self, now: float) -> None:
        """Set the start of the launch.

        Args:
            now: CLOCK_MONOTONIC, in seconds.
        """
        self._clock.start = now

    def drain(self, now: float) -> list[Notice]:
        """Read everything new, and return new notices for the user.

        Args:
            now: CLOCK_MONOTONIC, in seconds.
        """
        self._clock.tick(now)
        for source in self._sources:
            with contextlib.suppress(OSError):  # a file system may fail for a while
                source.read()
        found = list(self._silence.notices(self._all_series(), self._clock.now_s))
        if self._clock.now_s >= _EARLY_FINDINGS_S and not self._early_findings_reported:
            self._early_findings_reported = True
            for lines in self._outputs:
                found += self._early_findings(lines)
        return found

    def _early_findings(self, lines: LineSource) -> Iterator[Notice]:
        """Yield findings on the output of an instance that the user should know at once."""
        now_s = self._clock.now_s
        yield from diagnosis.unmatched(lines, self._advice, ended=False)
        yield from empty_output(lines, now_s, self._advice)
        yield from buffered(lines, now_s, self._advice, ended=False)

    def finish(self, now: float, *, reads: bool = True) -> list[Notice]:
        """Read the rest after the end of the launch, and return all findings.

        Args:
            now: CLOCK_MONOTONIC, in seconds.
            reads: false if the rest does not count, because assay ended the launch.
        """
        self._clock.tick(now)
        found: list[Notice] = []
        for source in self._sources:
            if reads:
                with contextlib.suppress(OSError):
                    source.finish()
            found += diagnosis.unmatched(source, self._advice, ended=True)
            found += diagnosis.invalid_values(source)
            for series in source.series:
                found += diagnosis.missing_ranks(series, self._clock.now_s)
        for lines in self._outputs:
            found += buffered(lines, self._clock.now_s, self._advice, ended=True)
        return found

    def close(self) -> None:
        """Close all files."""
        for source in self._sources:
            with contextlib.suppress(OSError):
                source.close()

    def __enter__(self) -> ProgressWatch:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def recorder(self, name: str, instance: int = 0) -> SeriesRecorder | None:
        """Return the reports of a metric that stand for the launch; ``None`` without any.

        Args:
            name: name of the metric.
            instance: number of the instance, in the order of the outputs.
        """
        found = [series for series in self._all_series() if series.metric.name == name]
        if instance < len(found):
            main = found[instance].main
        else:  # instances share the channel, and report their number as rank
            main = found[0].processes.get(instance) if found else None
        return main.recorder if main is not None and len(main.recorder) else None

    def instance_recorders(self, name: str) -> list[SeriesRecorder | None]:
        """Return the reports of a metric by instance; ``None`` for an instance without any.

        Instances with a common progress channel are told apart by their rank.

        Args:
            name: name of the metric.
        """
        found = [series for series in self._all_series() if series.metric.name == name]
        if len(found) == self._instances:
            return [None if each.main is None else each.main.recorder for each in found]
        by_rank = [process for each in found for process in each.processes.items()]
        by_rank.sort(key=lambda entry: (entry[0] is not None, entry[0]))
        shared = [process.recorder for _, process in by_rank if len(process.recorder)]
        return [*shared[: self._instances], *[None] * (self._instances - len(shared))]

    def recorders(self, name: str) -> list[SeriesRecorder]:
        """Return the reports of a metric by all instances and ranks.

        Args:
            name: name of the metric.
        """
        return [
            process.recorder
            for series in self._all_series()
            if series.metric.name == name
            for process in series.processes.values()
            if len(process.recorder)
        ]

    def series(self) -> dict[str, Series]:
        """Return the series of each metric with reports, for the sample."""
        names = {series.metric.name for series in self._all_series()}
        found = {name: self.recorder(name) for name in sorted(names)}
        return {name: recorder.series() for name, recorder in found.items() if recorder}

    def units(self) -> dict[str, str]:
        """Return the printed unit of each metric that has one."""
        return {
            pattern.series.metric.name: pattern.units.unit
            for source in self._sources
            if isinstance(source, LineSource)
            for pattern in source.patterns
            if pattern.units.unit
        }

    def _all_series(self) -> list[MetricSeries]:
        return [series for source in self._sources for series in source.series]
