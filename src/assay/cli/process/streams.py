"""Streams: standard input, output and error output, whatever they were when assay began."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import Any, TextIO

from assay.errors import NotPossibleError

IN, OUT, ERR = 0, 1, 2


class _Answer(io.FileIO):
    """Standard output: what a verb is asked for."""

    def write(self, data: Any, /) -> int:
        """See ``io.RawIOBase.write``.

        Raises:
            NotPossibleError: it takes no more.
            BrokenPipeError: whoever read it has gone.
        """
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise NotPossibleError(
                f"Standard output cannot be written: {error.strerror}.",
                "Send it elsewhere. What a study measured is kept: `assay study show last`.",
            ) from error


class _Remark(io.FileIO):
    """Error output: progress and messages, without which a study goes on."""

    def write(self, data: Any, /) -> int:
        """See ``io.RawIOBase.write``; what cannot be written is lost.

        Raises:
            BrokenPipeError: whoever read it has gone, which ends a program of a pipeline.
        """
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError:
            return memoryview(data).nbytes


def open_streams() -> None:
    """Take the standard descriptors as they are; one that is closed is the null device.

    Otherwise the next file that is opened, the store perhaps, would lie on its number, and be
    written to as if it were the terminal.
    """
    for descriptor in (IN, OUT, ERR):
        try:
            os.fstat(descriptor)
        except OSError:
            # The lowest free number, which is this one. Programs inherit it as any other.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    sys.stdout = _text(_Answer(OUT, "w", closefd=False), sys.stdout)
    sys.stderr = _text(_Remark(ERR, "w", closefd=False), sys.stderr)


def discard_streams() -> None:
    """Forget what the standard streams did not take: the interpreter would complain at its end."""
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
    """A text stream like the one that Python made; what cannot be encoded is escaped."""
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=before.encoding if before else "utf-8",
        errors="backslashreplace",
        line_buffering=raw.fileno() == ERR or raw.isatty(),
    )
