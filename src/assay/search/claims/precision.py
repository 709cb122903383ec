"""Known: whether the mean of an arm is known as precisely as asked."""

from __future__ import annotations

from assay.records import Arm, Stage
from assay.search.claims.claims import MIN_BLOCKS
from assay.search.history.history import History
from assay.stats.summary import summarise


def is_mean_precise(history: History, arm: Arm, share: float, alpha: float) -> bool:
    """Whether half the interval of an arm's mean is at most a share of it.

    It never is where more than a third of the blocks were disturbed: a load that meets all
    launches alike moves the mean of an arm, though it favours no arm over another.

    Args:
        history: of the study.
        arm: whose mean it is.
        share: of the mean.
        alpha: chance that the interval is ever wrong.
    """
    values = history.summarised_figures(Stage.CONFIRM, arm.name)
    if len(values) < MIN_BLOCKS or history.mostly_disturbed(Stage.CONFIRM):
        return False
    found = summarise(values, alpha=alpha)
    if found.ci is None:
        return False
    low, high = found.ci
    return (high - low) / 2 <= share * abs(found.mean)
