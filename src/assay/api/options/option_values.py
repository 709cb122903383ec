"""Values of options, parsed so that an error names the option."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from assay.errors import InvalidInputError

Quantity = TypeVar("Quantity", int, float)

MAX_SLOTS = 1024
"""Largest number of slots of concurrent launches."""
MAX_DIGITS = 20
"""Largest number of digits of a number in a message."""


def parse_quantity(option: str, text: str, parse: Callable[[str], Quantity]) -> Quantity:
    """Return the value of an option as a function of ``assay.units`` parses it.

    Args:
        option: option that the error names.
        text: value as written.
        parse: converter of ``assay.units``.

    Raises:
        InvalidInputError: an invalid value.
    """
    try:
        return parse(text)
    except InvalidInputError as error:
        raise InvalidInputError(f"{option}: {error.cause}", error.remedy) from error


def parse_count(
    option: str, text: str, maximum: int, noun: str, example: str, *, larger: str = ""
) -> int:
    """Return a number of things, from 1 to ``maximum``.

    Args:
        option: option that the error names.
        text: value as written.
        maximum: largest valid number.
        noun: the things, in the plural.
        example: option with a valid value.
        larger: next step of a user who needs more than the maximum; by default a valid value.

    Raises:
        InvalidInputError: an invalid number.
    """
    digits = text.strip().replace("_", "").lstrip("0")
    valid = f"It takes 1 to {maximum:,}, as in {example}."
    if not digits.isdecimal():
        raise InvalidInputError(f"{option}: {text!r} is not a number of {noun}.", valid)
    # int() refuses thousands of digits with an error of its own.
    if len(digits) > len(str(maximum)) or int(digits) > maximum:
        raise InvalidInputError(
            f"{option}: {text[:MAX_DIGITS]!r} exceeds the maximum of {maximum:,} {noun}.",
            larger or valid,
        )
    return int(digits)


def parse_pair(text: str, option: str) -> tuple[str, str]:
    """Return both sides of ``NAME=VALUE``.

    Raises:
        InvalidInputError: the equals sign is missing.
    """
    name, equals, value = text.partition("=")
    if not equals:
        raise InvalidInputError(f"{option} {text!r} lacks a value.", f"Write {option} NAME=VALUE.")
    return name, value


def parse_slots(text: str | None) -> int | None:
    """Return the number of slots of ``--parallel``; ``None`` without the option.

    Raises:
        InvalidInputError: an invalid number, or a single slot.
    """
    if text is None:
        return None
    found = parse_count("--parallel", text, MAX_SLOTS, "slots", "--parallel 2")
    if found < 2:
        raise InvalidInputError(
            "--parallel takes a number from 2 on, not 1.",
            "Leave it out: launches then run one after another, with all CPUs.",
        )
    return found
