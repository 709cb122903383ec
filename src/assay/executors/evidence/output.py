"""Kept part of a launch's output: its size, a digest, and both ends.

Only the ends are held in memory, independent of the length of the output.
"""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

from assay.records import HashedPart, Output

END_BYTES = 4096
"""Length of each kept end; an output of up to twice this length is kept completely."""
MAX_HASHED_BYTES = 16 << 20
"""Largest size of an output that is hashed completely: this size takes 10 ms with SHA instructions
and 40 ms without, between two launches, at the cost of the study's budget."""


def kept_output(path: Path) -> Output | None:
    """Return the kept part of a stream's file, under the name of the stream.

    ``None`` if the program removed or replaced the file.
    """
    try:
        # A program may leave a pipe there, which would block, or a link to a foreign file.
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return _read_output(fd, path.name)
    except OSError:
        return None
    finally:
        os.close(fd)


def _read_output(fd: int, stream: str) -> Output | None:
    about = os.fstat(fd)
    if not stat.S_ISREG(about.st_mode):
        return None
    size = about.st_size
    head = os.pread(fd, min(size, 2 * END_BYTES if size <= 2 * END_BYTES else END_BYTES), 0)
    if len(head) == size:
        return Output(
            stream=stream, size_bytes=size, sha256=hashlib.sha256(head).hexdigest(), head=head
        )
    tail = os.pread(fd, END_BYTES, size - END_BYTES)
    whole = size <= MAX_HASHED_BYTES
    return Output(
        stream=stream,
        size_bytes=size,
        sha256=_digest(fd) if whole else hashlib.sha256(head + tail).hexdigest(),
        digest_scope=HashedPart.WHOLE if whole else HashedPart.ENDS,
        head=head,
        tail=tail,
    )


def _digest(fd: int) -> str:
    with os.fdopen(fd, "rb", buffering=0, closefd=False) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
