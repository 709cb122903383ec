"""Metric files: files of the program from which figures are read.

A launch may rewrite such a file or append to it. Earlier contents are not figures of this launch.
Therefore the state of the file is read before the launch, and only new contents count.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from assay.records import Metric, Workload

_COMPARED = 1 << 16
"""Bytes before the previous end that distinguish an appended file from a rewritten one."""


@dataclass(frozen=True)
class FileState:
    """State of a file at one time.

    Attributes:
        inode: inode number; ``None`` without a file.
        size: size in bytes.
        modified_ns: time of the last change, in nanoseconds since the epoch.
        tail: digest of the last bytes.
    """

    inode: int | None = None
    size: int = 0
    modified_ns: int = 0
    tail: bytes = b""


@dataclass(frozen=True)
class WrittenPart:
    """Part of a file that a launch wrote.

    Attributes:
        path: path of the file.
        begin: offset of the first byte.
        reason: reason if the part is missing.
    """

    path: Path
    begin: int = 0
    reason: str | None = None


def metric_path(metric: Metric, workload: Workload) -> Path:
    """Return the path of a metric file, relative to the working folder of the launch.

    Args:
        metric: metric with a file.
        workload: workload of the metric.
    """
    return Path(workload.cwd or ".") / (metric.file or "")


def read_file_states(workload: Workload) -> dict[Path, FileState]:
    """Return the state of each metric file before a launch.

    Args:
        workload: source of the metrics.
    """
    return {path: _state(path) for path in _metric_paths(workload)}


def written_since(path: Path, before: FileState | None) -> WrittenPart:
    """Return the part of a file that was written since its state was read.

    Args:
        path: path of the file.
        before: state before the launch; ``None`` if unknown.
    """
    now = _state(path)
    if now.inode is None:
        return WrittenPart(path, reason=f"the file {path} is missing or unreadable")
    if before is None or before.inode is None:
        return WrittenPart(path)
    if now == before:
        return WrittenPart(path, reason=f"the launch did not write the file {path}")
    same = now.inode == before.inode and now.size > before.size > 0
    if same and _tail(path, before.size) == before.tail:
        return WrittenPart(path, begin=before.size)
    return WrittenPart(path)


def _metric_paths(workload: Workload) -> Iterable[Path]:
    return {metric_path(metric, workload) for metric in workload.metrics if metric.file is not None}


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
