"""Types of arguments: values of other types are refused before anything is launched."""

from __future__ import annotations

import datetime
import numbers
import os
import reprlib
import types
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, TypeGuard, Union, get_args, get_origin

from assay.errors import InvalidInputError
from assay.records import ImportedTrials

_WORDS: dict[object, str] = {
    bool: "True or False",
    datetime.timedelta: "a timedelta",
    float: "a number",
    int: "a whole number",
    os.PathLike: "a path",
    str: "a text",
    ImportedTrials: "a result of assay.optuna.read_study",
    Mapping: "a mapping",
    Sequence: "a list",
}
"""Names of types in messages."""


def demand_type(value: object, kind: Any, name: str) -> None:
    """Raise on a value of the wrong type.

    Args:
        value: value of an argument.
        kind: annotation of the argument.
        name: name of the argument.

    Raises:
        InvalidInputError: states the permitted types.
    """
    if not is_instance(value, kind):
        raise InvalidInputError(f"{name}: invalid value {shown(value)}.", f"Give {words_of(kind)}.")


def is_instance(value: object, kind: Any) -> bool:
    """Return whether a value has an annotated type, with the types of its items.

    Numbers of NumPy count as numbers. Sets are not lists, since their order is arbitrary.

    Args:
        value: any value.
        kind: class, union, ``Sequence[...]`` or ``Mapping[...]``.
    """
    origin, parts = get_origin(kind) or kind, get_args(kind)
    if origin in (Union, types.UnionType):
        return any(is_instance(value, part) for part in parts)
    if origin is Mapping:
        return isinstance(value, Mapping) and all(
            is_instance(key, parts[0]) and is_instance(item, parts[1])
            for key, item in value.items()
        )
    if origin is Sequence:
        return is_list(value) and all(is_instance(item, parts[0]) for item in _items(value))
    if origin is float or origin is int:
        number = numbers.Real if origin is float else numbers.Integral
        return isinstance(value, number) and not isinstance(value, bool)
    return isinstance(value, origin)


def is_list(value: object) -> TypeGuard[Iterable[object]]:
    """Return whether a value has items in an order, other than characters."""
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping | Set)


def _items(value: object) -> Iterable[object]:
    """Return the items of a list; none of an iterator, which can be read only once."""
    return value if isinstance(value, Sequence) else ()


def words_of(kind: Any) -> str:
    """Return the permitted types in words, such as ``a text or a number``."""
    origin = get_origin(kind) or kind
    parts = get_args(kind) if origin in (Union, types.UnionType) else (kind,)
    origins = dict.fromkeys(get_origin(part) or part for part in parts)
    names = [_WORDS.get(one) or f"assay.{one.__name__}" for one in origins if one is not type(None)]
    return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def shown(value: object) -> str:
    """Return a value for a message, shortened."""
    return reprlib.repr(value)
