"""Units in headers of figures: the header of a column or of a section."""

from __future__ import annotations

import re
from dataclasses import dataclass

from assay.executors.metrics.printed_units import UNITS

MAX_LINES = 200
"""Number of lines above a figure that are searched for its header."""
_LETTERS = "[A-Za-zµμ]+(?:/[A-Za-z]+)?"
_UNIT = re.compile(
    rf"[(\[](?P<words>[^()\[\]\n]*?)(?P<unit>{_LETTERS})\s*[)\]]|_(?P<suffix>[A-Za-zµμ]+)(?![\w/])"
)
_NUMBER = re.compile(r"(?<![A-Za-z0-9_])[-+]?[0-9]")
_RULE = re.compile(r"[-=+|:*~─━═╌\s]*")
_CELL = re.compile(r"(?:[^\s(\[|,;]+|\s?\([^()]*\)|\s?\[[^\[\]]*\])+")
_LABEL = re.compile(rf"[(\[]({_LETTERS})[)\]]")
_KEY = re.compile(r"\"(\w+)\"\s*:\s*\"?$")
_UNIT_KEY = re.compile(rf"\"(\w*?)_?[uU]nits?\"\s*:\s*\"({_LETTERS})\"")
MAX_OBJECT_CHARACTERS = 2000
"""Characters on either side of a figure that are searched for the unit in a JSON object."""
UNIT_SEPARATOR = ", "
"""Separator of several possible units of a figure."""


@dataclass(frozen=True)
class _Cell:
    """Cell of a header.

    Attributes:
        begin, end: range in its line.
        unit: unit that it names; ``None`` without one.
        whole: whether it applies to the whole table, as ``(time in us)``.
    """

    begin: int
    end: int
    unit: str | None
    whole: bool


def header_unit(text: str, begin: int, end: int) -> str | None:
    """Return the unit that a label or a header names for ``text[begin:end]``.

    The header is the nearest line above without numbers that has a known unit in brackets, as in
    ``time[us]``, or after ``_``. A header with a colon at its end applies to the lines with a
    larger indent, and to the next line. Any other one is the header of a table, and its cell for
    the column of the figure counts. Neither applies beyond an empty line after the first row. If
    several units are possible, all of them are named.

    In a JSON object, a key such as ``time_unit`` or ``scoreUnit`` names the unit of ``real_time``
    and ``score``, and ``unit`` that of all figures.

    Args:
        text: printed text.
        begin, end: range of a figure in it.
    """
    of_object = _in_json(text, begin, end)
    if of_object is not None:
        return of_object
    first = text.rfind("\n", 0, begin) + 1
    own = text[first:begin]
    labelled = _on_the_same_line(own)
    if labelled is not None:
        return labelled
    stop = text.find("\n", end)
    line = text[first : len(text) if stop < 0 else stop]
    for place, header in enumerate(_above(text, first)):
        if _NUMBER.search(_UNIT.sub("", header)):
            continue
        cells = _cells(header)
        if not any(cell.unit for cell in cells):
            continue
        if header.rstrip().endswith(":"):
            deeper = _indent(line) - _indent(header)
            return cells[-1].unit if deeper > 0 or (deeper == 0 and place == 0) else None
        if re.search(r"[:=]\s*$", own):  # a separate label, not in a column
            return None
        return _column_header(cells, line, begin - first, end - first)
    return None


def _in_json(text: str, begin: int, end: int) -> str | None:
    """Return the unit that the JSON object of a figure names for its key."""
    key = _KEY.search(text, max(0, begin - 100), begin)
    if key is None:
        return None
    first = max(text.rfind("{", 0, begin), begin - MAX_OBJECT_CHARACTERS, 0)
    close = text.find("}", end)
    last = min(end + MAX_OBJECT_CHARACTERS, len(text) if close < 0 else close)
    for found in _UNIT_KEY.finditer(text, first, last):
        if found[1].casefold() in key[1].casefold() and found[2] in UNITS:
            return UNITS[found[2]].name
    return None


def _on_the_same_line(own: str) -> str | None:
    """Return the unit of the nearest label before a figure on its line."""
    for label in reversed([*_LABEL.finditer(own)]):
        text_after = own[label.end() :].lstrip()
        rest = text_after.removeprefix(":")
        figures = re.search("[0-9]", rest) is not None
        # ``clat (usec): min=1, avg=`` applies to all figures of its line, ``time (us) 5 n`` to one.
        if label[1] in UNITS and (not figures or (rest != text_after and ":" not in rest)):
            return UNITS[label[1]].name
    return None


def _above(text: str, first: int) -> list[str]:
    """Return the lines above ``first`` that may be its header, the nearest one first.

    Above an empty line only one line counts: an empty line may follow the header.
    """
    found: list[str] = []
    end = first - 1
    separated = False
    while end > 0 and len(found) < MAX_LINES:
        begin = text.rfind("\n", 0, end) + 1
        line = text[begin:end].rstrip("\r")
        end = begin - 1
        if not line.strip():
            separated = True
        elif not _RULE.fullmatch(line):
            found.append(line)
            if separated:
                break
    return found


def _cells(header: str) -> list[_Cell]:
    found = []
    for cell in _CELL.finditer(header):
        unit, whole = None, False
        for part in _UNIT.finditer(cell[0]):
            word = part["unit"] or part["suffix"]
            words = (part["words"] or "").strip()
            if word in UNITS and (not words or words.split()[-1] == "in"):
                unit, whole = UNITS[word].name, bool(words)
        found.append(_Cell(cell.start(), cell.end(), unit, whole))
    return found


def _column_header(cells: list[_Cell], line: str, begin: int, end: int) -> str | None:
    """Return the unit of a figure's column or table; all possible ones if it is ambiguous."""
    columns = [place for place, cell in enumerate(_CELL.finditer(line)) if cell.start() <= begin]
    over = [cell for cell in cells if cell.begin < end and cell.end > begin]
    column = None
    if columns and len(_CELL.findall(line)) == len(cells):
        column = cells[columns[-1]]
    elif len(over) == 1:
        column = over[0]
    if column is not None and column.unit:
        return column.unit
    everywhere = [cell.unit for cell in cells if cell.unit and cell.whole]
    if column is not None or everywhere:
        return everywhere[0] if everywhere else None
    return UNIT_SEPARATOR.join(dict.fromkeys(cell.unit for cell in cells if cell.unit))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
