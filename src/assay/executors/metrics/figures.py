"""Figures in the output of a program: whole numbers, with their printed units."""

from __future__ import annotations

import functools
import math
import re
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.executors.metrics.headers import header_unit
from assay.executors.metrics.match_statistic import statistic_of
from assay.executors.metrics.matching import all_matches, last_match, nearest_line, quoted
from assay.executors.metrics.numbers import POWER, number_around
from assay.executors.metrics.patterns import (
    figure_and_unit,
    is_followed_by,
    literal_after,
    literal_before,
    span_of_group,
)
from assay.executors.metrics.printed_units import (
    PREFIXES,
    UNITS,
    captured_unit,
    following_unit,
    preceding_unit,
)
from assay.executors.metrics.unit_words import following_word, unit_word
from assay.records import Metric
from assay.records.sample import UNIT_MULTIPLES

MAX_MAGNITUDE = 1e100
"""Largest magnitude of a figure: beyond it, or below its inverse, squares would overflow."""
NO_UNIT = "no unit"
"""Unit of a figure without a unit, if other figures of the metric have one."""
ANY_WORD = "zq"
"""Word that is not a unit: a group that matches it matches any word."""
BOUNDARIES = frozenset(" \t\r\n=")
"""Characters that are never part of a number: a figure between two of them is complete."""
MAX_QUOTED = 60
"""Number of output characters that a reason quotes."""


@dataclass(frozen=True)
class Figure:
    """Figure of one metric.

    Attributes:
        value: value in the unit of the metric; ``None`` if missing.
        reason: reason for a missing value.
        cut: whole printed number, if the pattern matches only part of it; the value is then
            missing.
        unit: known unit that the output names for the value.
        word: word after the figure, or captured unit, if it is not a known unit.
    """

    value: float | None = None
    reason: str | None = None
    cut: str | None = None
    unit: str | None = None
    word: str | None = None


def read_figure(metric: Metric, outputs: Sequence[Path], begin: int = 0) -> Figure:
    """Read the figure of a metric from the last match of its pattern, or from all.

    Args:
        metric: metric with a pattern. Its first group, or the whole match, is the figure. The next
            group, or the one named ``unit``, is its unit if that is known.
        outputs: output files; the first one with a match counts.
        begin: offset in each file at which the search starts.
    """
    pattern = metric.pattern or ""
    if metric.statistic is not None:
        found = _figure_of_all(metric, metric.statistic, all_matches(pattern, outputs, begin))
    else:
        match = last_match(pattern, outputs, begin)
        found = None if match is None else _figure_of_match(metric, match)
    return Figure(reason=_unmatched(pattern, outputs)) if found is None else found


def _figure_of_all(
    metric: Metric, statistic: str, matches: Iterable[re.Match[str]]
) -> Figure | None:
    """Return one figure of all matches, each of which is checked; ``None`` without a match."""
    values = array("d")
    units: set[str | None] = set()
    words: set[str | None] = set()
    for match in matches:
        # The header is searched once: there may be millions of matches.
        figure = _figure_of_match(metric, match, headed=not values)
        if figure.value is None:
            return figure
        values.append(figure.value)
        units.add(figure.unit)
        words.add(figure.word)
    if not values:
        return None
    if not units & UNIT_MULTIPLES:  # a figure without a printed unit may have any unit
        units = units - {None} or units
    if len(units) > 1 and not metric.ignore_unit:
        units_text = " and ".join(sorted(f"in {u}" if u else "without a unit" for u in units))
        return Figure(reason=f"the matches are printed {units_text}")
    value = statistic_of(statistic, values)
    unit = units.pop() if len(units) == 1 else None
    return Figure(value, unit=unit, word=words.pop() if len(words) == 1 else None)


def _figure_of_match(metric: Metric, match: re.Match[str], *, headed: bool = True) -> Figure:
    """Return the figure of one match; with ``headed`` a header may name its unit."""
    pattern = metric.pattern or ""
    group, unit_group = figure_and_unit(match.re)
    text = match[group] or ""  # a group that did not participate in the match is empty
    value = _number(text)
    if value is None:
        return Figure(reason=_no_number(text, pattern))
    if value != 0.0 and not 1.0 / MAX_MAGNITUDE <= abs(value) <= MAX_MAGNITUDE:
        return Figure(reason=f"{text[:MAX_QUOTED]!r} in the output is too large or too small")
    cut = None if metric.ignore_unit else cut_from(match, group)
    if cut is not None:
        return Figure(
            cut=cut,
            reason=f"{text[:MAX_QUOTED]!r} in the output is only part of {cut[:MAX_QUOTED]!r}",
        )
    if unit_group:
        converted = _by_captured(metric, value, match, group, unit_group)
        if converted is not None:
            return converted
    end = match.end(group)
    unit = following_unit(match.string, end)
    unit = unit or preceding_unit(match.string[match.start() : match.start(group)])
    if unit is not None and (unit.base or unit.factor == 1.0):
        return Figure(value, unit=unit.name)
    word = following_word(match.string, end)
    if unit is not None:  # a prefix such as k: the counted thing follows
        return Figure(value, unit=unit.name, word=word)
    header = header_unit(match.string, *match.span(group)) if headed else None
    return Figure(value, unit=header, word=word)


