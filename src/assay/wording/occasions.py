"""Occasions: a comparison of two conditions in sentences, for the terminal and for Markdown."""

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
from assay.units import show_count, show_duration, show_percent, significant
from assay.wording.sentence import NO_BOUNDS, NOUNS, interval_text, statement

_METRIC_OF_UNIT = {"s": Metric(name="wall_s", unit="s")}
"""Metric of a published figure in sentences, by its unit."""


def verdict_sentence(found: OccasionComparison) -> str:
    """Return the verdict in one sentence, with its interval."""
    if found.verdict is OccasionVerdict.UNPROVEN:
        low, high = found.ci_launches
        if low <= 1.0 <= high:
            whether = f"whether {found.b.name} differs from {found.a.name} is unclear even"
            return f"Unproven: {whether} in these launches ({_launches(found)}); {found.reason}."
        observed = f"{_observed_effect(found)} in these launches ({_launches(found)})"
        return f"Unproven: {observed}, but {found.reason}."
    if found.verdict is OccasionVerdict.UNCLEAR:
        whether = f"Whether {found.b.name} differs from {found.a.name} is unclear"
        return f"{whether} ({_occasions(found)}): {found.reason}."
    if found.verdict is OccasionVerdict.SAME:
        same = f"{found.b.name} and {found.a.name} are the same, to within {_share(found.margin)}"
        return f"{same} ({_occasions(found)})."
    perhaps = "" if found.beyond_margin else ", perhaps by less than the margin"
    return f"{_observed_effect(found)}{perhaps} ({_occasions(found)})."


def effect_sentence(found: OccasionComparison) -> str:
    """Return the differences whose effects the design cannot separate."""
    parts = []
    if found.covered_differences:
        parts.append(f"The interval covers {_and(found.covered_differences)}.")
    if len(found.confounded) == 1:
        parts.append(f"The design cannot separate the effect from that of {found.confounded[0]}.")
    elif found.confounded:
        parts.append(f"The design cannot separate the effects of: {', '.join(found.confounded)}.")
    elif found.covered_differences:
        parts.append("Nothing else is known to differ.")
    return " ".join(parts)


def launches_sentence(found: OccasionComparison) -> str | None:
    """Return the interval of the launches alone, where another one decides."""
    if found.ci is None:
        return None
    return f"{_launches(found)}: it takes the two occasions as they were"


def occasions_sentences(found: OccasionComparison) -> Iterator[str]:
    """Yield the studies that estimate the variance between occasions, one line per machine."""
    for occasion in found.occasions:
        studies = ", ".join(occasion.studies)
        number = show_count(len(occasion.studies), "occasion")
        percent = significant(100 * occasion.sd_log, 2)
        yield f"{number} vary by {percent} % (sd of their means): {studies}"


def difference_lines(differences: Sequence[ConditionDifference]) -> Iterator[str]:
    """Yield the differences below their subjects, as ``assay machine diff`` shows it."""
    for subject, alike in groupby(differences, key=lambda difference: difference.subject):
        several = list(alike)
        if [difference.path for difference in several] != [subject]:
            yield subject
        for difference in several:
            numbers = f" ({format_list(difference.numbers)})" if difference.numbers else ""
            indent = "" if difference.path == subject else "  "
            values = f"{_value(difference.a)} -> {_value(difference.b)}"
            yield f"{indent}{difference.path}{numbers}: {values}"


def _value(text: str | None) -> str:
    return "-" if text is None else " ".join(text.split()) or "(empty)"


def origin(condition: Condition) -> str:
    """Return where and when a condition was measured, in a few words."""
    parts = []
    if condition.study is not None:
        parts.append(f"study {condition.study}")
        parts += [f"stratum {condition.stratum}"] if condition.stratum else []
        parts += [f"arm {condition.arm}"] if condition.arm not in (None, "default") else []
    if condition.started_at is not None:
        at = datetime.datetime.fromtimestamp(condition.started_at, datetime.UTC)
        parts.append(at.strftime("%Y-%m-%d %H:%M UTC"))
    parts += [condition.model] if condition.model else []
    parts += [f"Linux {condition.kernel}"] if condition.kernel else []
    parts += [condition.columns] if condition.columns else []
    parts += ["published"] if condition.study is None else []
    return ", ".join(parts)


def metric_of(found: OccasionComparison) -> Metric:
    """Return the metric as sentences name it."""
    if found.published and found.metric not in NOUNS:
        return _METRIC_OF_UNIT.get(found.unit, Metric(name=found.metric, unit=found.unit))
    return Metric(name=found.metric, unit=found.unit)


def _observed_effect(found: OccasionComparison) -> str:
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
    ends = interval_text(found.ci) if found.ci is not None else NO_BOUNDS
    return f"{_share(1 - found.alpha)} interval {ends}, differences between occasions included"


def _share(share: float) -> str:
    return f"{100 * share:g} %"


