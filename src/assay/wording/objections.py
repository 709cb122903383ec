"""Objections: reasons why values of two arms cannot support a verdict, as clauses."""

from __future__ import annotations

import re
from collections.abc import Iterable

from assay.units import show_bytes, show_count
from assay.untrusted import clean
from assay.wording.counts import launch_count, share_of_launches

DIFFERENT_OUTPUT = "different output"
"""First words of each objection to outputs that differ."""
REPORTED_ERROR = "reported error"
"""First words of each objection to an arm that reports an error."""
_OLDER_REPORTED_ERROR = "complaint of the program"
"""The same in the documents of earlier versions."""
OUTPUT_REMEDY = "--check REGEX defines good output, --outputs-may-differ accepts any"
DID_NOT_END, ENDED = "did not end", "ended"
FAILED, FAILED_OR_DID_NOT_END, ENDED_WELL = "failed", "failed or did not end", "ended well"
_LINE = re.compile(
    r""", (?:beginning|ending) with (?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
    r"| with another line \d+"
)
_MIN_KIB = 1024


# --- values -----------------------------------------------------------------------------------


def zeros_objection(metric: str, arm: str, zeros: int, launches: int) -> str:
    """Return the objection to values that no ratio can be formed with.

    Args:
        metric: name of the metric.
        arm: name of the arm.
        zeros, launches: launches with such a value, and all launches.
    """
    return (
        f"{metric} is 0 or less in {share_of_launches(zeros, launches, arm)}, and comparisons use "
        "ratios of positive values"
    )


def bounds_objection(metric: str, other: str, number: int, launches: int, arm: str) -> str:
    """Return the objection to lower bounds that may be as high as the values of another arm.

    Args:
        metric: name of the metric.
        other: name of the other arm.
        number, launches: launches with such a value, and all launches with a value.
        arm: name of the arm.
    """
    return (
        f"in {share_of_launches(number, launches, arm)}, {metric} may have been higher between two "
        f"samples, and as high as that of {other}; --metric-as-is {metric} uses the sampled values"
    )


def missing_objection(metric: str, missing: int, launches: int, arm: str, reason: str) -> str:
    """Return the objection to an arm that lacks values.

    Args:
        metric: name of the metric.
        missing, launches: launches without a value, and all launches.
        arm: name of the arm.
        reason: reason of the last one.
    """
    return f"{share_of_launches(missing, launches, arm)} have no {metric}: {reason}"


# --- units of values --------------------------------------------------------------------------


def different_units(
    metric: str, units: Iterable[tuple[str | None, int]], *, has_group: bool
) -> str:
    """Return the objection to values in different units.

    Args:
        metric: name of the metric.
        units: each unit, ``None`` for none, and the number of values with it.
        has_group: whether the pattern of the metric has a group for the unit.
    """
    printed = " and ".join(
        f"{f'in {clean(unit)}' if unit else 'without a unit'} ({show_count(count, 'time')})"
        for unit, count in units
    )
    return f"{metric} is printed {printed}. {_unit_remedy(has_group=has_group)}"


def possible_units(metric: str, words: Iterable[tuple[str | None, int]], *, has_group: bool) -> str:
    """Return the objection to values before different words, which may be units.

    Args:
        metric: name of the metric.
        words: each word, ``None`` for none, and the number of values before it.
        has_group: whether the pattern of the metric has a group for the unit.
    """
    printed = " and ".join(
        f"{f'before {clean(word)!r}' if word else 'before no word'} ({show_count(count, 'time')})"
        for word, count in words
    )
    return (
        f"{metric} is printed {printed}, which may be its unit. "
        f"{_unit_remedy(has_group=has_group)}; --metric-as-is {metric} uses the values as they are"
    )


def _unit_remedy(*, has_group: bool) -> str:
    if has_group:
        return "Units that assay knows are converted (docs/reference/figures.md)"
    return (
        "A pattern with a group (?P<unit>...) around the unit, as in "
        "'([0-9.]+) (?P<unit>[kMG]?B/s)', converts it"
    )


# --- losses -----------------------------------------------------------------------------------


def losses_clause(arm: str, lost: int, launches: int, loss: str, success: str) -> str:
    """Return the lost launches of an arm.

    Args:
        arm: name of the arm.
        lost, launches: lost launches, and all launches.
        loss: predicate of the lost launches.
        success: predicate of the others.
    """
    if not lost:
        return f"all {launch_count(launches)} of {arm} {success}"
    return f"{share_of_launches(lost, launches, arm)} {loss}"


def losses_objection(clauses: Iterable[str]) -> str:
    """Return the objection to an arm that loses more launches than another one.

    Args:
        clauses: losses of both arms.
    """
    return ", and ".join(clauses)


# --- outputs ----------------------------------------------------------------------------------


def output_text(
    size_bytes: int, line: str = "", *, first: bool = True, differing_line: int | None = None
) -> str:
    """Return an output in a few words: ``4 KiB, beginning with 'usage: ...'``.

    Args:
        size_bytes: size of the output.
        line: line that differs from that of the other output; empty without one.
        first: whether that is the first line; else it is the last.
        differing_line: number of the first line that differs, where no text is known.
    """
    if not size_bytes:
        return "nothing"
    size = show_bytes(size_bytes) if size_bytes >= _MIN_KIB else show_count(size_bytes, "byte")
    if line:
        return f"{size}, {'beginning' if first else 'ending'} with {clean(line)!r}"
    return size if differing_line is None else f"{size} with another line {differing_line}"


def different_output_objection(
    a: str, b: str, output_a: str, output_b: str, effect: str = ""
) -> str:
    """Return the objection to arms whose outputs differ.

    Args:
        a, b: names of the arms.
        output_a, output_b: their outputs, as ``output_text``.
        effect: consequence, a clause; empty without one.
    """
    found = f"{b} wrote {output_b}, and {a} {output_a}"
    return f"{DIFFERENT_OUTPUT}: {found}{f'; {effect}' if effect else ''} ({OUTPUT_REMEDY})"


def reported_error_objection(
    arm: str, other: str, launches: int, line: str, effect: str = ""
) -> str:
    """Return the objection to an arm whose launches all report an error.

    Args:
        arm: name of the arm.
        other: name of the arm without the error.
        launches: launches of the arm.
        line: first line of the error; empty if unknown.
        effect: consequence, a clause; empty without one.
    """
    quoted = f", beginning with {clean(line)!r}" if line else ""
    found = f"all {launch_count(launches)} of {arm} report one{quoted}, and none of {other} does"
    return f"{REPORTED_ERROR}: {found}{f'; {effect}' if effect else ''} ({OUTPUT_REMEDY})"


def without_quote(objection: str) -> str:
    """Return an objection to outputs without quoted lines; any other objection unchanged."""
    quoting = objection.startswith((DIFFERENT_OUTPUT, REPORTED_ERROR, _OLDER_REPORTED_ERROR))
    return _LINE.sub("", objection) if quoting else objection


COUNTS_AS_FAILED = "it counts as failed"


def values_count_as_failed(values: Iterable[str]) -> str:
    """Return the effect of other work on all configurations with some values.

    Args:
        values: as ``NAME=VALUE``.
    """
    return f"all with {' or '.join(values)} count as failed"


def others_count_as_failed(others: int) -> str:
    """Return the effect of other work on several configurations.

    Args:
        others: number of configurations beside the first.
    """
    return f"it and {show_count(others, 'other configuration')} count as failed"
