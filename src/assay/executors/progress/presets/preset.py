"""Known format of output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from assay.executors.progress.output_files import TimedLine
from assay.executors.progress.report import Report

SPEED_METRIC = "steps_per_s"
"""Suggested name of the metric of the speed."""
SPEED_UNIT = "steps/s"
"""Its unit."""


class LineReader(Protocol):
    """Reader of the lines of one launch; it may have a state."""

    def read(self, line: TimedLine) -> Sequence[Report]:
        """Return the reports of a line.

        Args:
            line: line of the output.
        """
        ...


@dataclass(frozen=True, slots=True)
class Preset:
    """Known format of output.

    The speed follows from differences of step and time, because printed speeds are smoothed or
    means since the start.

    Attributes:
        name: name, such as ``tqdm``.
        reader: creates a reader for one launch.
        advice: condition under which the program prints its progress.
    """

    name: str
    reader: Callable[[], LineReader]
    advice: str
