"""Sentences that a person can repeat."""

from __future__ import annotations

import math

from assay.records import Budget, Claim, Goal, Metric, StudySpec, Verdict
from assay.units import significant


def say(spec: StudySpec, found: Claim | None) -> str:
    """The verdict of a tuning in one sentence."""
    if found is None:
        return "Keep the default: nothing that was tried stood better."
    metric = spec.workload.objective
    interval = _interval(found)
    match found.verdict:
        case Verdict.FASTER:
            return (
                f"{found.b} {improvement(found, metric)} "
                f"({interval}, {found.blocks} paired launches)."
            )
        case Verdict.SAME:
            return (
                f"Keep the default: {found.b}, the best that was found, makes no difference of "
                f"{100 * found.margin:g} % ({interval})."
            )
        case Verdict.SLOWER:
            return (
                f"Keep the default: {found.b}, which won the search, was slower when it was "
                f"confirmed ({interval})."
            )
        case Verdict.UNCLEAR:
            return (
                f"Keep the default: whether {found.b} gains anything is unclear ({interval})."
                f"{_outlook(found)}"
            )


def comparison(found: Claim, metric: Metric) -> str:
    """The verdict on ``b`` against ``a`` in one sentence."""
    interval = f"{_interval(found)}, {found.blocks} paired launches"
    match found.verdict:
        case Verdict.FASTER:
            return f"{found.b} {improvement(found, metric)} than {found.a} ({interval})."
        case Verdict.SLOWER:
            change = 100 * abs(found.ratio - 1)
            word = "more" if metric.goal is Goal.LOWER else "less"
            return (
                f"{found.b} is worse: {_least(found)}{change:.1f} % {word} {_noun(metric)} "
                f"than {found.a} ({interval})."
            )
        case Verdict.SAME:
            zone = f"{100 * found.margin:g} %"
            return f"{found.b} and {found.a} are the same within {zone} ({interval})."
        case Verdict.UNCLEAR:
            outlook = _outlook(found)
            return f"Whether {found.b} differs from {found.a} is unclear ({interval}).{outlook}"


def improvement(found: Claim, metric: Metric) -> str:
    """How much better ``b`` is by a metric: ``takes 38.2 % less time``."""
    ratio, least = found.ratio, _least(found)
    if metric.goal is Goal.HIGHER:
        if ratio >= 2.0:
            return f"brings {least}{significant(ratio)} times the {metric.name}"
        return f"brings {least}{100 * (ratio - 1):.1f} % more {metric.name}"
    noun = _noun(metric)
    if ratio <= 0.5:
        return f"needs {least}{significant(1 / ratio)} times less {noun}"
    return f"takes {least}{100 * (1 - ratio):.1f} % less {noun}"


def _least(found: Claim) -> str:
    return "at least " if found.bound_only else ""


def _noun(metric: Metric) -> str:
    nouns = {
        "wall_s": "time",
        "user_s": "user CPU time",
        "sys_s": "system CPU time",
        "peak_anon_bytes": "memory",
    }
    return nouns.get(metric.name, metric.name)


def _interval(found: Claim) -> str:
    """The interval of the change, in per cent of the baseline."""
    share = f"{100 * (1 - found.alpha):g} % interval"
    lo, hi = (None if end is None else 100 * (end - 1) for end in found.ci)
    if lo is None and hi is None:
        return f"{share} still open"
    if lo is None or hi is None:
        return f"{share} {'up to' if lo is None else 'from'} {hi if lo is None else lo:+.1f} %"
    return f"{share} {lo:+.1f} to {hi:+.1f} %"


def _outlook(found: Claim) -> str:
    if found.blocks_needed is None or found.blocks_needed <= found.blocks:
        return ""
    return f" About {found.blocks_needed} paired launches in all would tell."


def needed_text(asked: Budget, needed: Budget) -> str:
    """A budget that would do, in the options that were used, rounded up."""
    parts = [
        f"--budget {math.ceil(needed.time_s)}s"
        if needed.time_s and asked.time_s is not None
        else "",
        f"--runs {needed.launches}" if needed.launches and asked.launches is not None else "",
    ]
    return " and ".join(part for part in parts if part)
