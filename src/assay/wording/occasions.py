"""Words: a comparison of two conditions as sentences, for the terminal and for Markdown."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from itertools import groupby

from assay.machine.cpulist import format_list
from assay.records import Claim, Metric, Verdict
from assay.records.comparison import (
    Condition,
    ConditionDifference,
    OccasionComparison,
    OccasionVerdict,
)
from assay.units import show_count, show_percent, significant
from assay.wording.sentence import NOUNS, interval_text, statement

_METRIC_OF_UNIT = {"s": Metric(name="wall_s", unit="s")}
"""Metric that a published figure of a unit is, in sentences."""


def verdict_sentence(found: OccasionComparison) -> str:
    """Return the verdict in one sentence, with its interval."""
    if found.verdict is OccasionVerdict.UNPROVEN:
        low, high = found.ci_launches
        if low <= 1.0 <= high:
            whether = f"whether {found.b.name} differs from {found.a.name} is unclear even"
            return f"Unproven: {whether} in these launches ({_launches(found)}); {found.reason}."
        return (
            f"Unproven: {_seen(found)} in these launches ({_launches(found)}), but {found.reason}."
        )
    if found.verdict is OccasionVerdict.UNCLEAR:
        whether = f"Whether {found.b.name} differs from {found.a.name} is unclear"
        return f"{whether} ({_occasions(found)}): {found.reason}."
    if found.verdict is OccasionVerdict.SAME:
        same = f"{found.b.name} and {found.a.name} are the same, to within {_share(found.margin)}"
        return f"{same} ({_occasions(found)})."
    perhaps = "" if found.beyond_margin else ", perhaps by less than the margin"
    return f"{_seen(found)}{perhaps} ({_occasions(found)})."


def effect_sentence(found: OccasionComparison) -> str:
    """Return the differences whose effects the design cannot separate."""
    parts = []
    if found.covered:
        parts.append(f"The interval covers {_and(found.covered)}.")
    if len(found.inseparable) == 1:
        parts.append(f"The design cannot separate the effect from that of {found.inseparable[0]}.")
    elif found.inseparable:
        parts.append(f"The design cannot separate the effects of: {', '.join(found.inseparable)}.")
    elif found.covered:
        parts.append("Nothing else is known to differ.")
    return " ".join(parts)


def launches_sentence(found: OccasionComparison) -> str | None:
    """Return the interval of the launches alone, where another one decides."""
    if found.ci is None:
        return None
    return f"{_launches(found)}: it takes the two occasions as they were"


def occasions_sentences(found: OccasionComparison) -> Iterator[str]:
    """Yield where the variance between occasions comes from, one line for each machine."""
    for one in found.occasions:
        studies = ", ".join(one.studies)
        yield (
            f"{show_count(len(one.studies), 'occasion')} vary by {significant(100 * one.sd_log, 2)}"
            f" % (sd of their means): {studies}"
        )


def difference_lines(differences: Sequence[ConditionDifference]) -> Iterator[str]:
    """Yield the differences below their subjects, as ``assay machine diff`` shows it."""
    for subject, alike in groupby(differences, key=lambda one: one.subject):
        several = list(alike)
        if [one.what for one in several] != [subject]:
            yield subject
        for one in several:
            numbers = f" ({format_list(one.numbers)})" if one.numbers else ""
            indent = "" if one.what == subject else "  "
            yield f"{indent}{one.what}{numbers}: {_value(one.a)} -> {_value(one.b)}"


def _value(text: str | None) -> str:
    return "-" if text is None else " ".join(text.split()) or "(empty)"


def origin(condition: Condition) -> str:
    """Return where and when a condition was measured, in a few words."""
    parts = []
    if condition.study is not None:
        parts.append(f"study {condition.study}")
        parts += [f"stratum {condition.stratum}"] if condition.stratum else []
        parts += [f"arm {condition.arm}"] if condition.arm not in (None, "default") else []
    if condition.at_s is not None:
        at = datetime.datetime.fromtimestamp(condition.at_s, datetime.UTC)
        parts.append(at.strftime("%Y-%m-%d %H:%M UTC"))
    parts += [condition.model] if condition.model else []
    parts += [f"Linux {condition.kernel}"] if condition.kernel else []
    parts += [condition.about] if condition.about else []
    parts += ["published"] if condition.study is None else []
    return ", ".join(parts)


def metric_of(found: OccasionComparison) -> Metric:
    """Return the metric as sentences name it."""
    if found.published and found.metric not in NOUNS:
        return _METRIC_OF_UNIT.get(found.unit, Metric(name=found.metric, unit=found.unit))
    return Metric(name=found.metric, unit=found.unit)


def _seen(found: OccasionComparison) -> str:
    """Return the observed effect: ``b takes 17.4 % less time than a``."""
    metric = metric_of(found)
    a, b = found.a.name, found.b.name
    if metric.name not in NOUNS:
        word = "lower" if found.ratio < 1 else "higher"
        share = show_percent(found.ratio).lstrip("+-")
        change = f"{share} % {word}" if found.ratio < 2 else f"{significant(found.ratio)} times"
        return f"{metric.name} is {change} with {b} than with {a}"
    claim = Claim(
        a=a,
        b=b,
        metric=metric.name,
        ratio=found.ratio,
        ci=found.ci_launches,
        verdict=Verdict.FASTER if found.ratio < 1 else Verdict.SLOWER,
        blocks=0,
        margin=found.margin,
        alpha=found.alpha,
        method="mean",
    )
    return statement(claim, metric)


def _launches(found: OccasionComparison) -> str:
    return (
        f"{_share(1 - found.alpha)} interval of launches alone {interval_text(found.ci_launches)}"
    )


def _occasions(found: OccasionComparison) -> str:
    ends = interval_text(found.ci) if found.ci is not None else "open"
    return f"{_share(1 - found.alpha)} interval {ends}, differences between occasions included"


def _share(share: float) -> str:
    return f"{100 * share:g} %"


def _and(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
