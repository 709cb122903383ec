"""Figures in the output of a program: each a whole number, with its unit where that is known."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.measure.matching import last_match, nearest_line
from assay.measure.numbers import number_around
from assay.measure.printed_units import BARE, UNITS, PrintedUnit, unit_before, unit_behind
from assay.records import Metric

LARGEST = 1e100
"""A figure beyond it, or below its inverse, is no measurement, and its square no number."""
SHOWN = 60
"""Characters of an output that a reason quotes."""


@dataclass(frozen=True)
class Figure:
    """What was read for one metric.

    Attributes:
        value: in the unit that the metric has; ``None`` where there is none.
        reason: why there is none.
        cut: the number that was printed, where the pattern matches only a part of it: then there
            is no value.
        unit: that the value is in, where the output names a known one.
    """

    value: float | None = None
    reason: str | None = None
    cut: str | None = None
    unit: str | None = None


def read_figure(metric: Metric, outputs: Sequence[Path]) -> Figure:
    """Read the figure of a metric from the last match of its pattern.

    Args:
        metric: with a pattern, whose first group is the figure, or the whole. The next group, or
            the one named ``unit`` wherever it stands, is its unit where that is a known one.
        outputs: what the program wrote; the first file that holds a match counts.
    """
    pattern = metric.pattern or ""
    match = last_match(pattern, outputs)
    if match is None:
        return Figure(reason=_unmatched(pattern, outputs))
    group, unit_group = _groups(match.re)
    text = match[group] or ""  # a group that took no part in the match holds nothing
    value = _number(text)
    if value is None:
        return Figure(reason=_no_number(text, pattern))
    if value != 0.0 and not 1.0 / LARGEST <= abs(value) <= LARGEST:
        return Figure(reason=f"{text[:SHOWN]!r} in the output is beyond what can be worked with")
    if metric.as_is:
        return Figure(value)
    cut = _cut_from(match, group)
    if cut is not None:
        return Figure(
            cut=cut, reason=f"{text[:SHOWN]!r} in the output is a part of {cut[:SHOWN]!r}"
        )
    captured = (UNITS | BARE).get(match[unit_group] or "") if unit_group else None
    if captured is not None:
        converted = value * captured.factor / _factor_of(metric, captured)
        return Figure(converted, unit=captured.base or None)
    unit = unit_behind(match.string, match.end(group))
    unit = unit or unit_before(match.string[match.start() : match.start(group)])
    return Figure(value, unit=unit.name if unit else None)


def _number(text: str) -> float | None:
    """A finite number; Python reads 1_000 as one, and no other program does."""
    try:
        value = math.nan if "_" in text else float(text)
    except ValueError:
        return None
    # A figure so large that it is infinite is beyond what can be worked with.
    return value if math.isfinite(value) else None


def _cut_from(match: re.Match[str], group: int) -> str | None:
    """The number of which a group is a part; ``None`` where it is the whole of one.

    What the pattern itself matches beside the group was seen by whoever wrote it: the comma of a
    column, the colon behind a key.
    """
    begin, end = match.span(group)
    first, last = number_around(match.string, begin, end)
    missed_before = first < begin and begin == match.start()
    missed_after = last > end and end == match.end()
    if missed_after and begin > match.start() and match.string[begin - 1] == match.string[end]:
        missed_after = False  # a column, whose separator the pattern names on its other side
    return match.string[first:last] if missed_before or missed_after else None


def _groups(pattern: re.Pattern[str]) -> tuple[int, int]:
    """Numbers of the groups of a figure and of its unit; 0 where there is none."""
    unit = pattern.groupindex.get("unit", 2 if pattern.groups >= 2 else 0)
    first = 2 if unit == 1 else 1
    return (first if pattern.groups >= first else 0), unit


def _factor_of(metric: Metric, captured: PrintedUnit) -> float:
    """What a figure in the metric's own unit is multiplied by; 1 where that is the base."""
    own = UNITS.get(metric.unit)
    return own.factor if own is not None and own.base == captured.base else 1.0


def _unmatched(pattern: str, outputs: Sequence[Path]) -> str:
    told = f"no match of {pattern!r} in the output"
    line = nearest_line(pattern, outputs)
    return told if line is None else f"{told}; the line most like it is {line[: 2 * SHOWN]!r}"


def _no_number(text: str, pattern: str) -> str:
    told = f"{text[:SHOWN]!r} in the output is not a number"
    if not text:
        return (
            f"{told}; the last match of {pattern!r} is empty, and .+ in the place of .* matches no "
            "empty line"
        )
    if re.fullmatch(r"[-+]?[0-9]+,[0-9]+", text):
        return f"{told}; with LC_ALL=C most programs print a point"
    return told


def unit_of_pattern(pattern: str) -> str:
    """The unit to which the figures of a pattern are converted; empty where it captures none.

    Args:
        pattern: of which a group may stand for a unit.
    """
    inner = _inner_of_group(pattern, _groups(re.compile(pattern))[1])
    if not inner:
        return ""
    bases = {unit.base for word, unit in UNITS.items() if re.fullmatch(inner, word)}
    return bases.pop() if len(bases) == 1 else ""


def _inner_of_group(pattern: str, number: int) -> str:
    """The text within the parentheses of a group of a pattern that compiles; empty for none."""
    depth, opened = 0, 0
    begin: tuple[int, int] | None = None
    for token in _TOKENS.finditer(pattern):
        text = token[0]
        if text == ")":
            if begin is not None and depth == begin[0]:
                return pattern[begin[1] : token.start()]
            depth -= 1
        elif text.startswith("("):
            depth += 1
            opened += text == "(" or text.startswith("(?P<")
            if opened == number and begin is None and number:
                begin = depth, token.end()
    return ""


_TOKENS = re.compile(r"\\.|\[\^?\]?[^]]*\]|\(\?P<\w+>|\((?!\?)|\(\?|\)", re.DOTALL)
"""What may hold a parenthesis of a pattern, or is one."""
