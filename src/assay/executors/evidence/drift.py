"""Drift: what others set anew of the system while a program ran."""

from __future__ import annotations

from collections.abc import Mapping

from assay.records import Evidence

DRIFT = "drift"
"""Kind of the evidence."""


def changed_since(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    """What files hold now that held something else, by path."""
    return {path: after[path] for path in before if after.get(path, before[path]) != before[path]}


def drift_evidence(before: Mapping[str, str], changed: Mapping[str, str]) -> tuple[Evidence, ...]:
    """What others set anew while a program ran."""
    return tuple(
        Evidence(kind=DRIFT, outside=True, note=f"{path}: {before[path]} became {now}")
        for path, now in changed.items()
    )
