"""Removal of thread-pool variables that no library of the program reads."""

from __future__ import annotations

from collections.abc import Set

import msgspec

from assay.records import EnvSet, Plan
from assay.settings.pools import POOLS


def without_unread_pools(plan: Plan, read: Set[str] | None) -> tuple[Plan, tuple[str, ...]]:
    """Return a plan without unread variables, and the names of those variables.

    Args:
        plan: plan of a configuration; variables of ``env.NAME`` remain.
        read: variables that the measured processes read; ``None`` if unknown.

    Returns:
        The unchanged plan if no pool variable would remain.
    """
    pools = [a.name for a in plan.actions if isinstance(a, EnvSet) and a.name in POOLS]
    if read is None or read.isdisjoint(pools):
        return plan, ()
    removed = tuple(
        name for name in pools if name not in read and f"env.{name}" not in plan.configuration
    )
    kept = tuple(a for a in plan.actions if not (isinstance(a, EnvSet) and a.name in removed))
    return msgspec.structs.replace(plan, actions=kept), removed
