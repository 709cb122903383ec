"""Choice of the sources of a launch from its metrics."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.executors.progress.channel import ChannelFollower
from assay.executors.progress.launch_clock import LaunchClock
from assay.executors.progress.metric_series import MetricSeries
from assay.executors.progress.output_files import AppendedFile, LineFollower
from assay.executors.progress.sources import ChannelSource, LineSource, PatternReader, Source
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
    readers = [PatternReader(metric, _source(metric)) for metric in own if _source(metric).pattern]
    if not readers:
        return None
    return LineSource([LineFollower(AppendedFile(path), clock) for path in files], readers)


def file_sources(metrics: Sequence[Metric], folder: Path, clock: LaunchClock) -> list[Source]:
    """Return a source for each file of the program.

    Args:
        metrics: metrics with progress.
        folder: folder that relative paths start from.
        clock: clock of the launch.
    """
    return []


def channel_source(metrics: Sequence[Metric], follower: ChannelFollower) -> ChannelSource | None:
    """Return the source of values in the progress channel; ``None`` without such metrics.

    Args:
        metrics: metrics with progress.
        follower: follower of the channel.
    """
    own = [
        MetricSeries(metric, _source(metric).key or metric.name)
        for metric in metrics
        if not (_source(metric).file or _source(metric).pattern or _source(metric).preset)
    ]
    return ChannelSource(follower, own) if own else None


def _source(metric: Metric) -> Progress:
    if metric.progress is None:
        raise ValueError(f"{metric.name} has no progress")
    return metric.progress
