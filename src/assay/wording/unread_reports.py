"""Error of a first launch whose reported values cannot be used."""

from __future__ import annotations

from assay.errors import InvalidInputError
from assay.records import Metric, Sample
from assay.units import show_duration

NEVER = "progress_never"
"""Kind of the evidence on a metric without a report, before the name of the metric."""
BUFFERED = "progress_buffered"
"""Kind of the evidence on a program that buffers its output."""
REJECTED = {
    "progress_not_finite": "Check the program with these settings: it computes no finite number.",
    "progress_invalid": "Correct the group of the pattern, so that it matches the number alone.",
}
"""Next step by the kind of the evidence on values that are left out."""


def unread_reports(sample: Sample, metric: Metric) -> InvalidInputError:
    """Return the error of a first launch that gave no value of a reported metric.

    Args:
        sample: sample of the launch.
        metric: metric with progress.
    """
    found = next(iter(_notes(sample, f"{NEVER}.{metric.name}")), None)
    if found is not None:
        finding, _, advice = found.rpartition(". ")
        longer = _larger_budget(sample)
        if longer is not None and _is_silent(sample, metric):
            return InvalidInputError(f"{finding}.", f"{advice} {longer}")
        return InvalidInputError(f"{finding}.", advice)
    cause = f"The metric {metric.name} has no value: {sample.unavailable.get(metric.name)}."
    for kind, advice in REJECTED.items():
        rejected = next(iter(_notes(sample, f"{kind}.{metric.name}")), None)
        if rejected is not None:
            known = cause if metric.name in sample.series else f"{metric.name} has no value."
            return InvalidInputError(f"{known} {rejected}", advice)
    buffered = next(iter(_notes(sample, BUFFERED)), None)
    longer = _larger_budget(sample)
    if buffered is not None:
        # A slow program is as silent as one that buffers.
        return InvalidInputError(cause, buffered if longer is None else f"{buffered} {longer}")
    return InvalidInputError(cause, longer or _longer(metric))


def _notes(sample: Sample, kind: str) -> list[str]:
    return [one.note for one in sample.evidence if one.kind == kind and one.note is not None]


def _is_silent(sample: Sample, metric: Metric) -> bool:
    """Return whether the program had printed no line when its launch ended."""
    kind = f"{NEVER}.{metric.name}"
    return any(one.kind == kind and one.value == 0.0 for one in sample.evidence)


def _larger_budget(sample: Sample) -> str | None:
    """Return the next step after a first look that its share of the budget ended."""
    end = sample.launch.end
    if end is None or end.max_s is None or sample.outcome.succeeded:
        return None
    return (
        f"The first launch may take {show_duration(end.max_s)}, a tenth of the budget: give a "
        "larger --budget, or have the program report more often."
    )


def _longer(metric: Metric) -> str:
    """Return the next step after a launch with too few reports."""
    return (
        "Have the program run longer or report more often, or read a value that it prints once "
        f"with --metric {metric.name}=REGEX."
    )
