"""Metrics that a program reports while it runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from assay.errors import InvalidInputError
from assay.executors.metrics.matching import checked_pattern
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

    Example:
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
            InvalidInputError: the name, the goal or the pattern is invalid.
        """
        if not self.name.isidentifier():
            raise InvalidInputError(
                f"Invalid name of a metric: {self.name!r}.", "Use letters, digits and _."
            )
        if self.goal is not None and self.goal not in tuple(Goal):
            raise InvalidInputError(f"Invalid goal: {self.goal!r}.", "Give lower or higher.")
        if self.pattern is not None:
            checked_pattern(self.pattern, "pattern")

    @property
    def source(self) -> ProgressSource:
        """Return the source of the values, as a record of the metric."""
        return ProgressSource(
            pattern=self.pattern, file=self.file, key=self.key, preset=self.preset
        )


def progress_texts(progress: Sequence[Progress]) -> tuple[str, ...]:
    """Return the metrics as texts of ``--progress``."""
    return tuple(
        one.name if one.pattern is None else f"{one.name}={one.pattern}" for one in progress
    )


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
