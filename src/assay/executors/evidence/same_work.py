"""Same work: the form of an output in which launches that do the same work agree.

Arms of a comparison are expected to do the same work. Their exit statuses do not show it: a program
may print a usage message and end well. Outputs differ in harmless ways as well: values of varied
settings, widths of columns, digits of a sum whose order of additions differs.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection
from functools import lru_cache

from assay.executors.metrics.matching import FLAGS
from assay.executors.metrics.patterns import figure_and_unit
from assay.records import Evidence, Output
from assay.records.sample import OUTPUT
from assay.records.sketch import OWN_VALUE, sketch_of

SIGNIFICANT_DIGITS = 6
"""Significant digits of a real number that two outputs have to share."""
NEGLIGIBLE = 1e-9
"""Real numbers below are residuals, which differ with the order of additions in every digit."""
MAX_LINE = 80
"""Characters kept of a line."""
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
"""Stands for the value of a setting."""
DIGEST_DIGITS = 16
"""Hexadecimal digits kept of a digest."""
MAX_END_LINES = 8
"""Lines that are compared of each end of an output that is not kept whole."""
_MEASURED = re.compile(
    r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?[ \t]*"
    r"(?:%|[num\u00b5\u03bc]?s(?:ec(?:ond)?s?)?|min(?:ute)?s?|h(?:ours?)?|[kMGT]?Hz|cycles|fps|loops?"
    r"|[kMGT]?(?:FLOPS?|FLOP/s)|[\w.]+/(?:s|sec|min|\w?s))(?![\w/]|[.-][^\W\d])"
)
"""A time, a share, a frequency or a rate: a measured figure, and no result. So is the number of
loops of a benchmark, which follows from its speed. The unit is no part of a name of a file."""
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_OVERWRITTEN = re.compile(r"^[^\n]*\r(?=[^\r\n])", re.MULTILINE)
"""Text of a line, as of a progress bar, that later text of the line is written over."""
_REAL = re.compile(
    r"(?<![\w.])[-+]?(?:\d+\.\d*|\.\d+|\d+(?=[eE][-+]?\d))(?:[eE][-+]?\d+)?(?![\w.])"
)


def output_evidence(
    output: Output,
    values: Collection[str],
    patterns: Collection[str] = (),
    own: Collection[str] = (),
) -> Evidence:
    """Return the comparable form of an output as evidence of its launch.

    Args:
        output: standard output of the launch.
        values: of varied settings, as text.
        patterns: regular expressions of the figures that are read from it.
        own: values that the launch has by its own configuration.

    Returns:
        Evidence whose value is the size in bytes, and whose note has five lines: a digest, a digest
        without any digits, the first and the last line that are not empty, a sketch.
    """
    marked = _ends(output, values, patterns, own)
    lines = [line.replace(OWN_VALUE, ELLIPSIS) for line in marked]
    return Evidence(
        kind=OUTPUT,
        value=float(output.size_bytes),
        unit="bytes",
        note="\n".join(
            (
                _digest(lines),
                _digest([re.sub(r"\d+", "", line) for line in lines]),
                lines[0][:MAX_LINE] if lines else "",
                lines[-1][:MAX_LINE] if lines else "",
                sketch_of(marked),
            )
        ),
    )


def comparable_lines(
    output: Output,
    values: Collection[str],
    patterns: Collection[str] = (),
    own: Collection[str] = (),
) -> list[str]:
    """Return the lines of an output without what differs between launches that do the same work.

    Of an output that is not kept whole these are some lines of both ends: an end is cut after a
    number of bytes, which other lines reach if a value before is longer.

    Args:
        output: of a launch.
        values, patterns, own: as for ``output_evidence``.
    """
    return [line.replace(OWN_VALUE, ELLIPSIS) for line in _ends(output, values, patterns, own)]


def _ends(
    output: Output, values: Collection[str], patterns: Collection[str], own: Collection[str]
) -> list[str]:
    form = ComparableForm(values, patterns, own)
    if output.complete:
        return form.lines_of(output.head + output.tail)
    head = form.lines_of(output.head.rpartition(b"\n")[0])
    tail = form.lines_of(output.tail.partition(b"\n")[2])
    return [*head[:MAX_END_LINES], *tail[-MAX_END_LINES:]]


class ComparableForm:
    """What is taken out of outputs.

    Args:
        values, patterns, own: as for ``output_evidence``.
    """

    def __init__(
        self,
        values: Collection[str],
        patterns: Collection[str] = (),
        own: Collection[str] = (),
    ) -> None:
        self._patterns = patterns
        self._own = {form.casefold() for value in own for form in _forms(value)}
        self._values = _words(frozenset(values) | frozenset(own))

    def lines_of(self, content: bytes) -> list[str]:
        """Return the lines of a text that are not empty."""
        text = _ESCAPE.sub("", content.decode("utf-8", "replace")).replace(OWN_VALUE, "")
        for pattern in self._patterns:
            text = re.sub(pattern, _without_figure, text, flags=FLAGS)
        text = _plain(_OVERWRITTEN.sub("", text))
        if self._values is not None:
            text = self._values.sub(self._without_value, text)
        lines = (" ".join(line.split()) for line in re.split(r"[\r\n]+", text))
        return [line for line in lines if line]

    def _without_value(self, match: re.Match[str]) -> str:
        return OWN_VALUE if match[0].casefold() in self._own else ELLIPSIS


@lru_cache(maxsize=64)
def _words(values: frozenset[str]) -> re.Pattern[str] | None:
    """Return a pattern of all values, the longest first."""
    named = {form for value in values for form in _forms(value)}
    ordered = sorted(named, key=lambda form: (-len(form), form))
    if not ordered:
        return None
    return re.compile(
        rf"(?<![\w.])(?:{'|'.join(map(re.escape, ordered))})(?!\w|\.\w)", re.IGNORECASE
    )


def _forms(value: str) -> set[str]:
    """Return a value as it is, and as it is where figures have been taken out of a text."""
    plain = _plain(value)
    return {form for form in (value, plain) if form.strip(ELLIPSIS + " ")}


def _plain(text: str) -> str:
    """Return a text without measured figures, and with rounded numbers."""
    return _REAL.sub(_rounded, _MEASURED.sub(ELLIPSIS, text))


def _without_figure(match: re.Match[str]) -> str:
    """Return a match without what is read from it; of one within a line nothing is left."""
    if match[0] and not re.search(r"[\r\n]", match[0]):
        return ELLIPSIS
    text, begin = match[0], match.start()
    groups = {group for group in figure_and_unit(match.re) if group}
    places = {match.span(group) for group in groups}
    for start, end in sorted(places, reverse=True):
        if begin <= start < end:
            text = text[: start - begin] + ELLIPSIS + text[end - begin :]
    return text


def _rounded(match: re.Match[str]) -> str:
    value = float(match[0])
    return "0" if abs(value) < NEGLIGIBLE else f"{value:.{SIGNIFICANT_DIGITS}g}"


def _digest(lines: list[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode("utf-8", "replace")).hexdigest()[:DIGEST_DIGITS]
