"""TOML files with the position of each key."""

from __future__ import annotations

import bisect
import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from assay.api.files.toml_mistakes import find_mistake
from assay.api.files.toml_positions import Path as Key
from assay.api.files.toml_positions import positions
from assay.errors import InvalidInputError

_AT = re.compile(r" \(at line (\d+), column (\d+)\)$")
_AT_END = " (at end of document)"
MAX_BYTES = 2**20
"""Maximum size of a file, in bytes; people write smaller ones."""


class TomlFile(msgspec.Struct, frozen=True):
    """Parsed TOML file.

    Attributes:
        name: path as written.
        content: tables as ``tomllib`` returns them.
        lines: line and column of each key, from 1.
    """

    name: str
    content: dict[str, Any]
    lines: Mapping[Key, tuple[int, int]]

    def place(self, key: Key) -> str:
        """Return ``file:line:column`` of a key, or of its nearest parent with a position."""
        while key and key not in self.lines:
            key = key[:-1]
        line, column = self.lines.get(key, (1, 1))
        return f"{self.name}:{line}:{column}"

    def error(self, key: Key, cause: str, remedy: str | None = None) -> InvalidInputError:
        """Return an error with the position of a key."""
        return InvalidInputError(f"{self.place(key)}: {cause}", remedy)

    @contextmanager
    def at(self, *key: str | int) -> Iterator[None]:
        """Context that adds the position of a key to errors.

        Raises:
            InvalidInputError: an error of the body, with the position in front.
        """
        try:
            yield
        except InvalidInputError as error:
            name = dotted(key)
            cause = error.cause.removeprefix(f"{name}: ")
            raise self.error(key, f"{name}: {cause}", error.remedy) from error


def dotted(key: Key) -> str:
    """Return a key as TOML writes it: ``settings."omp.bind"``; without indices of arrays."""
    names = [part for part in key if isinstance(part, str)]
    return ".".join(n if re.fullmatch(r"[A-Za-z0-9_-]+", n) else f'"{n}"' for n in names)


def read_toml(name: str) -> TomlFile:
    """Read a file.

    Raises:
        InvalidInputError: the file cannot be read, or is not TOML; names line and column.
    """
    try:
        with Path(name).open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InvalidInputError(
            f"{name} cannot be read: {error.strerror}.", "Check its name and its permissions."
        ) from error
    if len(raw) > MAX_BYTES:
        raise InvalidInputError(
            f"{name} is larger than 1 MiB, the maximum of a TOML file.",
            "Name another file, or write ranges (1..64) instead of long lists.",
        )
    try:
        text = raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        before = raw[: error.start]
        line, column = before.count(b"\n") + 1, error.start - (before.rfind(b"\n") + 1) + 1
        raise InvalidInputError(
            f"{name}:{line}:{column}: this is not UTF-8.", "Save the file as UTF-8."
        ) from error
    return parse_toml(name, text)


def parse_toml(name: str, text: str) -> TomlFile:
    """Parse a text whose lines end with a newline, without a carriage return.

    Raises:
        InvalidInputError: the text is not TOML; names line and column.
    """
    try:
        content = tomllib.loads(text)
        found = positions(text)
    except tomllib.TOMLDecodeError as error:
        raise _syntax(name, text, str(error)) from error
    except RecursionError as error:
        raise InvalidInputError(f"{name} is nested too deeply.", "Write plain tables.") from error
    starts = [0, *(at + 1 for at, letter in enumerate(text) if letter == "\n")]
    return TomlFile(name, content, {key: _position(starts, at) for key, at in found.items()})


def _position(starts: list[int], offset: int) -> tuple[int, int]:
    line = bisect.bisect_right(starts, offset)
    return line, offset - starts[line - 1] + 1


_REMEDIES = {
    "Cannot overwrite a value": "This key is defined twice; write each key once.",
    "Invalid value": 'Put texts in quotation marks, as in check = "done".',
    "Expected '=' after a key in a key/value pair": "Write KEY = VALUE, one on a line.",
    "Expected newline or end of document after a statement": "Write KEY = VALUE, one on a line.",
    'Expected "\'"': "Close its quotation marks, on the same line.",
    "Illegal character '\\n'": "Close its quotation marks, on the same line.",
    "Unterminated string": "Close its quotation marks.",
    "Unclosed array": "Close it with ].",
    "Unclosed inline table": "Close it with }, on the same line.",
}
"""Remedies for the most frequent errors of ``tomllib``."""


def _syntax(name: str, text: str, message: str) -> InvalidInputError:
    """Return the error for a message of ``tomllib``, with the position in front."""
    match = _AT.search(message)
    if match:
        line, column = int(match[1]), int(match[2])
    else:
        line, column = text.count("\n") + 1, len(text) - (text.rfind("\n") + 1) + 1
    cause = _AT.sub("", message.removesuffix(_AT_END)).rstrip(".")
    remedy = _REMEDIES.get(cause)
    if cause.startswith("Cannot declare"):
        cause = "this table is defined twice"
        remedy = "Write all of its keys below one header."
    elif match:
        written = text.split("\n")[line - 1]
        found = find_mistake(written, column)
        if found is not None:
            cause, remedy, column = found.cause, found.remedy, found.column
        elif cause == "Unclosed array" and written[column - 1 :].strip():
            remedy = "Put commas between its values, and close it with ]."
    return InvalidInputError(f"{name}:{line}:{column}: this is not TOML: {cause}.", remedy)
