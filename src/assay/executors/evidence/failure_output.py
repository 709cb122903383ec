"""Last words: the end of what a program wrote, to show with its failure."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from typing import IO

from assay.records import Output
from assay.untrusted import clean

MAX_EXCERPT_BYTES = 2000
"""Of what was written, that are looked at."""
MAX_EXCERPT_LINES = 5
"""Of them, that are shown."""
MAX_SEARCHED_BYTES = 1 << 16
"""Of what was written, in which the line that says most is looked for."""
MAX_LINE_CHARACTERS = 300


def failure_excerpt(written: IO[bytes]) -> str:
    """The last lines of a file, made safe to show, each on a line of its own below a message.

    Args:
        written: a file that can be sought in; anybody may have written it.

    Returns:
        Nothing where it holds no text.
    """
    lines = _end_of(written, MAX_EXCERPT_BYTES)[-MAX_EXCERPT_LINES:]
    return "".join(f"\n    {clean(line)}" for line in lines)


def failure_excerpt_of(outputs: Sequence[Output]) -> str:
    """The same of what is kept of a launch's output: of standard error, or of what else has any.

    Each of several instances has streams of its own, ``stderr`` with a number behind it.
    """
    for output in sorted(outputs, key=lambda one: not one.stream.startswith("stderr")):
        if lines := failure_excerpt(io.BytesIO(output.tail or output.head)):
            return lines
    return ""


def error_line(written: IO[bytes]) -> str:
    """The line that says most of a failure, made safe to show: the first that speaks of an error.

    Compilers end with the place, or with what followed from the first error.

    Args:
        written: as for ``failure_excerpt``.

    Returns:
        The last line where none does; nothing where there is no text.
    """
    lines = [line.strip() for line in _end_of(written, MAX_SEARCHED_BYTES)]
    known = [line for line in lines if line]
    errors = (line for line in known if "error" in line.lower())
    return clean(next(errors, known[-1] if known else ""))[:MAX_LINE_CHARACTERS]


def _end_of(written: IO[bytes], most_bytes: int) -> list[str]:
    written.seek(max(0, written.seek(0, os.SEEK_END) - most_bytes))
    return written.read().decode(errors="replace").strip().splitlines()
