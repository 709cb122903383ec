"""Matches of a pattern in the output of a program."""

from __future__ import annotations

import mmap
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from assay.errors import InvalidInputError
from assay.untrusted import clean

WINDOW_BYTES = 1 << 22
"""Length of the part of an output that is searched at once."""
MAX_MATCH_BYTES = 1 << 20
"""Longest match in an output of several windows."""
FLAGS = re.MULTILINE | re.ASCII
"""Flags of patterns: ``^`` and ``$`` match at lines, and ``\\d`` matches ASCII digits only."""
ESCAPES = re.compile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[@-Z\\\\-_])")
"""Control sequences of terminals, which colour text or move the cursor (ECMA-48, 5.4 and 5.6)."""
MOVES = re.compile("\x1b\\[[0-?]*[ -/]*[A-Hdf]")
"""Sequences that move the cursor: the text after one does not continue the text before it."""


def last_match(pattern: str, outputs: Sequence[Path], begin: int = 0) -> re.Match[str] | None:
    """Return the last match of a pattern in the first file with a match.

    The files are read as UTF-8. Control sequences of terminals are removed, unless the pattern
    matches only with them.

    Args:
        pattern: valid regular expression.
        outputs: files to search.
        begin: offset in each file at which the search starts.
    """
    newest = deque(all_matches(pattern, outputs, begin), maxlen=1)
    return newest[0] if newest else None


def all_matches(pattern: str, outputs: Sequence[Path], begin: int = 0) -> Iterator[re.Match[str]]:
    """Yield each match of a pattern in the first file with one; arguments: see ``last_match``."""
    sought = re.compile(pattern, FLAGS)
    for output in outputs:
        found = False
        for match in _matches(sought, output, begin):
            found = True
            yield match
        if found:
            return


def has_match(check: str, outputs: Sequence[Path]) -> bool:
    """Return whether a pattern matches in any of the files."""
    sought = re.compile(check, FLAGS)
    return any(next(_matches(sought, output), None) is not None for output in outputs)


def quoted(pattern: str) -> str:
    """Return a pattern in quotes, as its user typed it: ``repr`` would double backslashes."""
    return f"'{clean(pattern)}'"


def checked_pattern(pattern: str, option: str) -> str:
    """Return the pattern of an option after a check of its syntax.

    Raises:
        InvalidInputError: the text is not a regular expression.
    """
    try:
        re.compile(pattern, FLAGS)
    except (re.error, ValueError) as error:  # ValueError: flags that exclude each other
        raise InvalidInputError(
            f"{option}: invalid regular expression {quoted(pattern)}: {error}.",
            "Write for example 'inertia=([0-9.]+)'.",
        ) from error
    return pattern


def demand_group(pattern: str, cause: str, example: str) -> None:
    """Raise an error if a valid pattern has no group for its value.

    Args:
        pattern: valid regular expression.
        cause: option or argument that the error names.
        example: valid text of it.

    Raises:
        InvalidInputError: the pattern has no group.
    """
    if not re.compile(pattern, FLAGS).groups:
        raise InvalidInputError(
            f"{cause}: the pattern has no group.",
            f"Put the value into a group, for example '{example}'.",
        )


def nearest_line(pattern: str, outputs: Sequence[Path]) -> str | None:
    """Return the newest line that shares most words with a pattern.

    Args:
        pattern: pattern without a match.
        outputs: output files, of which the last ``WINDOW_BYTES`` bytes are searched.

    Returns:
        ``None`` without output.
    """
    words = set(_WORDS.findall(pattern))
    lines = [line for output in outputs for line in _last_lines(output) if line.strip()]
    if not lines:
        return None
    scored = enumerate(lines)
    return max(
        scored, key=lambda candidate: (len(words & set(_WORDS.findall(candidate[1]))), candidate[0])
    )[1]


_WORDS = re.compile("[A-Za-z]{2,}")


def _last_lines(path: Path) -> list[str]:
    text = _mapped(path)
    return _text(text[max(0, len(text) - WINDOW_BYTES) :]).splitlines()


def _matches(sought: re.Pattern[str], output: Path, begin: int = 0) -> Iterator[re.Match[str]]:
    """Yield each match in a file; control sequences are removed at first."""
    data = _mapped(output)
    found = False
    for match in _in_windows(sought, data, _without_escapes, begin):
        found = True
        yield match
    if not found and data.find(b"\x1b", begin) >= 0:
        yield from _in_windows(sought, data, lambda text: text, begin)


def _in_windows(
    sought: re.Pattern[str],
    data: mmap.mmap | bytes,
    read: Callable[[str], str],
    begin: int,
) -> Iterator[re.Match[str]]:
    """Yield each match in a file, which is mapped and searched window by window.

    Each window is released after the search, so that an output of gigabytes needs the memory of one
    window only. A match near the end of a window is complete up to ``MAX_MATCH_BYTES``.
    """
    while True:
        end = _window_end(data, begin)
        text = read(_text(data[begin : end + MAX_MATCH_BYTES]))
        if end >= len(data):
            yield from sought.finditer(text)
            return
        own = len(read(_text(data[begin:end])))
        for match in sought.finditer(text):
            if match.start() >= own:
                break  # found again in the next window
            yield match
        if isinstance(data, mmap.mmap):
            data.madvise(mmap.MADV_DONTNEED)
        begin = end


def _window_end(data: mmap.mmap | bytes, begin: int) -> int:
    """Return the end of a window: after a line if possible, so that it splits no character."""
    end = min(len(data), begin + WINDOW_BYTES)
    if end == len(data):
        return end
    line = data.rfind(b"\n", max(begin, end - MAX_MATCH_BYTES), end)
    return line + 1 if line >= 0 else end


def _without_escapes(text: str) -> str:
    """Return a text without control sequences; cursor movements become line breaks."""
    if "\x1b" not in text:
        return text
    return ESCAPES.sub("", MOVES.sub("\n", text))


def _text(data: bytes) -> str:
    return data.decode(errors="surrogateescape")


def _mapped(path: Path) -> mmap.mmap | bytes:
    try:
        with path.open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):  # an empty file cannot be mapped
        return b""
