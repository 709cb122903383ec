"""Precision of the mean of an arm."""

from __future__ import annotations

from assay.records import Arm, Stage
from assay.search.claims.claims import MIN_BLOCKS
from assay.search.history.history import History
from assay.stats.summary import summarise


def is_mean_precise(history: History, arm: Arm, share: float, alpha: float) -> bool:
    """Return whether half the interval of the mean of an arm is at most a share of it.

    It is not if more than a third of the blocks were disturbed: a load on all launches shifts the
    mean of an arm, though it favours no arm over another.

    Args:
        history: samples of the study.
        arm: the arm.
        share: share of the mean.
        alpha: error rate of the interval over all interim analyses.
    """
    values = history.summarised_figures(Stage.CONFIRM, arm.name)
    if len(values) < MIN_BLOCKS or history.mostly_disturbed(Stage.CONFIRM):
        return False
    found = summarise(values, alpha=alpha)
    if found.ci is None:
        return False
    low, high = found.ci
    return (high - low) / 2 <= share * abs(found.mean)
