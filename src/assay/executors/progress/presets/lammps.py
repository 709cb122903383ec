"""Thermodynamic output of LAMMPS.

The columns are the user's. The column ``CPU`` holds seconds since the start of each ``run``; its
times are used, because LAMMPS buffers its output.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay.executors.progress.json_records import finite, number
from assay.executors.progress.output_files import TimedLine
from assay.executors.progress.presets.preset import Preset
from assay.executors.progress.report import Report

_HEADER = re.compile(r" *Step( +[A-Za-z_]\S*)+ *\Z")
_MULTI = re.compile(r"-+ Step +(\d+) -+ CPU = +([\d.]+)")
"""Line of ``thermo_style multi``."""
_BUFFERED_SHARE = 0.5
"""Share of the program's own time between two rows below which their arrival is a buffer's."""


class _Run:
    """Rows of one ``run``, with times of the program's own clock.

    The first row waits for the second one, which shows whether rows arrive when they are printed.
    If a buffer holds them back, the run is assumed to begin at the end of the previous one: its
    begin is then early, but all distances are right.

    Args:
        earliest_s: time of the last row before, since the start of the launch.

    Attributes:
        last_s: time of the newest row since the start of the launch.
    """

    def __init__(self, earliest_s: float) -> None:
        self.last_s = earliest_s
        self._first: tuple[Report, float] | None = None
        self._begin_s: float | None = None

    def add(self, row: Report, cpu_s: float) -> Sequence[Report]:
        """Return the rows whose times are known, after a new one.

        Args:
            row: row with the time of its arrival.
            cpu_s: its time since the start of the run, in seconds.
        """
        if self._begin_s is not None:
            return (self._timed(row, self._begin_s + cpu_s),)
        if self._first is None:
            self._first = row, cpu_s
            return ()
        first, first_cpu_s = self._first
        flushed = row.time_s - first.time_s >= _BUFFERED_SHARE * (cpu_s - first_cpu_s)
        begin_s = first.time_s - first_cpu_s if flushed else self.last_s
        self._begin_s = begin_s = max(begin_s, self.last_s - first_cpu_s)
        return self._timed(first, begin_s + first_cpu_s), self._timed(row, begin_s + cpu_s)

    def _timed(self, row: Report, time_s: float) -> Report:
        row.time_s = self.last_s = time_s
        return row


class ThermoReader:
    """Reads the rows of one launch."""

    def __init__(self) -> None:
        self._columns: list[str] = []
        self._run = _Run(0.0)
        self._last_cpu_s = 0.0

    def read(self, line: TimedLine) -> Sequence[Report]:
        """Return the reports of a row; see ``LineReader``."""
        text = line[1]
        multi = _MULTI.match(text)
        if multi is not None:
            return self._row(line[0], {"Step": float(multi[1]), "CPU": number(multi[2]) or 0.0})
        if _HEADER.match(text):
            self._columns = text.split()
            return ()
        if not self._columns:
            return ()
        cells = text.split()
        numbers = [number(cell) for cell in cells]
        if len(cells) != len(self._columns) or None in numbers:
            if text.startswith("Loop time"):
                self._columns = []
            return ()  # warnings may stand between rows
        found = zip(self._columns, numbers, strict=True)
        return self._row(line[0], {key: value for key, value in found if value is not None})

    def _row(self, arrival_s: float, values: dict[str, float]) -> Sequence[Report]:
        step = values.get("Step")
        cpu_s = finite(values.get("CPU"))
        if cpu_s is None:
            return (Report(arrival_s, values, step=step),)
        if cpu_s < self._last_cpu_s:
            self._run = _Run(self._run.last_s)
        self._last_cpu_s = cpu_s
        return self._run.add(Report(arrival_s, values, step=step), cpu_s)


PRESET = Preset(
    name="lammps",
    reader=ThermoReader,
    advice="Print the columns step and cpu: thermo_style custom step temp cpu.",
)
"""Format of LAMMPS since 2015."""
