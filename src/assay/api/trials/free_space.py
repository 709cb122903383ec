"""Space of a session: any names, since the program applies the values itself."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from assay.api.functions.argument_types import is_list, shown
from assay.api.functions.domains import Range, Value
from assay.errors import InvalidInputError
from assay.records import Choices, Domain, Parameter, Space
from assay.records import Range as RangeRecord
from assay.records.configuration import is_number
from assay.settings.domain_text import parse_range

FreeSpace: TypeAlias = Mapping[str, Sequence[Value] | range | Range]
"""Values to try by name: lists or ranges. The first value of a list is the default."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]*")


def free_space(
    given: FreeSpace, default: Mapping[str, Value] | None, constraints: Sequence[str]
) -> Space:
    """Return the space of a session as a record.

    Args:
        given: values to try by name.
        default: default values; a missing one is the first value of a list, or the low end of a
            range.
        constraints: expressions that every configuration satisfies.

    Raises:
        InvalidInputError: an invalid name, domain or value.
    """
    if not isinstance(given, Mapping) or not given:
        raise InvalidInputError(
            "A session needs settings to vary.",
            'Give values by name: assay.Session({"batch": [32, 64]}).',
        )
    defaults = dict(default or {})
    for name in defaults:
        if name not in given:
            raise InvalidInputError(
                f"default: unknown setting {name!r}.", f"The space has {', '.join(given)}."
            )
    return Space(
        parameters=tuple(
            _parameter(name, domain, defaults.get(name)) for name, domain in given.items()
        ),
        constraints=tuple(constraints),
    )


def _parameter(name: object, domain: object, default: object) -> Parameter:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InvalidInputError(
            f"Invalid name of a setting: {name!r}.", "Use letters, digits, points, - and _."
        )
    found = _domain(name, domain)
    first = _first(found) if default is None else plain_value(name, default)
    if first not in found:
        raise InvalidInputError(
            f"The default of {name} cannot be {first!r}.", f"{name} takes {found}."
        )
    return Parameter(name=name, domain=found, default=first)


def _domain(name: str, domain: object) -> Domain:
    if isinstance(domain, Range):
        return parse_range(str(domain))
    if not is_list(domain):
        raise InvalidInputError(
            f"{name}: invalid domain {shown(domain)}.",
            "Give a list, whose first value is the default, or assay.Range.",
        )
    options = tuple(plain_value(name, value) for value in domain)
    if not options:
        raise InvalidInputError(f"The domain of {name} is empty.", "Give at least one value.")
    if len({(type(option), option) for option in options}) < len(options):
        raise InvalidInputError(f"The domain of {name} has a value twice.", "Give each value once.")
    return Choices(options, ordered=all(is_number(option) for option in options))


def _first(domain: Domain) -> Value:
    if isinstance(domain, Choices):
        return domain.options[0]
    assert isinstance(domain, RangeRecord)
    return domain.at(0.0)


def plain_value(name: str, value: object) -> Value:
    """Return a value as a plain text, number or truth value; a number of NumPy is converted.

    Raises:
        InvalidInputError: it is none of these, or not finite.
    """
    item = getattr(value, "item", None)
    if callable(item) and not isinstance(value, str):
        value = item()
    if isinstance(value, str | bool | int):
        return value
    if isinstance(value, float) and abs(value) < float("inf"):
        return value
    raise InvalidInputError(
        f"{name}: invalid value {value!r}.", "Give a text, a finite number or a truth value."
    )
