"""``LD_PRELOAD`` of a plan."""

from __future__ import annotations

import re

from assay.records import Plan, Preload, Unpreload


def preload_objects(plan: Plan, inherited: str) -> tuple[str, ...]:
    """Return the objects to preload: those of the plan, then the remaining inherited ones.

    ld.so(8): the list is split at spaces and colons.
    """
    own = tuple(a.path for a in plan.actions if isinstance(a, Preload))
    prefixes = tuple(p for a in plan.actions if isinstance(a, Unpreload) for p in a.prefixes)
    kept = (
        path
        for path in re.split(r"[ :]+", inherited)
        if path and path not in own and not path.rsplit("/", 1)[-1].startswith(prefixes)
    )
    return (*own, *kept)
