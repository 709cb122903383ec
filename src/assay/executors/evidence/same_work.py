"""Comparable form of an output: equal for launches that do the same work.

Arms of a comparison should do the same work. Their exit statuses do not show it: a program may
print a usage message and succeed. Outputs also differ in harmless ways: values of varied settings,
widths of columns, digits of a sum whose order of additions differs.
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
"""Significant digits of a real number that two outputs must share."""
NEGLIGIBLE = 1e-9
"""Bound below which real numbers are residuals, all of whose digits depend on the order of
additions."""
MAX_LINE = 80
"""Largest number of kept characters of a line."""
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
"""Placeholder for the value of a setting."""
DIGEST_DIGITS = 16
"""Number of kept hexadecimal digits of a digest."""
MAX_END_LINES = 8
"""Number of compared lines at each end of an output that is not kept completely."""
_MEASURED = re.compile(
    r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?[ \t]*"
    r"(?:%|[num\u00b5\u03bc]?s(?:ec(?:ond)?s?)?|min(?:ute)?s?|h(?:ours?)?|[kMGT]?Hz|cycles|fps|loops?"
    r"|[kMGT]?(?:FLOPS?|FLOP/s)|[\w.]+/(?:s|sec|min|\w?s))(?![\w/]|[.-][^\W\d])"
)
"""Pattern of a measured figure, which is not a result: a time, a share, a frequency, a rate, or the
number of loops of a benchmark, which depends on its speed. The unit is not part of a file name."""
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_OVERWRITTEN = re.compile(r"^[^\n]*\r(?=[^\r\n])", re.MULTILINE)
"""Text of a line, such as a progress bar, that later text of the same line overwrites."""
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
        values: values of varied settings, as text.
        patterns: regular expressions of the figures in the output.
        own: values of the launch's own configuration.

    Returns:
        Evidence whose value is the size in bytes, and whose note has five lines: a digest, a digest
        without any digits, the first and the last line that are not empty, a sketch. A second
        digest follows the first one after a blank if it differs: with the launch's own values,
        except those that vary. A value such as 1 also occurs as part of results.
    """
    marked = comparable_lines(output, values, patterns, own)
    lines = [line.replace(OWN_VALUE, ELLIPSIS) for line in marked]
    digests = [_digest(lines)]
    if OWN_VALUE in "".join(marked) and not set(own) <= set(values):
        digests.append(_digest(comparable_lines(output, values, patterns)))
    return Evidence(
        kind=OUTPUT,
        value=float(output.size_bytes),
        unit="bytes",
        note="\n".join(
            (
                " ".join(dict.fromkeys(digests)),
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
    """Return the lines of an output without harmless differences between launches.

    The launch's own values are marked by ``OWN_VALUE``. Of an output that is not kept completely,
    only some lines of both ends are returned: the ends have a fixed length in bytes, so that a
    longer value would shift their limits.

    Args:
        output: output of a launch.
        values, patterns, own: see ``output_evidence``.
    """
    form = ComparableForm(values, patterns, own)
    if output.complete:
        return form.lines_of(output.head + output.tail)
    head = form.lines_of(output.head.rpartition(b"\n")[0])
    tail = form.lines_of(output.tail.partition(b"\n")[2])
    return [*head[:MAX_END_LINES], *tail[-MAX_END_LINES:]]


class ComparableForm:
    """Normalisation of outputs.

    Args:
        values, patterns, own: see ``output_evidence``.
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
        text = _without_figures(_OVERWRITTEN.sub("", text))
        if self._values is not None:
            text = self._values.sub(self._without_value, text)
        lines = (" ".join(line.split()) for line in re.split(r"[\r\n]+", text))
        return [line for line in lines if line]

    def _without_value(self, match: re.Match[str]) -> str:
        return OWN_VALUE if match[0].casefold() in self._own else ELLIPSIS


@lru_cache(maxsize=64)
def _words(values: frozenset[str]) -> re.Pattern[str] | None:
    """Return a pattern that matches all values, the longest first."""
    named = {form for value in values for form in _forms(value)}
    ordered = sorted(named, key=lambda form: (-len(form), form))
    if not ordered:
        return None
    return re.compile(
        rf"(?<![\w.])(?:{'|'.join(map(re.escape, ordered))})(?!\w|\.\w)", re.IGNORECASE
    )


def _forms(value: str) -> set[str]:
    """Return a value as printed, and in normalised form."""
    plain = _without_figures(value)
    return {form for form in (value, plain) if form.strip(ELLIPSIS + " ")}


def _without_figures(text: str) -> str:
    """Return a text without measured figures and with rounded numbers."""
    return _REAL.sub(_rounded, _MEASURED.sub(ELLIPSIS, text))


def _without_figure(match: re.Match[str]) -> str:
    """Return a match without its figure; of a match within one line only a placeholder."""
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
