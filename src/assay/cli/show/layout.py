"""Layout of lines on a terminal; output to files and pipes is not wrapped."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Iterator
from typing import TextIO

MIN_WIDTH = 40
"""Narrowest width that lines are wrapped to, in columns."""


def width_of(stream: TextIO) -> int | None:
    """Return the width of a stream's terminal, in columns; ``None`` if it is not a terminal."""
    if not stream.isatty():
        return None
    return max(MIN_WIDTH, shutil.get_terminal_size().columns)


def wrapped(lines: Iterable[str], width: int | None, hang: int = 0) -> Iterator[str]:
    """Yield the lines, with long ones wrapped at spaces and indented below their beginning.

    Args:
        lines: lines to show.
        width: width, in columns; ``None`` for no limit.
        hang: minimum indentation of continuation lines, in columns.
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
