"""Positions of the keys and values of a TOML document.

``tomllib`` returns values without positions, and so do similar packages (tomli, tomlkit, rtoml).
Packages that keep positions are grammars of editors, such as tree-sitter with its TOML grammar.
They are compiled, parse a document on their own, and their values would have to be matched with
those of ``tomllib``. This module finds the positions in a document that ``tomllib`` has accepted.
So it need not validate: it only distinguishes keys, texts, arrays, inline tables and other values
of TOML 1.0 (toml.io/en/v1.0.0). A property test compares it with ``tomllib``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator

Path = tuple[str | int, ...]
"""Keys and indices of arrays, from the document to a value."""

_BLANK = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR = re.compile(r"[^,\]}#\n]+")
_TEXT = re.compile(
    r'"""(?:\\.|[^\\])*?""""{0,2}'
    r"|'''.*?''''{0,2}"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'",
    re.DOTALL,
)
"""The four kinds of texts; up to two marks more may stand before a closing one of three."""


def positions(text: str) -> dict[Path, int]:
    """Return the offset of each key and each element of an array in valid TOML.

    Args:
        text: that ``tomllib`` reads; lines end with a newline alone.
    """
    return _Finder(text).found()


class _Finder:
    """Scanner that passes over the text once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._found: dict[Path, int] = {}
        self._arrays: dict[Path, int] = {}

    def found(self) -> dict[Path, int]:
        """Return all positions."""
        table: Path = ()
        while self._skip(_BLANK) < len(self._text):
            if self._text.startswith("[", self._at):
                table = self._header()
            else:
                self._pair(table)
        return self._found

    def _header(self) -> Path:
        """Scan a header, ``[a.b]`` or ``[[a.b]]``."""
        array = self._text.startswith("[[", self._at)
        self._at += 1 + array
        self._skip(_SPACE)
        keys = list(self._keys())
        table: Path = ()
        for number, (key, place) in enumerate(keys):
            table = (*table, key)
            self._found.setdefault(table, place)
            if array and number == len(keys) - 1:
                self._arrays[table] = self._arrays.get(table, -1) + 1
            if table in self._arrays:
                table = (*table, self._arrays[table])
                self._found.setdefault(table, place)
        self._at = self._text.index("]", self._at) + 1 + array
        return table

    def _keys(self) -> Iterator[tuple[str, int]]:
        """Yield the parts of a dotted key and their positions."""
        while True:
            place = self._at
            match = _TEXT.match(self._text, place) or _BARE.match(self._text, place)
            assert match is not None
            self._at = match.end()
            word = match[0]
            yield (tomllib.loads(f"key = {word}")["key"] if word[0] in "\"'" else word), place
            self._skip(_SPACE)
            if not self._text.startswith(".", self._at):
                return
            self._at += 1
            self._skip(_SPACE)

    def _pair(self, table: Path) -> None:
        """Scan ``a.b = value``."""
        for key, place in self._keys():
            table = (*table, key)
            self._found.setdefault(table, place)
        self._at += 1  # the equals sign
        self._skip(_SPACE)
        self._value(table)

    def _value(self, path: Path) -> None:
        if self._text.startswith("[", self._at):
            self._array(path)
        elif self._text.startswith("{", self._at):
            self._inline(path)
        else:
            self._skip(_TEXT if self._text[self._at] in "\"'" else _SCALAR)

    def _array(self, path: Path) -> None:
        self._at += 1
        number = 0
        while self._text[self._skip(_BLANK)] != "]":
            if self._text[self._at] == ",":
                self._at += 1
                continue
            self._found[(*path, number)] = self._at
            self._value((*path, number))
            number += 1
        self._at += 1

    def _inline(self, path: Path) -> None:
        self._at += 1
        while self._text[self._skip(_BLANK)] != "}":
            if self._text[self._at] == ",":
                self._at += 1
                continue
            self._pair(path)
        self._at += 1

    def _skip(self, pattern: re.Pattern[str]) -> int:
        """Advance past the match of a pattern, and return the new offset."""
        match = pattern.match(self._text, self._at)
        self._at = match.end() if match else self._at
        return self._at
