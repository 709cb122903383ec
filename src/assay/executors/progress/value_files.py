"""Files of values that a program appends to: CSV with a header, and JSON lines."""

from __future__ import annotations

import csv
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from assay.executors.progress.json_records import (
    STEP_KEYS,
    RecordReader,
    finite,
    number,
)
from assay.executors.progress.launch_clock import LaunchClock, spread_times
from assay.executors.progress.lines import LineSplitter
from assay.executors.progress.output_files import AppendedFile, LineFollower, NewContents
from assay.executors.progress.report import Report

_HEADER_BYTES = 1 << 16
"""Longest header that is compared."""


class ValueFollower(Protocol):
    """Follower of a file or folder of values."""

    def read(self) -> list[Report]:
        """Return the reports since the previous reading."""
        ...

    def finish(self) -> list[Report]:
        """Return all remaining reports; the program has ended."""
        ...

    def close(self) -> None:
        """Close the files."""
        ...


class JsonLinesFollower:
    """Follows a file of JSON objects, one a line.

    Args:
        path: path of the file, which may be missing.
        clock: clock of the launch.
        skip_existing: whether contents from before do not count.

    Attributes:
        records: reader of the records, with the number of invalid ones.
    """

    def __init__(self, path: Path, clock: LaunchClock, *, skip_existing: bool = True) -> None:
        file = AppendedFile(path, follow_links=True, skip_existing=skip_existing)
        self._lines = LineFollower(file, clock, batched=True)
        self.records = RecordReader(clock)

    def read(self) -> list[Report]:
        """Return the reports since the previous reading."""
        found = (self.records.read(text, time_s) for time_s, text, _ in self._lines.read())
        return [report for report in found if report is not None]

    def finish(self) -> list[Report]:
        """Return all remaining reports; the last line needs no line end."""
        found = (self.records.read(text, time_s) for time_s, text, _ in self._lines.finish())
        return [report for report in found if report is not None]

    def close(self) -> None:
        """Close the file."""
        self._lines.close()


class CsvFollower:
    """Follows a CSV file with a header.

    Loggers rewrite the whole file when a column is added. Rows that were read before are then
    recognised by their cells and skipped.

    Args:
        path: path of the file, which may be missing.
        clock: clock of the launch.
        skip_existing: whether rows from before do not count.
    """

    def __init__(self, path: Path, clock: LaunchClock, *, skip_existing: bool = True) -> None:
        self._file = AppendedFile(path, follow_links=True)
        self._clock = clock
        self._delimiter = "\t" if path.suffix == ".tsv" else ","
        self._last_s = 0.0
        self._seen: array[int] = array("q")
        self._earlier_rows = 0
        self._begin()
        if skip_existing:
            self.read()
            self._earlier_rows = len(self._seen)

    def read(self) -> list[Report]:
        """Return the reports since the previous reading."""
        found: list[Report] = []
        while True:
            before = self._file.offset
            new = self._file.read()
            if new is not None:
                found += self._reports_of(new)
            if self._file.offset == before or new is None:
                return found

    def finish(self) -> list[Report]:
        """Return all remaining reports; the last row needs no line end."""
        found = self.read()
        rows = self._new_rows(self._splitter.finish())
        return found + self._timed(rows, self._clock.now_s)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _begin(self) -> None:
        """Expect the header next."""
        self._splitter = LineSplitter()
        self._columns: list[str] = []
        self._step_column = ""
        self._header = b""
        self._row = 0

    def _forget_earlier_rows(self) -> None:
        """Forget the rows of an earlier launch, which the same run may write again."""
        del self._seen[: self._earlier_rows]
        self._earlier_rows = 0

    def _reports_of(self, new: NewContents) -> list[Report]:
        if new.restarted:
            self._forget_earlier_rows()
            self._begin()
        elif self._header and self._file.head(len(self._header)) != self._header:
            self._begin()
            self._file.restart()
            again = self._file.read()
            if again is None:
                return []
            new = again
        if new.skipped:
            self._splitter = LineSplitter()
        lines = self._splitter.feed(new.data)
        if not self._header and lines:
            self._header = self._file.head(_HEADER_BYTES).partition(b"\n")[0] + b"\n"
        time_s = self._clock.of_wall_ns(new.modified_ns, self._last_s)
        return self._timed(self._new_rows(lines), time_s)

    def _new_rows(self, lines: Sequence[str]) -> list[dict[str, str]]:
        """Return the rows that were not read before, by column, without empty cells."""
        found = []
        for line in lines:  # an open quote must not hide the lines after it
            cells = self._cells(line)
            if not self._columns:
                self._columns = [cell.strip() for cell in cells]
                self._step_column = _step_column(self._columns)
                continue
            row = {key: cell for key, cell in zip(self._columns, cells, strict=False) if cell}
            digest = hash(frozenset(row.items()))
            if self._row < len(self._seen):
                if self._seen[self._row] == digest:
                    self._row += 1
                    continue
                del self._seen[self._row :]  # the program has restarted
            self._seen.append(digest)
            self._row += 1
            found.append(row)
        return found

    def _cells(self, line: str) -> list[str]:
        if '"' not in line:
            return line.split(self._delimiter)
        return next(csv.reader((line,), delimiter=self._delimiter))

    def _timed(self, rows: Sequence[dict[str, str]], time_s: float) -> list[Report]:
        if not rows:
            return []
        times = spread_times(len(rows), time_s, self._last_s, self._last_s)
        self._last_s = times[-1]
        return [
            _report(row, self._step_column, at_s) for row, at_s in zip(rows, times, strict=True)
        ]


def _report(row: dict[str, str], step_column: str, time_s: float) -> Report:
    step = finite(number(row.get(step_column)))
    rank = number(row["rank"]) if "rank" in row else None
    return Report(time_s, row, step=step, rank=None if rank is None else int(rank))


def _step_column(columns: Sequence[str]) -> str:
    """Return the column of the step; empty without one."""
    by_key = {column.lower(): column for column in columns}
    return next((by_key[key] for key in STEP_KEYS if key in by_key), "")
