"""Reservation of ``--reserve``, ``--partition`` and ``--search-on``."""

from __future__ import annotations

from assay.errors import InvalidInputError
from assay.records import Reservation

ALL = "all"
"""Specification of a search on a whole partition."""


def reservation_from(
    reserve: str | None, partition: str | None, search_on: str | None
) -> Reservation | None:
    """Return the requested share of a partition; ``None`` without the options.

    Args:
        reserve: specification of the share.
        partition: partition to reserve from.
        search_on: partition to search on as a whole.

    Raises:
        InvalidInputError: a partition without a share, or two names of partitions.
    """
    if search_on is not None and partition is not None:
        raise InvalidInputError(
            "--search-on and --partition both name a partition.", "Leave --partition out."
        )
    if search_on is not None:
        return Reservation(specification=reserve or ALL, partition=search_on)
    if reserve is None:
        if partition is not None:
            raise InvalidInputError(
                "--partition names a partition, but no share of it is requested.",
                f"Add the share, as in: --reserve cpus=2 --partition {partition}",
            )
        return None
    return Reservation(specification=reserve, partition=partition or "")
