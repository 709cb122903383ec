"""Observations of ``--observe``."""

from __future__ import annotations

from assay.errors import InvalidInputError, nearest
from assay.records.observation import ALL_OBSERVATIONS, Observation


def parse_observations(text: str | None) -> tuple[Observation, ...] | None:
    """Return the observations of ``--observe``; ``None`` for the default ones.

    Args:
        text: ``all``, ``none`` or names, separated by commas.

    Raises:
        InvalidInputError: an unknown observation.
    """
    if text is None or text in ("all", "none"):
        return {None: None, "all": ALL_OBSERVATIONS, "none": ()}[text]
    names = text.split(",")
    for name in names:
        if name in ("all", "none"):
            raise InvalidInputError(
                f"--observe: {name!r} excludes other names.", f"Write {name}, or names without it."
            )
        if name not in tuple(Observation):
            near = nearest(name, (*Observation, "all", "none"))
            raise InvalidInputError(
                f"--observe: unknown observation {name!r}.",
                f"Did you mean {near}?"
                if near
                else f"Write all, none, or some of {', '.join(Observation)}.",
            )
    return tuple(one for one in Observation if one in names)
