"""Standard streams of the process, also if they were closed at its start."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import Any, TextIO

from assay.errors import NotPossibleError

IN, OUT, ERR = 0, 1, 2


class _StandardOutput(io.FileIO):
    """Standard output, for the answer of a verb."""

    def write(self, data: Any, /) -> int:
        """See ``io.RawIOBase.write``.

        Raises:
            NotPossibleError: the file cannot be written.
            BrokenPipeError: the reader of the pipe has ended.
        """
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise NotPossibleError(
                f"Standard output cannot be written: {error.strerror}.",
                "Redirect it to another file.",
            ) from error


class _ErrorOutput(io.FileIO):
    """Error output, for progress and messages; a study continues without it."""

    def write(self, data: Any, /) -> int:
        """See ``io.RawIOBase.write``; drops the data if the file cannot be written.

        Raises:
            BrokenPipeError: the reader of the pipe has ended, which ends the writer as well.
        """
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError:
            return memoryview(data).nbytes


def open_streams() -> None:
    """Open the standard streams, and replace closed descriptors by the null device.

    Otherwise the next open file, for instance the store, would get the number of a standard stream,
    and messages would be written to it.
    """
    for descriptor in (IN, OUT, ERR):
        try:
            os.fstat(descriptor)
        except OSError:
            # open(2) returns the lowest free number, which is this one. Programs inherit it.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    sys.stdout = _text(_StandardOutput(OUT, "w", closefd=False), sys.stdout)
    sys.stderr = _text(_ErrorOutput(ERR, "w", closefd=False), sys.stderr)


def discard_streams() -> None:
    """Discard data that the standard streams did not accept; else Python would report an error."""
    for stream, descriptor in ((sys.stdout, OUT), (sys.stderr, ERR)):
        try:
            stream.flush()
        except (OSError, NotPossibleError):
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, descriptor)
            os.close(null)
            with contextlib.suppress(OSError, NotPossibleError):
                stream.flush()


def _text(raw: io.FileIO, before: TextIO | None) -> TextIO:
    """Return a text stream like Python's own, which escapes characters that cannot be encoded."""
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=before.encoding if before else "utf-8",
        errors="backslashreplace",
        line_buffering=raw.fileno() == ERR or raw.isatty(),
    )
