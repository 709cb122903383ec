"""Largest number of settings of a search."""

from __future__ import annotations

from assay.errors import InvalidInputError
from assay.records import Space

MAX_SETTINGS = 300
"""Maximum number of settings: a proposal takes about a second of CPU time and 600 MB then."""


def demand_searchable(space: Space) -> None:
    """Raise an error on a space with more settings than a search can handle.

    Raises:
        InvalidInputError: too many settings.
    """
    count = len(space.parameters)
    if count > MAX_SETTINGS:
        raise InvalidInputError(
            f"The search space has {count:,} settings, and the maximum is {MAX_SETTINGS:,}.",
            "Search a part of them. A factorial sweep shows which settings have an effect.",
        )
