"""Failure: why launches gave nothing, in words."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import Outcome, Sample, StudySpec


def why_failed(sample: Sample) -> str:
    """What became of a launch that did not end well."""
    limit = f"the {sample.limit} limit" if sample.limit else None
    return sample.message or limit or sample.outcome.value.replace("_", " ")


def last_failure(spec: StudySpec, samples: Sequence[Sample]) -> str | None:
    """Why the newest launch without a good end had none; ``None`` where there is no such launch.

    One that ended well without the figure that decides is worth as little.
    """
    objective = spec.workload.objective.name
    for sample in sorted(samples, key=lambda s: s.started_at, reverse=True):
        if sample.outcome is not Outcome.OK:
            return why_failed(sample)
        if objective in sample.absent:
            return f"{objective} cannot be read: {sample.absent[objective]}"
    return None
