"""Evidence of throttling by a CPU-time quota during a launch."""

from __future__ import annotations

from assay.machine.quota import Periods
from assay.records import Evidence
from assay.records.sample import QUOTA_PERIODS, QUOTA_THROTTLED


def quota_evidence(before: Periods | None, after: Periods | None) -> tuple[Evidence, ...]:
    """Return how often a CPU-time quota ran out during a launch; empty without a quota."""
    if before is None or after is None:
        return ()
    passed = after.since(before)
    return (
        Evidence(kind=QUOTA_PERIODS, value=float(passed.periods), unit="periods"),
        Evidence(kind=QUOTA_THROTTLED, value=float(passed.throttled), unit="periods"),
    )
