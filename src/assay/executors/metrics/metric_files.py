"""Metric files: files of the program's own from which figures are read.

A launch may write such a file anew or append to it. What stood there before is no figure of this
launch, so the file is looked at before it, and only what is new is read.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from assay.records import Metric, Workload

_COMPARED = 1 << 16
"""Bytes before the former end by which an appended file is told from one that was written anew."""


@dataclass(frozen=True)
class FileState:
    """A file at one moment.

    Attributes:
        inode: number; ``None`` where there is no file.
        size: in bytes.
        modified_ns: time of the last change.
        tail: digest of its last bytes.
    """

    inode: int | None = None
    size: int = 0
    modified_ns: int = 0
    tail: bytes = b""


@dataclass(frozen=True)
class WrittenPart:
    """The part of a file that a launch wrote.

    Attributes:
        path: of the file.
        begin: first byte of that part.
        reason: why there is none.
    """

    path: Path
    begin: int = 0
    reason: str | None = None


def metric_path(metric: Metric, workload: Workload) -> Path:
    """Return the file of a metric, which is named from the working folder of the launch.

    Args:
        metric: with a file.
        workload: that it belongs to.
    """
    return Path(workload.cwd or ".") / (metric.file or "")


def read_file_states(workload: Workload) -> dict[Path, FileState]:
    """Return the state of each file that metrics are read from, before a launch.

    Args:
        workload: says which.
    """
    return {path: _state(path) for path in _places(workload)}


def written_since(path: Path, before: FileState | None) -> WrittenPart:
    """Return the part of a file that was written since it was looked at.

    Args:
        path: of the file.
        before: its state before the launch; ``None`` where nothing is known.
    """
    now = _state(path)
    if now.inode is None:
        return WrittenPart(path, reason=f"the file {path} is missing, or cannot be read")
    if before is None or before.inode is None:
        return WrittenPart(path)
    if now == before:
        return WrittenPart(path, reason=f"the launch did not write the file {path}")
    same = now.inode == before.inode and now.size > before.size > 0
    if same and _tail(path, before.size) == before.tail:
        return WrittenPart(path, begin=before.size)
    return WrittenPart(path)


def _places(workload: Workload) -> Iterable[Path]:
    return {metric_path(one, workload) for one in workload.metrics if one.file is not None}


def _state(path: Path) -> FileState:
    try:
        found = path.stat()
        if not path.is_file() or not os.access(path, os.R_OK):
            return FileState()
        return FileState(found.st_ino, found.st_size, found.st_mtime_ns, _tail(path, found.st_size))
    except OSError:
        return FileState()


def _tail(path: Path, end: int) -> bytes:
    with path.open("rb") as file:
        begin = max(0, end - _COMPARED)
        file.seek(begin)
        return hashlib.sha256(file.read(end - begin)).digest()
