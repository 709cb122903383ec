"""Options ``--reserve``, ``--partition`` and ``--search-on``."""

from __future__ import annotations

import argparse

from assay.api.options.reservation import reservation_from
from assay.records import Reservation


def reservation_of(arguments: argparse.Namespace) -> Reservation | None:
    """Return the requested share of a partition; ``None`` without the options.

    Raises:
        InvalidInputError: a partition without a share, or two names of partitions.
    """
    searched_on = getattr(arguments, "search_on", None)
    return reservation_from(arguments.reserve, arguments.partition, searched_on)
