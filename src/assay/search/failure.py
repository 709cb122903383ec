"""Failure: why launches gave nothing, in words, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.records import Outcome, Sample, StudySpec

BY_HAND = "Run it by hand first; --check, --timeout and --limit are part of its success."
"""The next step where a program fails."""
NOT_STARTED = 126
"""Status from which on a shell says that a command could not be started, or a signal ended it."""


@dataclass(frozen=True)
class Failure:
    """Why a launch gave nothing.

    Attributes:
        reason: part of a sentence.
        remedy: the next step, a sentence.
    """

    reason: str
    remedy: str = BY_HAND


def why_failed(sample: Sample) -> str:
    """What became of a launch that did not end well."""
    limit = f"the {sample.limit} limit" if sample.limit else None
    return sample.message or limit or sample.outcome.value.replace("_", " ")


def failure_of(sample: Sample) -> Failure:
    """What a launch that did not end well tells; one that was never built lacks a build."""
    status = sample.exit_status or 0
    if not sample.unbuilt and 0 < status < NOT_STARTED and sample.outcome is Outcome.FAILED:
        return Failure(
            why_failed(sample),
            f"{BY_HAND} If status {status} is a good end of it, accept it: --shell with "
            f"'COMMAND || test $? -eq {status}'.",
        )
    if not sample.unbuilt:
        return Failure(why_failed(sample))
    return Failure(
        why_failed(sample),
        f"Correct {sample.launch.arm}, or --build: by hand, with a folder in the place of "
        "{build}, the build is to end well first.",
    )


def last_failure(spec: StudySpec, samples: Sequence[Sample]) -> Failure | None:
    """Why the newest launch without a good end had none; ``None`` where there is no such launch.

    One that ended well without the figure that decides is worth as little.
    """
    objective = spec.workload.objective.name
    for sample in sorted(samples, key=lambda s: s.started_at, reverse=True):
        if sample.outcome is not Outcome.OK:
            return failure_of(sample)
        if objective in sample.absent:
            return Failure(f"{objective} cannot be read: {sample.absent[objective]}")
    return None
