"""Budget: the limits on time and launches of a study."""

from __future__ import annotations

from assay.records.codec import Record


class Budget(Record, frozen=True, kw_only=True):
    """Limits of a study; ``None`` means unlimited.

    Attributes:
        time_s: elapsed time, in seconds.
        launches: number of launches.
    """

    time_s: float | None = None
    launches: int | None = None
