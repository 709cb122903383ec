"""Layout: lines that fit a terminal; what is not shown on one is left as it is."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Iterator
from typing import TextIO

MIN_WIDTH = 40
"""Columns below which nothing would be gained."""


def width_of(stream: TextIO) -> int | None:
    """Columns of the terminal that a stream goes to; ``None`` where it goes elsewhere."""
    if not stream.isatty():
        return None
    return max(MIN_WIDTH, shutil.get_terminal_size().columns)


def wrapped(lines: Iterable[str], width: int | None, hang: int = 0) -> Iterator[str]:
    """The lines, too long ones broken between words and set in below their beginning.

    Args:
        lines: to show.
        width: columns; ``None`` for no limit.
        hang: columns that the rest of a line is set in at least.
    """
    for line in lines:
        if width is None or len(line) <= width:
            yield line
            continue
        indent = line[: len(line) - len(line.lstrip())]
        yield from textwrap.wrap(
            line.strip(),
            width,
            initial_indent=indent,
            subsequent_indent=max(indent + "  " * bool(indent), " " * hang),
            break_long_words=False,
            break_on_hyphens=False,
        )
