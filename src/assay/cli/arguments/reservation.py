"""Options ``--reserve``, ``--partition`` and ``--search-on``."""

from __future__ import annotations

import argparse

from assay.errors import InvalidInputError
from assay.records import Reservation

ALL = "all"
"""Specification of a search on a whole partition."""


def reservation_of(arguments: argparse.Namespace) -> Reservation | None:
    """Return the requested share of a partition; ``None`` without the options.

    Raises:
        InvalidInputError: a partition without a share, or two names of partitions.
    """
    searched_on = getattr(arguments, "search_on", None)
    if searched_on is not None and arguments.partition is not None:
        raise InvalidInputError(
            "--search-on and --partition both name a partition.", "Leave --partition out."
        )
    if searched_on is not None:
        return Reservation(specification=arguments.reserve or ALL, partition=searched_on)
    if arguments.reserve is None:
        if arguments.partition is not None:
            raise InvalidInputError(
                "--partition names a partition, but no share of it is requested.",
                f"Add the share, as in: --reserve cpus=2 --partition {arguments.partition}",
            )
        return None
    return Reservation(specification=arguments.reserve, partition=arguments.partition or "")
