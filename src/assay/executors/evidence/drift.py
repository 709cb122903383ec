"""Drift: system settings that other processes changed while a program ran."""

from __future__ import annotations

from collections.abc import Mapping

from assay.records import Evidence

DRIFT = "drift"
"""Kind of the evidence."""


def changed_since(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    """Return the contents of files that have changed, by path."""
    return {path: after[path] for path in before if after.get(path, before[path]) != before[path]}


def drift_evidence(before: Mapping[str, str], changed: Mapping[str, str]) -> tuple[Evidence, ...]:
    """Return evidence of settings that other processes changed while a program ran."""
    return tuple(
        Evidence(kind=DRIFT, external=True, note=f"{path}: {before[path]} became {now}")
        for path, now in changed.items()
    )
