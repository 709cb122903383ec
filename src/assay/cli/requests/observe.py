"""From the words of ``--observe`` to observations."""

from __future__ import annotations

from assay.errors import InvalidInputError, nearest
from assay.records.observation import ALL_OBSERVATIONS, Observation


def observed_of(text: str | None) -> tuple[Observation, ...] | None:
    """Return the observations that were asked for; ``None`` where it was left to assay.

    Args:
        text: as it was written: ``all``, ``none`` or names with commas between them.

    Raises:
        InvalidInputError: no such observation.
    """
    if text is None or text in ("all", "none"):
        return {None: None, "all": ALL_OBSERVATIONS, "none": ()}[text]
    asked = text.split(",")
    for name in asked:
        if name in ("all", "none"):
            raise InvalidInputError(
                f"--observe: {name!r} stands alone.", f"Write {name}, or names without it."
            )
        if name not in tuple(Observation):
            near = nearest(name, (*Observation, "all", "none"))
            raise InvalidInputError(
                f"--observe: there is no observation {name!r}.",
                f"Did you mean {near}?"
                if near
                else f"Write all, none, or some of {', '.join(Observation)}.",
            )
    return tuple(one for one in Observation if one in asked)
