"""Reservation: the share of a partition that a study requests for its launches."""

from __future__ import annotations

from assay.records.codec import Record


class Reservation(Record, frozen=True, kw_only=True):
    """Share of a partition that is reserved during launches.

    Attributes:
        specification: specification, as in ``--reserve`` (docs/reference/mos-equivalents.md).
        partition: name of the partition; empty for the only one.
    """

    specification: str
    partition: str = ""

    @property
    def text(self) -> str:
        """Return the reservation as text."""
        return (
            f"{self.specification} of partition {self.partition}"
            if self.partition
            else self.specification
        )
