"""JSON in and out for every record."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from assay.errors import BadInput
from assay.records.configuration import Configuration

T = TypeVar("T")


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Base of all records: frozen, and silent about what has no value."""


def _encode_hook(value: Any) -> Any:
    if isinstance(value, Configuration):
        return dict(value)
    raise NotImplementedError(f"no JSON form for {type(value).__name__}")


def _decode_hook(kind: type, value: Any) -> Any:
    if kind is Configuration and isinstance(value, dict):
        return Configuration(value)
    raise NotImplementedError(f"no {kind.__name__} from {type(value).__name__}")


def encode(record: Any) -> bytes:
    """The JSON document of a record, in one line, keys in declaration order."""
    return msgspec.json.encode(record, enc_hook=_encode_hook)


def decode(document: bytes | str, kind: type[T]) -> T:
    """The record that a JSON document holds.

    Raises:
        BadInput: not JSON, or not of this kind; names the key.
    """
    try:
        return msgspec.json.decode(document, type=kind, dec_hook=_decode_hook)
    except msgspec.MsgspecError as error:
        raise BadInput(
            f"A document that should hold a {kind.__name__} does not: {error}.",
            "It may come from a newer assay; see `assay --version`.",
        ) from error


def to_builtins(record: Any) -> Any:
    """The record as plain dictionaries and lists, as its JSON would read."""
    return msgspec.to_builtins(record, enc_hook=_encode_hook)


def from_builtins(value: Any, kind: type[T]) -> T:
    """Return the record that such dictionaries and lists hold.

    Raises:
        BadInput: as ``decode``.
    """
    try:
        return msgspec.convert(value, kind, dec_hook=_decode_hook)
    except msgspec.ValidationError as error:
        raise BadInput(f"This is no {kind.__name__}: {error}.") from error
