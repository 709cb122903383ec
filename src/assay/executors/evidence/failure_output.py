"""Last lines of a program's output, shown with its failure."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from typing import IO

from assay.records import Output
from assay.untrusted import clean

MAX_EXCERPT_BYTES = 2000
"""Length of the end of an output from which the excerpt is taken."""
MAX_EXCERPT_LINES = 5
"""Largest number of lines in the excerpt."""
MAX_SEARCHED_BYTES = 1 << 16
"""Length of the end of an output that is searched for the most informative line."""
MAX_LINE_CHARACTERS = 300


def failure_excerpt(written: IO[bytes]) -> str:
    """Return the escaped last lines of a file, one per line, for use below a message.

    Args:
        written: seekable file with untrusted contents.

    Returns:
        An empty text if the file has no text.
    """
    lines = _end_of(written, MAX_EXCERPT_BYTES)[-MAX_EXCERPT_LINES:]
    return "".join(f"\n    {clean(line)}" for line in lines)


def failure_excerpt_of(outputs: Sequence[Output]) -> str:
    """Return the excerpt of standard error, or else of another stream.

    Each of several instances has its own streams, such as ``stderr.1``.
    """
    for output in sorted(outputs, key=lambda kept: not kept.stream.startswith("stderr")):
        if lines := failure_excerpt(io.BytesIO(output.tail or output.head)):
            return lines
    return ""


def error_line(written: IO[bytes]) -> str:
    """Return the escaped first line that mentions an error.

    Compilers end with the position, or with consequences of the first error.

    Args:
        written: see ``failure_excerpt``.

    Returns:
        The last line if no line mentions an error; an empty text without output.
    """
    lines = [line.strip() for line in _end_of(written, MAX_SEARCHED_BYTES)]
    known = [line for line in lines if line]
    errors = (line for line in known if "error" in line.lower())
    return clean(next(errors, known[-1] if known else ""))[:MAX_LINE_CHARACTERS]


def _end_of(written: IO[bytes], most_bytes: int) -> list[str]:
    written.seek(max(0, written.seek(0, os.SEEK_END) - most_bytes))
    return written.read().decode(errors="replace").strip().splitlines()
