"""Checks of the values of a request."""

from __future__ import annotations

from assay.errors import InvalidInputError


def demand_positive(field: str, value: float | None) -> None:
    """Raise if a value is given and not above zero.

    Raises:
        InvalidInputError: the value is zero, negative or not a number.
    """
    if value is not None and not value > 0:
        raise InvalidInputError(f"{field}: invalid value {value}.", "Give a number above 0.")


def demand_share(field: str, value: float | None) -> None:
    """Raise if a value is given and not a share.

    Raises:
        InvalidInputError: the value is not between 0 and 1.
    """
    if value is not None and not 0.0 < value < 1.0:
        raise InvalidInputError(
            f"{field}: invalid share {value}.", "Give a number between 0 and 1, as in 0.01."
        )


def demand_whole(field: str, value: int | None, minimum: int) -> None:
    """Raise if a whole number is given and below its minimum.

    Raises:
        InvalidInputError: the number is too small.
    """
    if value is not None and value < minimum:
        raise InvalidInputError(
            f"{field}: invalid value {value}.", f"Give a whole number from {minimum} on."
        )
