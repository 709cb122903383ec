"""Known format of output."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from assay.executors.progress.output_files import TimedLine
from assay.executors.progress.report import Report


class LineReader(Protocol):
    """Reader of the lines of one launch; it may have a state."""

    def read(self, line: TimedLine) -> Report | None:
        """Return the report of a line; ``None`` if it has none.

        Args:
            line: line of the output.
        """
        ...


@dataclass(frozen=True, slots=True)
class Preset:
    """Known format of output.

    Attributes:
        name: name, such as ``tqdm``.
        reader: creates a reader for one launch.
        metric: suggested name of the metric of the speed.
        unit: unit of the speed.
        keys: keys of other values, with their units; programs may print more.
        speed_key: key of a printed speed; absent: the speed follows from steps and times, because
            the printed one is smoothed or a mean since the start.
    """

    name: str
    reader: Callable[[], LineReader]
    metric: str
    unit: str
    keys: Mapping[str, str]
    speed_key: str | None = None
