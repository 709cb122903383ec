"""Kinds of files of values, and the follower of each."""

from __future__ import annotations

import enum
import glob
from collections.abc import Callable, Iterable
from pathlib import Path

from assay.errors import InvalidInputError
from assay.executors.progress.event_files import MARK, EventFollower, event_files
from assay.executors.progress.launch_clock import LaunchClock
from assay.executors.progress.report import Report
from assay.executors.progress.value_files import CsvFollower, JsonLinesFollower, ValueFollower

_SCAN_INTERVAL_S = 1.0
"""Time between two searches for new files."""


class FileKind(enum.Enum):
    """Kind of a file of values."""

    CSV = "csv"
    JSON_LINES = "json_lines"
    EVENTS = "events"


_SUFFIXES = {
    ".csv": FileKind.CSV,
    ".tsv": FileKind.CSV,
    ".jsonl": FileKind.JSON_LINES,
    ".ndjson": FileKind.JSON_LINES,
    ".json": FileKind.JSON_LINES,
}


def file_kind(path: Path) -> FileKind:
    """Return the kind of a file of values, from its name or its begin.

    Args:
        path: file, folder, or pattern such as ``logs/version_*/metrics.csv``; it may be missing.

    Raises:
        InvalidInputError: neither the name nor the begin shows a kind.
    """
    if MARK in path.name or path.is_dir():
        return FileKind.EVENTS
    kind = _SUFFIXES.get(path.suffix.lower())
    if kind is not None:
        return kind
    try:
        with path.open("rb") as file:
            begin = file.read(1)
    except OSError:
        begin = b""
    if begin == b"{":
        return FileKind.JSON_LINES
    if not begin and not path.suffix:
        return FileKind.EVENTS  # a folder that the program creates
    raise InvalidInputError(
        f"The format of the progress file {path} is unknown.",
        "Use a name that ends in .csv, .tsv or .jsonl, a TensorBoard event file or its folder, or "
        "add a pattern for its lines.",
    )


def value_follower(path: Path, clock: LaunchClock) -> FilesFollower:
    """Return the follower of a file of values, of a folder, or of the files of a pattern.

    Args:
        path: see ``file_kind``.
        clock: clock of the launch.

    Raises:
        InvalidInputError: see ``file_kind``.
    """
    kind = file_kind(path)
    follow: Callable[[Path, bool], ValueFollower]
    if kind is FileKind.EVENTS:
        follow = lambda file, skip: EventFollower(file, clock, skip_existing=skip)  # noqa: E731
    elif kind is FileKind.CSV:
        follow = lambda file, skip: CsvFollower(file, clock, skip_existing=skip)  # noqa: E731
    else:
        follow = lambda file, skip: JsonLinesFollower(file, clock, skip_existing=skip)  # noqa: E731
    return FilesFollower(lambda: _files(path, kind), follow, clock)


def _files(path: Path, kind: FileKind) -> Iterable[Path]:
    """Return the files at a path, some of which may be missing."""
    if glob.has_magic(str(path)) and not path.exists():
        found = map(Path, glob.glob(str(path), recursive=True))  # noqa: PTH207 - absolute patterns
        return [file for each in found for file in _files(each, kind)]
    return event_files(path) if kind is FileKind.EVENTS else (path,)


class FilesFollower:
    """Follows all files that a search finds: a program that restarts opens a new one.

    Args:
        find: returns the paths of the files.
        follow: creates the follower of a file; true: contents from before do not count.
        clock: clock of the launch.
    """

    def __init__(
        self,
        find: Callable[[], Iterable[Path]],
        follow: Callable[[Path, bool], ValueFollower],
        clock: LaunchClock,
    ) -> None:
        self._find = find
        self._follow = follow
        self._clock = clock
        self._followers: dict[Path, ValueFollower] = {}
        self._searched_s = 0.0
        self._search(skip_existing=True)

    def read(self) -> list[Report]:
        """Return the reports since the previous reading."""
        if self._clock.now_s - self._searched_s >= _SCAN_INTERVAL_S:
            self._search(skip_existing=False)
        return self._merged([follower.read() for follower in self._followers.values()])

    def finish(self) -> list[Report]:
        """Return all remaining reports; the program has ended."""
        self._search(skip_existing=False)
        return self._merged([follower.finish() for follower in self._followers.values()])

    @property
    def invalid(self) -> int:
        """Number of invalid lines, and of files with an invalid checksum."""
        total = 0
        for follower in self._followers.values():
            if isinstance(follower, JsonLinesFollower):
                total += follower.records.invalid
            elif isinstance(follower, EventFollower):
                total += follower.damaged
        return total

    def close(self) -> None:
        """Close the files."""
        for follower in self._followers.values():
            follower.close()

    def _search(self, *, skip_existing: bool) -> None:
        self._searched_s = self._clock.now_s
        for path in self._find():
            if path not in self._followers:
                self._followers[path] = self._follow(path, skip_existing)

    def _merged(self, found: list[list[Report]]) -> list[Report]:
        if len(found) == 1:
            return found[0]
        return sorted((one for each in found for one in each), key=lambda report: report.time_s)
