"""Dependence: launches of a measurement that depend on earlier ones, or on a lasting state."""

from __future__ import annotations

from assay.records import ArmResult, Stage, Statistic, StudySpec
from assay.search.history.history import History
from assay.stats.batch_means import dependence_of
from assay.wording.launch_notes import dependence_note

ALPHA = 0.001
"""Error rate: reporting a dependence of independent launches."""
MIN_RATIO = 1.5
"""Minimum ratio: the interval is at most two thirds as wide as needed."""


def dependence_notes(spec: StudySpec, history: History, result: ArmResult) -> list[str]:
    """Return a note if the interval of a mean is too narrow because launches are dependent.

    A comparison needs none: its arms take turns, and each block gives one difference.

    Args:
        spec: specification of a measurement.
        history: its samples.
        result: result of its arm.
    """
    metric = spec.workload.objective
    summary = result.summary.get(metric.name)
    if spec.statistic is not Statistic.MEAN or summary is None or summary.ci is None:
        return []
    found = dependence_of(history.summarised_figures(Stage.CONFIRM, result.name))
    if found is None or found.error > ALPHA or found.ratio < MIN_RATIO:
        return []
    low, high = (summary.mean + found.ratio * (end - summary.mean) for end in summary.ci)
    if summary.min >= 0.0:
        low = max(low, 0.0)
    return [dependence_note(found.batches, found.ratio, (low, high), metric.unit)]
