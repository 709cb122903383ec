"""Values in single lines, found by the pattern of a metric."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable

from assay.executors.metrics.figures import cut_from
from assay.executors.metrics.matching import FLAGS
from assay.executors.metrics.printed_units import PrintedUnit, captured_unit, following_unit
from assay.executors.progress.json_records import finite, number
from assay.executors.progress.metric_series import MetricSeries
from assay.executors.progress.output_files import TimedLine
from assay.executors.progress.speed_units import UnitConverter

_NAMED = frozenset({"value", "step", "unit", "rank", "total"})
_LONGER_BEFORE = frozenset("0123456789.,:'\u2019_-\u2212hm")
"""Characters directly before a figure that may belong to the same number."""
_LONGER_AFTER = re.compile(
    "[ \u00a0\u202f]?[x\u00d7*\u00b7\u22c5]|[.,:'\u2019_\u066b\u00a0\u202f]?[0-9]"
    "|[eEdDhm][-+]?[0-9]"
)
"""Text directly after a figure that may belong to the same number."""
_NOT_FINITE = re.compile(r"(?<![\w.])[-+]?(?:nan|inf(?:inity)?)(?!\w)", re.IGNORECASE)
"""Word that a program prints in the place of a number."""
_UNIT_CHARACTERS = 32
"""Number of characters after a figure in which its unit is searched."""
_MAX_UNITS = 1024
"""Number of different texts after a figure whose units are remembered."""


class LineMatcher:
    """Finds the value of a metric in lines.

    Args:
        pattern: regular expression. Its group ``value``, or else the first group without a name,
            is the value; the group ``unit``, or else the second such group, its unit. The groups
            ``step``, ``total`` and ``rank`` are optional.
        units: converter of the values.

    Attributes:
        matches: number of lines with a match.
        invalid: number of lines by the reason for which their match has no value.
        example: last such line.
    """

    def __init__(self, pattern: str, units: UnitConverter) -> None:
        self._pattern = re.compile(pattern, FLAGS)
        groups = self._pattern.groupindex
        named = {index for name, index in groups.items() if name in _NAMED}
        others = [index for index in range(1, self._pattern.groups + 1) if index not in named]
        self._value = groups.get("value") or (others.pop(0) if others else 0)
        self._unit = groups.get("unit") or (others.pop(0) if others else 0)
        self._step, self._total, self._rank = (
            groups.get(name, 0) for name in ("step", "total", "rank")
        )
        self._units = units
        self._unit_after: dict[str, PrintedUnit | None] = {}
        self.matches = 0
        self.invalid: Counter[str] = Counter()
        self.example = ""

    def read(self, lines: Iterable[TimedLine], series: MetricSeries) -> None:
        """Add the values of lines to a series.

        Args:
            lines: lines of the output.
            series: series of the metric.
        """
        search = self._pattern.search
        for time_s, text, seen in lines:
            match = search(text)
            if match is not None and seen:
                match = _first_after(self._pattern, text, seen)
            value = None
            if match is None:
                match = self._without_number(text, seen) if self.matches else None
                if match is None:
                    continue
                value = math.nan
            self.matches += 1
            value = self._number(match) if value is None else value
            if value is None:
                self.example = text
                continue
            step = _whole(match[self._step]) if self._step else None
            total = _whole(match[self._total]) if self._total else None
            rank = _whole(match[self._rank]) if self._rank else None
            series.add_value(value, time_s, step, total, None if rank is None else int(rank))

    def _without_number(self, text: str, seen: int) -> re.Match[str] | None:
        """Return the match in a line that has NaN or inf where the pattern wants a number.

        A pattern such as ``loss=([0-9.]+)`` excludes these words. Its values would end with the
        last finite one if the training diverges.
        """
        words = list(_NOT_FINITE.finditer(text))
        if not words:
            return None
        with_numbers = _NOT_FINITE.sub(lambda word: "1" * len(word[0]), text)
        for match in self._pattern.finditer(with_numbers):
            begin, end = match.span(self._value)
            is_word = any(begin <= word.start() and word.end() <= end for word in words)
            if match.end() > seen and is_word:
                return match
        return None

    def _number(self, match: re.Match[str]) -> float | None:
        """Return the value of a match in the unit of the metric; ``None`` if it has none."""
        printed = match[self._value] or ""
        value = None if "_" in printed else number(printed)
        if value is None:
            self.invalid["not a number"] += 1
            return None
        longer = _may_be_longer(match.string, *match.span(self._value))
        if longer and cut_from(match, self._value) is not None:
            self.invalid["part of a longer number"] += 1
            return None
        converted = self._units.convert(value, self._printed_unit(match))
        if converted is None:
            self.invalid["unit that cannot be converted"] += 1
        return converted

    def _printed_unit(self, match: re.Match[str]) -> PrintedUnit | None:
        if self._unit and match[self._unit]:
            text = match[self._unit]
        else:
            end = match.end(self._value)
            text = match.string[end : end + _UNIT_CHARACTERS]
        try:
            return self._unit_after[text]
        except KeyError:
            pass
        unit = captured_unit(text) if self._unit else following_unit(text, 0)
        if unit is not None and not unit.base and "/" not in unit.name:
            unit = None  # a prefix alone, or a word
        if len(self._unit_after) < _MAX_UNITS:
            self._unit_after[text] = unit
        return unit


def _first_after(pattern: re.Pattern[str], text: str, seen: int) -> re.Match[str] | None:
    """Return the first match that ends in the new part of a line."""
    return next((match for match in pattern.finditer(text) if match.end() > seen), None)


def _may_be_longer(text: str, begin: int, end: int) -> bool:
    before = begin > 0 and text[begin - 1] in _LONGER_BEFORE
    return before or _LONGER_AFTER.match(text, end) is not None


def _whole(text: str | None) -> float | None:
    """Return the number of a text, also with separators of thousands; ``None`` without it."""
    return finite(number(text.replace(",", ""))) if text else None