def _and(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


# --- notes and reasons ------------------------------------------------------------------------

MAX_NAMED_STUDIES = 3
"""Studies that a note names."""
PUBLISHED_REASON = "a published summary does not show how much occasions differ"
PUBLISHED_REMEDY = "Measure both conditions with assay, if possible in one study."
PUBLISHED_WORKLOAD = (
    "a published summary is compared with a study: no evidence shows that both ran the same "
    "workload"
)
TIME_OF_DAY = "time of day"
UNKNOWN_TIME = "the time of one of the two measurements is unknown"
UNSTATED = "host, day and every other property that the publication does not state"


def too_few_boots(side: str, found: int, needed: int) -> str:
    """Return the reason why the variance between occasions is unknown: too few boots.

    Args:
        side: name of the condition; empty where the reason is that of both.
        found, needed: occasions that are known, and that are needed.
    """
    return (
        f"the two were measured in different boots, and the known occasions{_condition(side)} are "
        f"of too few boots ({found} of {needed})"
    )


def too_few_occasions(side: str, found: int, needed: int) -> str:
    """Return the reason why the variance between occasions is unknown: too few occasions.

    Args:
        side, found, needed: as for ``too_few_boots``.
    """
    return (
        f"the difference between occasions{_condition(side)} is unknown ({found} of {needed} other "
        "occasions)"
    )


def _condition(side: str) -> str:
    return f" under the condition of {side}" if side else ""


def more_occasions_remedy(occasions: int, command: str, *, boots: bool) -> str:
    """Return the next step where the variance between occasions is unknown.

    Args:
        occasions: number of occasions that are needed.
        command: command that measures one.
        boots: whether each has to be of another boot.
    """
    distance = "each in a boot of its own, 12 hours apart" if boots else "12 hours apart"
    return (
        f"Measure the same on {occasions} other occasions, {distance}: `{command}` each time. Or "
        "vary the condition within one study."
    )


def occasion_command(command: str, settings: str) -> str:
    """Return the command that measures a condition on another occasion.

    Args:
        command: command line of the workload.
        settings: settings of the condition, quoted for a shell; empty without any.
    """
    if not settings:
        return f"assay study calibrate -- {command}"
    return f"assay measure --with {settings} -- {command}"


def unused_occasions(studies: Sequence[str]) -> str:
    """Return a note on studies that the user named as occasions and that do not qualify."""
    return (
        f"named with --occasion and not used: {', '.join(studies)}; an occasion has the machine, "
        "command and settings of the compared conditions, and begins 12 hours after another"
    )


def other_machine_note(studies: Sequence[str]) -> str:
    """Return a note on calibrations of another machine."""
    return f"not used: {_calibrations(studies)} of another machine"


def other_command_note(studies: Sequence[str]) -> str:
    """Return a note on calibrations of another command."""
    return f"not used: {_calibrations(studies)} of another command"


def _calibrations(studies: Sequence[str]) -> str:
    shown = ", ".join(studies[:MAX_NAMED_STUDIES])
    rest = len(studies) - MAX_NAMED_STUDIES
    word = "calibration" if len(studies) == 1 else "calibrations"
    return f"{word} {shown}{f' and {rest} more' if rest > 0 else ''}"


def unclear_reason(occasions: int) -> str:
    """Return the reason why a comparison is unclear.

    Args:
        occasions: number of occasions that the variance rests on.
    """
    return (
        f"the variance between occasions is too large, as {show_count(occasions, 'occasion')} "
        "show; more launches on the same two occasions would not help"
    )


def span_note(gap_s: float, span_s: float) -> str:
    """Return a note on two measurements further apart than the known occasions.

    Args:
        gap_s: time between the two, in seconds.
        span_s: time between the first and the last occasion, in seconds.
    """
    return (
        f"the two measurements lie {_days(gap_s)} apart, and the occasions span {_days(span_s)}: "
        "the interval does not include slower changes"
    )


def _days(seconds: float) -> str:
    days = seconds / 86400
    return show_count(round(days), "day") if days >= 1.5 else show_duration(seconds)


def same_workload_note(difference: str) -> str:
    """Return a note on two workloads that the user declared to be the same."""
    return f"taken as the same workload, although they differ in {difference}"


def difference_line(name: str, a: str, b: str) -> str:
    """Return a difference between two workloads or metrics: ``command: a and b``."""
    return f"{name}: {a or 'none'} and {b or 'none'}"


def statistic_note(condition: str, statistic: str) -> str:
    """Return a note on a study that decides by another statistic than the mean."""
    return f"{condition}: the study decides by the {statistic}; means are compared"


def disturbed_values_note(condition: str, disturbed: int, values: int, *, used: bool) -> str:
    """Return a note on values of disturbed blocks.

    Args:
        condition: name of the condition.
        disturbed, values: values of disturbed blocks, and all values.
        used: whether the mean includes them.
    """
    effect = "all are used" if used else "they are left out"
    return (
        f"{condition}: {disturbed} of {show_count(values, 'value')} are of blocks that other "
        f"processes disturbed; {effect}"
    )


def rounded_deviation_note(condition: str, printed: str, error: float) -> str:
    """Return a note on a standard deviation that is 0 as printed.

    Args:
        condition: name of the condition.
        printed: the standard deviation as text.
        error: largest rounding error.
    """
    return (
        f"{condition}: a standard deviation printed as {printed} may be up to {error:g}; the "
        "interval does not include that"
    )


def inconsistent_error_note(condition: str, error: str, deviation: str, launches: int) -> str:
    """Return a note on a standard error that contradicts the standard deviation.

    Args:
        condition: name of the condition.
        error, deviation: both as printed.
        launches: number of launches.
    """
    return (
        f"{condition}: the standard error {error} does not fit sd {deviation} of {launches} "
        "launches; the larger one is used"
    )


def divisor_note(condition: str, deviation: str) -> str:
    """Return a note on a standard deviation with the divisor n.

    Args:
        condition: name of the condition.
        deviation: as printed.
    """
    return (
        f"{condition}: sd {deviation} has the divisor n, as its standard error shows; n - 1 is used"
    )