def _by_captured(
    metric: Metric, value: float, match: re.Match[str], group: int, unit_group: int
) -> Figure | None:
    """Return a figure with its captured unit; ``None`` if the group has no unit."""
    captured = match[unit_group] or ""
    named = "unit" in match.re.groupindex
    if named or captured_bases(metric.pattern or ""):
        return _converted(metric, value, captured)
    if not may_be_unit(metric.pattern or ""):
        return None
    if not captured.strip():
        return Figure(value, unit=NO_UNIT)
    between = match.string[match.end(group) : match.start(unit_group)]
    unit = captured_unit(captured)
    # A letter such as M is a prefix only directly after the figure.
    if unit is not None and (unit.base or between in ("", " ", "\t")):
        return _converted(metric, value, captured)
    return Figure(value, word=unit_word(captured))


def _converted(metric: Metric, value: float, captured: str) -> Figure:
    """Return a figure converted from its captured unit to that of its metric."""
    unit = captured_unit(captured)
    if unit is None or (
        not unit.base and unit.factor == 1.0
    ):  # distinct, but without a conversion factor
        return Figure(value, unit=captured or NO_UNIT)
    own = UNITS.get(metric.unit)
    if own is not None and own.base != unit.base:
        return Figure(reason=f"{captured} in the output cannot be converted to {metric.unit}")
    return Figure(value * unit.factor / (own.factor if own else 1.0), unit=unit.base or NO_UNIT)


def _number(text: str) -> float | None:
    """Return a finite number; texts such as 1_000, which only Python accepts, are refused."""
    try:
        value = math.nan if "_" in text else float(text)
    except ValueError:
        return None
    # An infinite value is too large.
    return value if math.isfinite(value) else None


def cut_from(match: re.Match[str], group: int) -> str | None:
    """Return the number of which a group is only a part; ``None`` for a whole number.

    A separator that the pattern names directly beside the group does not belong to the number: the
    comma of a column, the colon after a key. For minutes the pattern must name the number as well,
    as in ``0m``.
    """
    text, (begin, end) = match.string, match.span(group)
    power = POWER.match(text, end)
    alone = (begin == 0 or text[begin - 1] in BOUNDARIES) and (
        end == len(text) or text[end] in BOUNDARIES
    )
    if alone and power is None:
        return None
    first, last = number_around(text, begin, end)
    before = literal_before(match.re.pattern, group) if group else ""
    after = literal_after(match.re.pattern, group) if group else ""
    if first < begin and _names(before, text[first:begin]):
        first = begin
    if power is not None:  # a power of ten varies unless the pattern names it completely
        last = end if group and is_followed_by(match.re.pattern, group, power[0]) else last
    elif last > end and not text[end].isdigit() and text[end] in (after, before[-1:]):
        last = end
    return text[first:last] if first < begin or last > end else None


def _names(literal: str, piece: str) -> bool:
    """Return whether the literal text before a group ends in the preceding part of a number."""
    if piece[-1:] in "hm":
        return literal.endswith(piece)
    return not piece[-1:].isdigit() and literal.endswith(piece[-1:])


def _unmatched(pattern: str, outputs: Sequence[Path]) -> str:
    reason = f"no match of {quoted(pattern)} in the output"
    line = nearest_line(pattern, outputs)
    return (
        reason if line is None else f"{reason}; the most similar line is {line[: 2 * MAX_QUOTED]!r}"
    )


def _no_number(text: str, pattern: str) -> str:
    reason = f"{text[:MAX_QUOTED]!r} in the output is not a number"
    if not text:
        return (
            f"{reason}; the last match of {quoted(pattern)} is empty "
            "(.+ instead of .* skips empty lines)"
        )
    if re.fullmatch(r"[-+]?[0-9]+,[0-9]+", text):
        return f"{reason}; with LC_ALL=C most programs print a decimal point"
    return reason


def unit_of_pattern(pattern: str) -> str:
    """Return the unit to which the figures of a pattern are converted; empty without one.

    Args:
        pattern: pattern with or without a group for the unit.
    """
    bases = captured_bases(pattern)
    return next(iter(bases)) if len(bases) == 1 else ""


@functools.lru_cache
def captured_bases(pattern: str) -> frozenset[str]:
    """Return the base units that a pattern can capture; empty if it captures any word.

    Args:
        pattern: pattern with or without a group for the unit.
    """
    inner = _unit_group(pattern)
    if inner is None or inner.fullmatch(ANY_WORD):
        return frozenset()
    return frozenset(unit.base for word, unit in UNITS.items() if inner.fullmatch(word))


@functools.lru_cache
def may_be_unit(pattern: str) -> bool:
    """Return whether the unit group of a pattern matches any known unit or prefix.

    Args:
        pattern: pattern with or without a group for the unit.
    """
    inner = _unit_group(pattern)
    return inner is None or any(inner.fullmatch(word) for word in (*UNITS, *PREFIXES))


def _unit_group(pattern: str) -> re.Pattern[str] | None:
    """Return the unit group as a pattern of its own; ``None`` without one."""
    place = span_of_group(pattern, figure_and_unit(re.compile(pattern))[1])
    if place is None:
        return None
    try:
        return re.compile(pattern[slice(*place)])
    except re.error:  # it refers to another group
        return None
