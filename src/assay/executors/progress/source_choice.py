"""Choice of the sources of a launch from its metrics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from assay.executors.progress.channel import ChannelFollower
from assay.executors.progress.file_kinds import FilesFollower, value_follower
from assay.executors.progress.launch_clock import LaunchClock
from assay.executors.progress.metric_series import MetricSeries
from assay.executors.progress.output_files import AppendedFile, LineFollower
from assay.executors.progress.presets.registry import preset_named
from assay.executors.progress.sources import (
    LineSource,
    PatternReader,
    PresetReader,
    ReportSource,
    Source,
)
from assay.records import Metric, Progress


def output_source(
    metrics: Sequence[Metric], files: Sequence[Path], clock: LaunchClock
) -> LineSource | None:
    """Return the source of values in the output of one instance; ``None`` without such metrics.

    Args:
        metrics: metrics with progress.
        files: output files of the instance.
        clock: clock of the launch.
    """
    own = [metric for metric in metrics if _source(metric).file is None]
    return _line_source(own, [LineFollower(AppendedFile(path), clock) for path in files])


def _line_source(metrics: Sequence[Metric], followers: Sequence[LineFollower]) -> LineSource | None:
    """Return the source of the metrics that lines contain; ``None`` without such metrics."""
    patterns = [
        PatternReader(metric, _source(metric)) for metric in metrics if _has_pattern(metric)
    ]
    presets = [
        PresetReader(preset_named(name), [_preset_series(metric) for metric in group])
        for name, group in _by_preset(metrics).items()
    ]
    return LineSource(followers, patterns, presets) if patterns or presets else None


def _has_pattern(metric: Metric) -> bool:
    return _source(metric).pattern is not None


def _by_preset(metrics: Sequence[Metric]) -> dict[str, list[Metric]]:
    found: dict[str, list[Metric]] = {}
    for metric in metrics:
        name = _source(metric).preset
        if name is not None and not _has_pattern(metric):
            found.setdefault(name, []).append(metric)
    return found


def _preset_series(metric: Metric) -> MetricSeries:
    """Return the series of a metric of a known format: the speed, or the value of its key."""
    return MetricSeries(metric, _source(metric).key or None, completed=True)


def file_sources(metrics: Sequence[Metric], folder: Path, clock: LaunchClock) -> list[Source]:
    """Return a source for each file of the program.

    Metrics with a pattern or a known format read its lines; the others read values by their key.

    Args:
        metrics: metrics with progress.
        folder: folder that relative paths start from.
        clock: clock of the launch.

    Raises:
        InvalidInputError: the format of a file is unknown.
    """
    by_file: dict[str, list[Metric]] = {}
    for metric in metrics:
        file = _source(metric).file
        if file is not None:
            by_file.setdefault(file, []).append(metric)
    found: list[Source] = []
    for file, group in by_file.items():
        path = folder / file
        in_lines = [m for m in group if _source(m).pattern or _source(m).preset]
        if in_lines:
            appended = AppendedFile(path, follow_links=True, skip_existing=True)
            lines = _line_source(in_lines, [LineFollower(appended, clock)])
            found += [lines] if lines else []
        in_values = [m for m in group if m not in in_lines]
        if in_values:
            follower = value_follower(path, clock)
            series = [_keyed_series(metric) for metric in in_values]
            found.append(ReportSource(follower, series, file, _invalid_of(follower), path=path))
    return found


def channel_source(
    metrics: Sequence[Metric], path: Path, clock: LaunchClock
) -> ReportSource | None:
    """Return the source of values in the progress channel; ``None`` without such metrics.

    Args:
        metrics: metrics with progress.
        path: FIFO of the channel.
        clock: clock of the launch.

    Raises:
        OSError: the channel cannot be opened.
    """
    own = [
        _keyed_series(metric)
        for metric in metrics
        if not (_source(metric).file or _source(metric).pattern or _source(metric).preset)
    ]
    if not own:
        return None
    follower = ChannelFollower(path, clock)
    records = follower.records
    return ReportSource(
        follower,
        own,
        "the progress channel",
        invalid=lambda: records.invalid,
        dropped=lambda: records.dropped,
    )


def _invalid_of(follower: FilesFollower) -> Callable[[], int]:
    return lambda: follower.invalid


def _keyed_series(metric: Metric) -> MetricSeries:
    return MetricSeries(metric, _source(metric).key or metric.name)


def _source(metric: Metric) -> Progress:
    if metric.progress is None:
        raise ValueError(f"{metric.name} has no progress")
    return metric.progress
