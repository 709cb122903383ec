"""Plain: texts, numbers and changes as people read them."""

from __future__ import annotations

import re

from assay.records import Claim, Metric, Statistic
from assay.units import show_duration, show_percent
from assay.untrusted import clean

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


def shorten(text: str, width: int) -> str:
    """At most ``width`` characters: the middle gives way, since both ends tell things apart."""
    if len(text) <= width:
        return text
    head = (width - 1) * 2 // 3
    return f"{text[:head]}{ELLIPSIS}{text[len(text) - (width - 1 - head) :]}"


def label_of(metric: Metric) -> str:
    """What the metric is called in a sentence."""
    return _LABELS.get(metric.name, clean(metric.name))


def compared_label(metric: Metric, statistic: Statistic) -> str:
    """What is held against the baseline: the metric, or how much it varies."""
    label = label_of(metric)
    return f"spread of {label}" if statistic is Statistic.SPREAD else label


def duration(seconds: float) -> str:
    """A time with the unit that reads best, written as pictures and tables write it."""
    return show_duration(seconds).replace(" us", " \u00b5s")


def change(ratio: float) -> str:
    """A ratio as signed change, ``-18.2 %`` with a true minus; a factor from 2 on."""
    if ratio >= 2.0:
        return f"{ratio:.2f}\u00d7"
    return f"{show_percent(ratio).replace('-', MINUS)}{NBSP}%"


def typeset(sentence: str, quoted: str) -> str:
    """A sentence with the true minus in the figures that it quotes.

    Only there: the name of an arm may hold options such as ``-3``.
    """
    return sentence.replace(quoted, quoted.replace("-", MINUS)) if quoted else sentence


_NUMBER_AND_UNIT = re.compile(r"(?<=\d) (?=(?:%|[num\u00b5]?s|[KMGT]i?B|bytes|times|J)(?![\w=]))")


def unbroken(text: str) -> str:
    """A text in which no line ends between a number and its unit."""
    return _NUMBER_AND_UNIT.sub(NBSP, text)


def whole_change(ratio: float) -> str:
    """A ratio as change for an axis: no decimals where none are needed."""
    return change(ratio).replace(f".0{NBSP}", NBSP) if ratio < 2.0 else f"{ratio:g}\u00d7"


def typeset_effect(name: str) -> str:
    """The name of an effect, safe to show, with an arrow between levels and crosses for x."""
    return clean(name).replace(" -> ", " \u2192 ").replace(" x ", " \u00d7 ")


def bound_mark(ci: tuple[float | None, float | None]) -> str:
    """What stands before a ratio that is only a bound, by the end of its interval that is open."""
    return "\u2265 " if ci[1] is None else "\u2264 "


def claimed_change(claim: Claim) -> str:
    """The change that a claim is about, marked where it is only a bound."""
    mark = bound_mark(claim.ci) if claim.bound_only else ""
    return f"{mark}{change(claim.ratio)}"


def change_interval(ci: tuple[float | None, float | None]) -> str:
    """An interval of a ratio as changes: ``-20.1 % to -16.3 %``; open ends are said."""
    low, high = ci
    if low is None and high is None:
        return "open"
    if low is None:
        return f"at most {change(high or 0.0)}"
    if high is None:
        return f"at least {change(low)}"
    return f"{change(low)} to {change(high)}"


LABEL_CHARACTERS = 96
"""Longest label of an arm in a picture; the table and the raw data have all of it."""


def arm_label(name: str) -> str:
    """The name of an arm, safe to show and short enough for a picture."""
    return shorten(clean(name), LABEL_CHARACTERS)
