"""Values of options, read so that a message names the option."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from assay.errors import InvalidInputError

Quantity = TypeVar("Quantity", int, float)


def parse_quantity(option: str, text: str, parse: Callable[[str], Quantity]) -> Quantity:
    """What ``parse`` of ``assay.units`` reads.

    Raises:
        InvalidInputError: it cannot be read.
    """
    try:
        return parse(text)
    except InvalidInputError as error:
        raise InvalidInputError(f"{option}: {error.cause}", error.remedy) from error


def parse_count(option: str, text: str, most: int, noun: str, example: str) -> int:
    """A number of things, 1 to ``most``.

    Raises:
        InvalidInputError: it is none.
    """
    digits = text.strip().replace("_", "")
    # int() refuses thousands of digits with an error of its own.
    if not digits.isdecimal() or len(digits) > len(str(most)) or not 1 <= int(digits) <= most:
        raise InvalidInputError(
            f"{option}: {text!r} is not a number of {noun}.",
            f"It takes 1 to {most:,}, as in {example}.",
        )
    return int(digits)


def parse_pair(text: str, option: str) -> tuple[str, str]:
    """Both sides of ``NAME=VALUE``.

    Raises:
        InvalidInputError: there is no equals sign.
    """
    name, equals, value = text.partition("=")
    if not equals:
        raise InvalidInputError(f"{option} {text!r} lacks a value.", f"Write {option} NAME=VALUE.")
    return name, value
