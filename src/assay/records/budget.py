"""Budget: what a study may spend."""

from __future__ import annotations

from assay.records.codec import Record


class Budget(Record, frozen=True, kw_only=True):
    """What may be spent; absent means no limit of this kind."""

    time_s: float | None = None
    launches: int | None = None
