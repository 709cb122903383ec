"""Values of options, parsed so that an error names the option."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from assay.errors import InvalidInputError

Quantity = TypeVar("Quantity", int, float)

MAX_SLOTS = 1024
"""Largest number of slots of concurrent launches."""


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


def parse_count(option: str, text: str, maximum: int, noun: str, example: str) -> int:
    """Return a number of things, from 1 to ``maximum``.

    Args:
        option: option that the error names.
        text: value as written.
        maximum: largest valid number.
        noun: the things, in the plural.
        example: option with a valid value.

    Raises:
        InvalidInputError: an invalid number.
    """
    digits = text.strip().replace("_", "")
    # int() refuses thousands of digits with an error of its own.
    if not digits.isdecimal() or len(digits) > len(str(maximum)) or not 1 <= int(digits) <= maximum:
        raise InvalidInputError(
            f"{option}: {text!r} is not a number of {noun}.",
            f"It takes 1 to {maximum:,}, as in {example}.",
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
