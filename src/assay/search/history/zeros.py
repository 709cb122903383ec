"""Zeros: launches that ended well with a figure that no ratio can be formed with."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import Outcome, Sample
from assay.wording.objections import zeros_objection


def is_without_ratio(metric: str, sample: Sample) -> bool:
    """Return whether a launch has a figure that no ratio can be formed with."""
    return sample.outcome is Outcome.OK and sample.metrics.get(metric, 1.0) <= 0.0


def zeros_objection_to(
    metric: str, arm: str, samples: Sequence[Sample], share: float = 0.0
) -> str | None:
    """Say in how many launches of an arm a figure is 0; ``None`` where those are too few.

    Args:
        metric: name of the figure.
        arm: name of the arm.
        samples: its launches that ended well.
        share: of them that zeros have to exceed.
    """
    zeros = sum(is_without_ratio(metric, sample) for sample in samples)
    if zeros <= share * len(samples):
        return None
    return zeros_objection(metric, arm, zeros, len(samples))
