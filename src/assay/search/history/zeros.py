"""Zeros: successful launches with a figure that has no ratio."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import Sample
from assay.wording.objections import zeros_objection


def is_without_ratio(metric: str, sample: Sample) -> bool:
    """Return whether a launch has a figure of zero or less, which has no ratio."""
    return sample.outcome.succeeded and sample.metrics.get(metric, 1.0) <= 0.0


def zeros_objection_to(
    metric: str, arm: str, samples: Sequence[Sample], share: float = 0.0
) -> str | None:
    """Describe the share of launches in which a figure is 0; ``None`` if it is small.

    Args:
        metric: name of the figure.
        arm: name of the arm.
        samples: its successful launches.
        share: minimum share of zeros.
    """
    zeros = sum(is_without_ratio(metric, sample) for sample in samples)
    return zeros_objection_of(metric, arm, zeros, len(samples), share)


def zeros_objection_of(
    metric: str, arm: str, zeros: int, launches: int, share: float = 0.0
) -> str | None:
    """Describe the share of launches in which a figure is 0; ``None`` if it is small.

    Args:
        metric, arm, share: see ``zeros_objection_to``.
        zeros: number of successful launches in which the figure is 0.
        launches: number of successful launches.
    """
    if zeros <= share * launches:
        return None
    return zeros_objection(metric, arm, zeros, launches)
