"""LongGrace: a time to end that is longer than the budget."""

from __future__ import annotations

import sys

from assay.records import Budget, Workload
from assay.units import show_duration


def warn_of_long_grace(workload: Workload, budget: Budget, *, quiet: bool) -> None:
    """Say that one launch may overrun the budget by ``--grace``.

    Args:
        workload: that is launched.
        budget: of the study.
        quiet: say nothing.
    """
    grace_s, budget_s = workload.grace_s, budget.time_s
    if quiet or grace_s is None or budget_s is None or grace_s <= budget_s:
        return
    print(
        f"assay: --grace {show_duration(grace_s)} is longer than the budget of "
        f"{show_duration(budget_s)}: a launch that is stopped and does not end when it is asked to "
        "overruns it by as much.",
        file=sys.stderr,
    )
