"""Formatting of texts, numbers and changes for readers."""

from __future__ import annotations

import re

from assay.records import Claim, Metric, Statistic
from assay.units import show_duration, show_percent
from assay.untrusted import clean
from assay.wording.sentence import NO_BOUNDS

MINUS = "\u2212"
NBSP = "\u00a0"
ELLIPSIS = "\u2026"

_LABELS = {
    "wall_s": "wall time",
    "user_s": "CPU time in user mode",
    "sys_s": "CPU time in the kernel",
    "peak_bytes": "peak memory, page cache included",
    "peak_anon_bytes": "peak memory",
}

MAX_NAME_CHARACTERS = 72
"""Length to which names of arms are shortened."""


def shorten(text: str, width: int) -> str:
    """Return at most ``width`` characters of a text, shortened in the middle."""
    if len(text) <= width:
        return text
    head = (width - 1) * 2 // 3
    return f"{text[:head]}{ELLIPSIS}{text[len(text) - (width - 1 - head) :]}"


def show_name(text: str) -> str:
    """Return a name for a sentence or a cell of a table, without control characters."""
    return shorten(clean(text), MAX_NAME_CHARACTERS)


def label_of(metric: Metric) -> str:
    """Return the name of a metric for sentences."""
    return _LABELS.get(metric.name, clean(metric.name))


def compared_label(metric: Metric, statistic: Statistic) -> str:
    """Return the name of the compared statistic: the metric or its spread."""
    label = label_of(metric)
    return f"spread of {label}" if statistic is Statistic.SPREAD else label


def duration(seconds: float) -> str:
    """Return a duration in its best unit, in the form of pictures and tables."""
    return show_duration(seconds).replace(" us", " \u00b5s")


MIN_FACTOR = 2.0
"""Ratio from which on a change is shown as a factor."""


def change(ratio: float) -> str:
    """Return a ratio as signed change, ``-18.2 %`` with a true minus, or as a factor from 2 on."""
    if ratio >= MIN_FACTOR:
        return factor(ratio)
    return f"{show_percent(ratio).replace('-', MINUS)}{NBSP}%"


def factor(ratio: float) -> str:
    """Return a ratio as a factor: ``1.80\u00d7``."""
    return f"{ratio:.2f}\u00d7"


def typeset(sentence: str, quoted: str) -> str:
    """Return a sentence with true minus signs in the quoted figures only.

    Names of arms may contain options such as ``-3``.
    """
    return sentence.replace(quoted, quoted.replace("-", MINUS)) if quoted else sentence


_NUMBER_AND_UNIT = re.compile(r"(?<=\d) (?=(?:%|[num\u00b5]?s|[KMGT]i?B|bytes|times|J)(?![\w=]))")


def unbroken(text: str) -> str:
    """Return a text without line breaks between numbers and units."""
    return _NUMBER_AND_UNIT.sub(NBSP, text)


def whole_change(ratio: float) -> str:
    """Return a ratio as change for an axis, without unnecessary decimals."""
    return change(ratio).replace(f".0{NBSP}", NBSP) if ratio < MIN_FACTOR else f"{ratio:g}\u00d7"


def typeset_effect(name: str) -> str:
    """Return the name of an effect, safe for display, with arrows and crosses."""
    return clean(name).replace(" -> ", " \u2192 ").replace(" x ", " \u00d7 ")


def bound_mark(ci: tuple[float | None, float | None]) -> str:
    """Return the sign of a ratio that is only a bound, by the open end of its interval."""
    return "\u2265 " if ci[1] is None else "\u2264 "


def claimed_change(claim: Claim) -> str:
    """Return the change of a claim, marked if it is only a bound."""
    mark = bound_mark(claim.ci) if claim.bound_only else ""
    return f"{mark}{change(claim.ratio)}"


def change_interval(ci: tuple[float | None, float | None]) -> str:
    """Return an interval of a ratio as changes: ``-20.1 % to -16.3 %``, or with an open end.

    Both ends have one unit: factors from an upper end of ``MIN_FACTOR`` on, else per cent.
    """
    low, high = ci
    if low is None and high is None:
        return NO_BOUNDS
    if low is None:
        return f"at most {change(high or 0.0)}"
    if high is None:
        return f"at least {change(low)}"
    show = factor if high >= MIN_FACTOR else change
    return f"{show(low)} to {show(high)}"


LABEL_CHARACTERS = 96
"""Maximum length of the label of an arm; table and raw data are complete."""


def arm_label(name: str) -> str:
    """Return the name of an arm, safe for display and short enough for a picture."""
    return shorten(clean(name), LABEL_CHARACTERS)
