"""Reservation: what a study asks of a partition for its launches."""

from __future__ import annotations

from assay.records.codec import Record


class Reservation(Record, frozen=True, kw_only=True):
    """A share of a partition that is held while launches are made.

    Attributes:
        wish: as ``--reserve`` has it (docs/reference/mos-equivalents.md).
        partition: its name; empty: the only one.
    """

    wish: str
    partition: str = ""

    @property
    def told(self) -> str:
        """In words."""
        return f"{self.wish} of partition {self.partition}" if self.partition else self.wish
