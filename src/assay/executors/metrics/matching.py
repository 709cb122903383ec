"""Matches of a pattern in what a program wrote."""

from __future__ import annotations

import mmap
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from assay.errors import InvalidInputError

WINDOW_BYTES = 1 << 22
"""Bytes of an output that are looked at together."""
MAX_MATCH_BYTES = 1 << 20
"""Of a match, in an output of several windows."""
FLAGS = re.MULTILINE | re.ASCII
"""``^`` and ``$`` are those of lines, and ``\\d`` is a digit that every program reads."""
_ESCAPES = re.compile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[@-Z\\\\-_])")
"""Control sequences of terminals, which colour text or move the cursor (ECMA-48, 5.4 and 5.6)."""
_MOVES = re.compile("\x1b\\[[0-?]*[ -/]*[A-Hdf]")
"""Those that move the cursor: what stands behind one is not a part of what stood before."""


def last_match(pattern: str, outputs: Sequence[Path], begin: int = 0) -> re.Match[str] | None:
    """The last match of a pattern in the first file with one.

    The files are read as UTF-8. Control sequences of terminals are left out, unless the pattern
    matches only with them.

    Args:
        pattern: that compiles.
        outputs: files to look in.
        begin: first byte of each that is looked at.
    """
    newest = deque(all_matches(pattern, outputs, begin), maxlen=1)
    return newest[0] if newest else None


def all_matches(pattern: str, outputs: Sequence[Path], begin: int = 0) -> Iterator[re.Match[str]]:
    """Yield each match of a pattern in the first file with one; arguments as for ``last_match``."""
    sought = re.compile(pattern, FLAGS)
    for output in outputs:
        found = False
        for match in _matches(sought, output, begin):
            found = True
            yield match
        if found:
            return


def has_match(check: str, outputs: Sequence[Path]) -> bool:
    """Whether a pattern is found in any of the files."""
    sought = re.compile(check, FLAGS)
    return any(next(_matches(sought, output), None) is not None for output in outputs)


def checked_pattern(pattern: str, what: str) -> str:
    """The pattern, when it is one.

    Raises:
        InvalidInputError: not a regular expression.
    """
    try:
        re.compile(pattern, FLAGS)
    except (re.error, ValueError) as error:  # ValueError: flags that exclude each other
        raise InvalidInputError(
            f"{what} {pattern!r} is not a regular expression: {error}.",
            "Write for example 'inertia=([0-9.]+)'.",
        ) from error
    return pattern


def nearest_line(pattern: str, outputs: Sequence[Path]) -> str | None:
    """The newest line that has most of a pattern's own words, as it was written.

    Args:
        pattern: that has no match.
        outputs: what the program wrote, of which the last ``WINDOW_BYTES`` bytes are looked at.

    Returns:
        ``None`` where nothing was written.
    """
    words = set(_WORDS.findall(pattern))
    lines = [line for output in outputs for line in _last_lines(output) if line.strip()]
    if not lines:
        return None
    scored = enumerate(lines)
    return max(scored, key=lambda one: (len(words & set(_WORDS.findall(one[1]))), one[0]))[1]


_WORDS = re.compile("[A-Za-z]{2,}")


def _last_lines(path: Path) -> list[str]:
    text = _mapped(path)
    return _text(text[max(0, len(text) - WINDOW_BYTES) :]).splitlines()


def _matches(sought: re.Pattern[str], output: Path, begin: int = 0) -> Iterator[re.Match[str]]:
    """Each match in a file, at first without control sequences."""
    data = _mapped(output)
    found = False
    for match in _in_windows(sought, data, _plain, begin):
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
    """Each match in a file.

    The file is mapped, and looked at window by window, each of which is let go again: an output of
    gigabytes costs no more memory than one of them. A match that begins near the end of a window
    is found whole up to ``MAX_MATCH_BYTES``.
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
                break  # the next window's
            yield match
        if isinstance(data, mmap.mmap):
            data.madvise(mmap.MADV_DONTNEED)
        begin = end


def _window_end(data: mmap.mmap | bytes, begin: int) -> int:
    """Where a window ends: behind a line where there is one, so that it cuts no character."""
    end = min(len(data), begin + WINDOW_BYTES)
    if end == len(data):
        return end
    line = data.rfind(b"\n", max(begin, end - MAX_MATCH_BYTES), end)
    return line + 1 if line >= 0 else end


def _plain(text: str) -> str:
    """A text without control sequences; where the cursor is moved a line begins."""
    if "\x1b" not in text:
        return text
    return _ESCAPES.sub("", _MOVES.sub("\n", text))


def _text(data: bytes) -> str:
    return data.decode(errors="surrogateescape")


def _mapped(path: Path) -> mmap.mmap | bytes:
    try:
        with path.open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):  # an empty file cannot be mapped
        return b""
