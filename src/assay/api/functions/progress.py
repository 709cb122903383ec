"""Metrics that a program reports while it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import msgspec

from assay.api.functions.argument_types import demand_type
from assay.errors import InvalidInputError, nearest
from assay.executors.metrics.matching import checked_pattern, demand_group, quoted
from assay.executors.progress.presets.registry import PRESETS
from assay.records import Goal, Metric
from assay.records.progress import Progress as ProgressSource


@dataclass(frozen=True)
class Progress:
    """Metric that the program reports while it runs.

    Without pattern, file and preset the values come from ``assay.progress(NAME=...)`` in the
    program.

    Attributes:
        name: name of the metric.
        pattern: regular expression for each line of the output; its first group is the value, and
            a group ``step`` is the number of the step.
        goal: ``lower`` or ``higher`` (default: derived from name and unit).
        unit: unit of the value (default: derived from the pattern).
        file: file that the program appends to: CSV, JSON lines or TensorBoard events.
        key: column, key or tag of the value in the file (default: the name).
        preset: name of a known format of output, such as ``tqdm``.

    Examples:
        >>> import assay
        >>> assay.Progress("sps", r"samples/s: ([0-9.]+)", goal="higher").name
        'sps'
    """

    name: str
    pattern: str | None = None
    goal: str | None = None
    unit: str = ""
    file: str | None = None
    key: str = ""
    preset: str | None = None

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            InvalidInputError: a value is invalid, or two of them exclude each other.
        """
        for field in ("name", "unit", "key"):
            demand_type(getattr(self, field), str, field)
        for field in ("pattern", "file", "preset"):
            demand_type(getattr(self, field), str | None, field)
        if not self.name.isidentifier():
            raise InvalidInputError(
                f"Invalid name of a metric: {self.name!r}.", "Use letters, digits and _."
            )
        if self.goal is not None and self.goal not in tuple(Goal):
            raise InvalidInputError(f"Invalid goal: {self.goal!r}.", "Give lower or higher.")
        if self.pattern is not None:
            checked_pattern(self.pattern, "pattern")
            demand_group(self.pattern, f"pattern {quoted(self.pattern)}", "samples/s: ([0-9.]+)")
        if self.preset is not None:
            self._demand_preset(self.preset)

    def _demand_preset(self, preset: str) -> None:
        if preset not in PRESETS:
            near = nearest(preset, tuple(PRESETS))
            raise InvalidInputError(
                f"Unknown preset: {preset!r}.",
                f"Did you mean {near}?" if near else f"Presets are {', '.join(PRESETS)}.",
            )
        if self.pattern is not None:
            raise InvalidInputError(
                "pattern and preset exclude each other.", "Leave out one of them."
            )

    @property
    def source(self) -> ProgressSource:
        """Return the source of the values, as a record of the metric."""
        return ProgressSource(
            pattern=self.pattern, file=self.file, key=self.key, preset=self.preset
        )


ProgressSources: TypeAlias = Progress | str | Sequence[Progress | str] | Mapping[str, str]
"""Metrics that a program reports: objects, patterns by name, or texts as on the command line."""


def progress_sources(given: ProgressSources | None) -> tuple[Progress | str, ...]:
    """Return the metrics in their order."""
    if given is None:
        return ()
    if isinstance(given, Mapping):
        return tuple(f"{name}={pattern}" for name, pattern in given.items())
    return (given,) if isinstance(given, Progress | str) else tuple(given)


def progress_texts(sources: Sequence[Progress | str]) -> tuple[str, ...]:
    """Return the metrics as texts of ``--progress``."""
    return tuple(one if isinstance(one, str) else _text(one) for one in sources)


def _text(progress: Progress) -> str:
    if progress.preset is not None:
        return f"{progress.name}={'.'.join(filter(None, (progress.preset, progress.key)))}"
    return progress.name if progress.pattern is None else f"{progress.name}={progress.pattern}"


def goal_texts(progress: Sequence[Progress]) -> tuple[str, ...]:
    """Return the goals as texts of an option."""
    return tuple(f"{one.name}={one.goal}" for one in progress if one.goal is not None)


def unit_texts(progress: Sequence[Progress]) -> tuple[str, ...]:
    """Return the units as texts of an option."""
    return tuple(f"{one.name}={one.unit}" for one in progress if one.unit)


def with_sources(metrics: tuple[Metric, ...], progress: Sequence[Progress]) -> tuple[Metric, ...]:
    """Return the metrics with the sources of the reported ones."""
    sources = {one.name: one.source for one in progress}
    return tuple(
        msgspec.structs.replace(metric, progress=sources[metric.name])
        if metric.name in sources
        else metric
        for metric in metrics
    )
