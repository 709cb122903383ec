"""Error of a first launch whose reported values cannot be used."""

from __future__ import annotations

from assay.errors import InvalidInputError
from assay.records import Metric, Sample

NEVER = "progress_never"
"""Kind of the evidence on a metric without a report, before the name of the metric."""
BUFFERED = "progress_buffered"
"""Kind of the evidence on a program that buffers its output."""


def unread_reports(sample: Sample, metric: Metric) -> InvalidInputError:
    """Return the error of a first launch that gave no value of a reported metric.

    Args:
        sample: sample of the launch.
        metric: metric with progress.
    """
    found = next(iter(_notes(sample, f"{NEVER}.{metric.name}")), None)
    if found is not None:
        finding, _, advice = found.rpartition(". ")
        return InvalidInputError(f"{finding}.", advice)
    cause = f"The metric {metric.name} has no value: {sample.unavailable.get(metric.name)}."
    buffered = next(iter(_notes(sample, BUFFERED)), None)
    longer = _larger_budget(sample)
    if buffered is not None:
        # A slow program is as silent as one that buffers.
        return InvalidInputError(cause, buffered if longer is None else f"{buffered} {longer}")
    return InvalidInputError(cause, longer or _longer(metric))


def _notes(sample: Sample, kind: str) -> list[str]:
    return [one.note for one in sample.evidence if one.kind == kind and one.note is not None]


def _larger_budget(sample: Sample) -> str | None:
    """Return the next step after a first look that its share of the budget ended."""
    end = sample.launch.end
    if end is None or end.max_s is None or sample.outcome.succeeded:
        return None
    return (
        f"The first launch may take {end.max_s:.0f} s, a tenth of the budget: give a larger "
        "--budget, or have the program report more often."
    )


def _longer(metric: Metric) -> str:
    """Return the next step after a launch with too few reports."""
    return (
        "Have the program run longer or report more often, or read a value that it prints once "
        f"with --metric {metric.name}=REGEX."
    )
