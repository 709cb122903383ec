"""Diagnosis of missing reports: silence, a pattern without a match, and invalid values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from assay.executors.metrics.matching import quoted
from assay.executors.progress.metric_series import MetricSeries, ProcessSeries
from assay.executors.progress.notices import Notice, shown_lines
from assay.executors.progress.sources import (
    LineSource,
    PatternReader,
    PresetReader,
    ReportSource,
    Source,
)
from assay.records.sample import PROGRESS_QUOTES

LAST_LINES, LAST_OF_THESE = PROGRESS_QUOTES
SILENCE_FACTOR = 10.0
"""Multiple of the longest time between two reports beyond which a program is silent."""
MIN_SILENCE_S = 30.0
"""Shortest time without a report that counts as silence, in seconds."""
_NOT_A_NUMBER = re.compile(r"(?<!\w)(?:nan|inf(?:inity)?)(?!\w)", re.IGNORECASE)
"""Value in a line that is no finite number."""
SILENT = "the program has printed nothing so far, or buffers its output"
"""Finding on an output without a line."""
MIN_LINES = 5
"""Number of output lines without a match from which on a running launch is reported."""


class SilenceWatch:
    """Finds processes that have stopped reporting while the launch runs.

    Each silence of a process is reported once, even if it reports several metrics.
    """

    def __init__(self) -> None:
        self._reported: dict[tuple[int, int | None], float] = {}

    def notices(self, all_series: Sequence[MetricSeries], now_s: float) -> Iterator[Notice]:
        """Yield a notice for each new silence.

        Args:
            all_series: series of the launch.
            now_s: time since the start of the launch, in seconds.
        """
        reported: set[int | None] = set()
        for number, series in enumerate(all_series):
            for rank, process in series.processes.items():
                last_s = process.last_s
                if last_s is None or not is_silent(process, now_s):
                    continue
                key = number, rank
                if self._reported.get(key) == last_s:
                    continue
                self._reported[key] = last_s
                if rank in reported:
                    continue
                reported.add(rank)
                yield _silence(series, rank, process, now_s - last_s)


def is_silent(process: ProcessSeries, now_s: float) -> bool:
    """Return whether the time since the last report is far longer than all times before.

    Args:
        process: reports of one process, at least two of them.
        now_s: time since the start of the launch, in seconds.
    """
    if process.last_s is None or process.longest_s <= 0.0:
        return False
    limit_s = max(SILENCE_FACTOR * process.longest_s, MIN_SILENCE_S)
    return now_s - process.last_s > limit_s


def _silence(
    series: MetricSeries, rank: int | None, process: ProcessSeries, silent_s: float
) -> Notice:
    who = "The program" if rank is None else f"Rank {rank}"
    return Notice(
        kind="progress_silent",
        text=f"{who} has reported no {series.metric.name} for {silent_s:.0f} s; the longest time "
        f"between two reports was {process.longest_s:.3g} s. It may hang, work on something else, "
        "or buffer its output.",
        metric=series.metric.name,
        value=silent_s,
        unit="s",
    )


def unmatched(source: Source, advice: str, *, ended: bool) -> Iterator[Notice]:
    """Yield a notice for each metric of a source that has no report.

    Args:
        source: source of the reports.
        advice: see ``buffering_advice``.
        ended: whether the launch has ended; before, a few lines of output prove nothing.
    """
    if isinstance(source, LineSource):
        yield from _unmatched_lines(source, advice, ended=ended)
        return
    if not ended or not isinstance(source, ReportSource):
        return
    for series in source.series:
        if not series.reports and not series.not_finite:
            yield _no_values(source, series)


def _unmatched_lines(source: LineSource, advice: str, *, ended: bool) -> Iterator[Notice]:
    if not ended and source.lines < MIN_LINES:
        return
    last = shown_lines(list(source.last_lines))
    seen = f"{LAST_LINES} {last}" if last else SILENT
    for pattern in source.patterns:
        if not pattern.matcher.matches:
            yield _never(pattern, source.lines, seen, advice)
    for preset in source.presets:
        for series in preset.series:
            if not series.reports and not series.not_finite:
                yield _preset_without_values(preset, series, source.lines, seen, advice)


def _preset_without_values(
    preset: PresetReader, series: MetricSeries, lines: int, seen: str, advice: str
) -> Notice:
    name = series.metric.name
    key = series.metric.progress.key if series.metric.progress else ""
    if preset.reports and key:
        keys = ", ".join(sorted(preset.keys)) or "no values"
        text = f"The output of {preset.preset.name} contains no {key!r} for {name}; it contains "
        text += f"{keys}."
    elif preset.reports:
        text = f"The output of {preset.preset.name} contains fewer than two steps for {name}."
    elif seen == SILENT:
        text = f"None of {lines} lines has the format of {preset.preset.name}; {seen}. {advice}"
    else:
        text = f"None of {lines} lines has the format of {preset.preset.name}; {seen}. "
        text += f"{preset.preset.advice} For other formats give a pattern as NAME=REGEX."
    return Notice(kind="progress_never", text=text, metric=name, value=float(lines), unit="lines")


def _never(pattern: PatternReader, lines: int, seen: str, buffering: str) -> Notice:
    metric = pattern.series.metric
    progress = metric.progress
    shown = quoted((progress and progress.pattern) or "")
    advice = "Correct the pattern, or make the program flush its output."
    if seen == SILENT:
        advice = buffering
    elif _NOT_A_NUMBER.search(seen):
        advice = "These lines contain NaN or inf. Check the program with these settings, or "
        advice += "correct the pattern."
    return Notice(
        kind="progress_never",
        text=f"The pattern {shown} of {metric.name} matches none of {lines} lines; {seen}. "
        f"{advice}",
        metric=metric.name,
        value=float(lines),
        unit="lines",
    )


def _no_values(source: ReportSource, series: MetricSeries) -> Notice:
    metric = series.metric
    key = (metric.progress and metric.progress.key) or metric.name
    invalid = source.invalid()
    also = f"; {invalid} items there could not be read" if invalid else ""
    keys = ", ".join(sorted(source.keys))
    known, advice = f"It reported {keys}", "Check the name of the value."
    if not keys:
        known, advice = _nothing(source, metric.name, key)
    return Notice(
        kind="progress_never",
        text=f"The program reported no value of {key!r} in {source.place}{also}. {known}. {advice}",
        metric=metric.name,
    )


def _nothing(source: ReportSource, name: str, key: str) -> tuple[str, str]:
    """Return the finding and the advice on a channel or file without any value."""
    if source.path is None:
        by_call = f"have the program call assay.progress({key}=...)"
        return (
            "It reported nothing there",
            f"If it prints the value, use --progress '{name}=REGEX'; otherwise {by_call}.",
        )
    if not source.path.exists():
        return f"{source.place} does not exist", "Check the path of --progress-file."
    return f"{source.place} exists, and the launch added no value", (
        "Check that the program writes this file, and flushes it."
    )


def invalid_values(source: Source) -> Iterator[Notice]:
    """Yield notices on values that are not kept and on steps that fell.

    Args:
        source: source of the reports; the launch has ended.
    """
    for series in source.series:
        name = series.metric.name
        if series.not_finite:
            yield _not_finite(source, series)
        for process in series.processes.values():
            yield from _fallen_steps(name, process)
    if isinstance(source, LineSource):
        for pattern in source.patterns:
            yield from _invalid_matches(pattern)
        yield from _skipped_contents(source)
    elif isinstance(source, ReportSource) and source.dropped():
        yield Notice(
            kind="progress_dropped",
            text=f"{source.dropped()} reports did not fit into {source.place} and are missing. "
            "Report less often.",
            value=float(source.dropped()),
            unit="reports",
        )


def _not_finite(source: Source, series: MetricSeries) -> Notice:
    name, count = series.metric.name, series.not_finite
    text = f"Values of {name} that were NaN, infinite or above 1e100 are left out: {count}."
    main = series.main
    if main is not None and not main.recorder.ends_finite:
        text = (
            f"{text[:-1]}, the last one of the launch among them. The training may have diverged."
        )
    if not series.reports:
        text = f"All {count} values of {name} are NaN, infinite or above 1e100"
        if isinstance(source, LineSource):
            text += f"; {LAST_LINES} {shown_lines(list(source.last_lines))}"
        text += "."
    return Notice(kind="progress_not_finite", text=text, metric=name, value=float(count))


def _fallen_steps(name: str, process: ProcessSeries) -> Iterator[Notice]:
    steps = process.steps
    if steps.unexpected:
        times = "once" if steps.unexpected == 1 else f"{steps.unexpected} times"
        yield Notice(
            kind="progress_steps_restarted",
            text=f"The step of {name} began again {times}, as in each epoch. The count is "
            "continued.",
            metric=name,
            value=float(steps.unexpected),
        )
    if not steps.falls:
        return
    first = steps.fallen[0]
    yield Notice(
        kind="progress_steps_fell",
        text=f"The step of {name} fell from {first.before:g} to {first.after:g} at "
        f"{first.time_s:.1f} s, as after a restart from a checkpoint. The count is continued. "
        f"Number of such falls: {steps.falls}.",
        metric=name,
        value=float(steps.falls),
    )


def _invalid_matches(pattern: PatternReader) -> Iterator[Notice]:
    name = pattern.series.metric.name
    for reason, count in pattern.matcher.invalid.items():
        text = f"Values of {name} that are left out because of their form: {count} ({reason})"
        if count == pattern.matcher.matches:
            text = f"None of the {count} matches of the pattern of {name} is usable ({reason})"
        yield Notice(
            kind="progress_invalid",
            text=f"{text}; {LAST_OF_THESE} {shown_lines([pattern.matcher.example])}.",
            metric=name,
            value=float(count),
        )
    if pattern.units.converted:
        units = ", ".join(sorted(pattern.units.converted))
        yield Notice(
            kind="progress_unit_changed",
            text=f"The printed unit of {name} changed; values in {units} are converted to "
            f"{pattern.units.unit}.",
            metric=name,
        )


def _skipped_contents(source: LineSource) -> Iterator[Notice]:
    for follower in source.followers:
        if follower.file.skipped_bytes:
            yield Notice(
                kind="progress_skipped",
                text=f"The program wrote {follower.file.path.name} faster than assay reads it, and "
                f"{follower.file.skipped_bytes} bytes were skipped. Print less beside the values.",
                value=float(follower.file.skipped_bytes),
                unit="bytes",
            )


def missing_ranks(series: MetricSeries, now_s: float) -> Iterator[Notice]:
    """Yield a notice if some ranks of a job report and others do not.

    Args:
        series: series of a metric.
        now_s: time since the start of the launch, in seconds.
    """
    ranks = [rank for rank in series.processes if rank is not None]
    if not ranks:
        return
    absent = sorted(set(range(max(ranks))) - set(ranks))
    last_s = max(process.last_s or 0.0 for process in series.processes.values())
    stopped = sorted(rank for rank in ranks if is_silent(series.processes[rank], last_s))
    main = series.main.recorder.rank if series.main else min(ranks)
    for kind, found in (("never reported", absent), ("stopped reporting", stopped)):
        if found:
            listed = ", ".join(map(str, found[:8])) + (", ..." if len(found) > 8 else "")
            yield Notice(
                kind="progress_ranks",
                text=f"Rank {listed} {kind} {series.metric.name} although others report it; the "
                f"series is that of rank {main}.",
                metric=series.metric.name,
                value=float(len(found)),
                unit="ranks",
            )
