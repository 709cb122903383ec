"""Formats of values in kernel files, for reading and writing.

One value has many spellings: ``always [madvise] never``, ``0-3`` and ``0,1,2,3``, ``ff`` and
``000000ff``. Two readings are compared in one format.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from assay.errors import InvalidInputError
from assay.machine.cpulist import format_list, parse_list, parse_mask
from assay.records.action import FileFormat

_CHOSEN = re.compile(r"\[([^\]]+)\]")
_WRITABLE: dict[FileFormat, re.Pattern[str]] = {
    "text": re.compile(r"[A-Za-z0-9_][A-Za-z0-9_ .+-]*", re.ASCII),
    "choice": re.compile(r"[A-Za-z0-9_][A-Za-z0-9_+-]*", re.ASCII),
    "number": re.compile(r"-?[0-9]{1,20}", re.ASCII),
    "cpulist": re.compile(r"[0-9][0-9,-]*", re.ASCII),
    "mask": re.compile(r"[0-9a-f]+(,[0-9a-f]{8})*", re.ASCII),
}


def normalised(form: FileFormat, text: str) -> str:
    """Return the content of a file in one spelling; the text itself if its format is unknown."""
    text = text.strip(" \t\r\n\0")
    match form:
        case "choice":
            return selected_word(text) or text
        case "number":
            return str(int(text)) if _WRITABLE["number"].fullmatch(text) else text
        case "cpulist" | "mask":
            return _numbers(form, text)
        case "text":
            return text


def selected_word(text: str) -> str | None:
    """Return the selected word, in brackets; ``None`` if none is marked."""
    found = _CHOSEN.search(text)
    return found[1] if found else None


def offered_words(text: str) -> tuple[str, ...]:
    """Return the words that a ``choice`` file offers, without brackets."""
    return tuple(word.strip("[]") for word in text.split())


def is_writable_value(form: FileFormat, value: str) -> bool:
    """Return whether a value has a format; others are never written into a file."""
    return _WRITABLE[form].fullmatch(value) is not None


def format_mask(cpus: Iterable[int]) -> str:
    """Return CPUs as a hexadecimal mask, in words of 32 bits as the kernel reads and writes it."""
    number = sum(1 << cpu for cpu in set(cpus))
    words: list[int] = []
    while number or not words:
        words.append(number & 0xFFFFFFFF)
        number >>= 32
    first, *rest = reversed(words)
    return ",".join((f"{first:x}", *(f"{word:08x}" for word in rest)))


def _numbers(form: FileFormat, text: str) -> str:
    try:
        return format_list(parse_list(text)) if form == "cpulist" else format_mask(parse_mask(text))
    except InvalidInputError:
        return text
