"""Warning about a grace period that exceeds the budget."""

from __future__ import annotations

import sys

from assay.records import Budget, Workload
from assay.units import show_duration


def warn_of_long_grace(workload: Workload, budget: Budget, *, quiet: bool) -> None:
    """Warn that one launch may exceed the budget by ``--grace``.

    Args:
        workload: workload to launch.
        budget: budget of the study.
        quiet: print nothing.
    """
    grace_s, budget_s = workload.grace_s, budget.time_s
    if quiet or grace_s is None or budget_s is None or grace_s <= budget_s:
        return
    print(
        f"assay: --grace {show_duration(grace_s)} is longer than the budget of "
        f"{show_duration(budget_s)}: a launch that ignores the request to end exceeds the budget "
        "by this time.",
        file=sys.stderr,
    )
