r"""JSON in and out for every record.

A byte that is not UTF-8, as file names may hold, is a lone surrogate in Python's texts (PEP 383),
and its escape (``"\udce9"``) in documents. msgspec knows no such text: documents that hold one go
through the standard library.
"""

from __future__ import annotations

import math
from typing import Any, TypeVar

import msgspec

from assay.errors import InvalidInputError
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
    try:
        return msgspec.json.encode(record, enc_hook=_encode_hook)
    except UnicodeEncodeError:
        return json_text(to_builtins(record)).encode("ascii")


def decode(document: bytes | str, kind: type[T]) -> T:
    """The record that a JSON document holds.

    Raises:
        InvalidInputError: not JSON, or not of this kind; names the key.
    """
    try:
        if _holds_bytes(document):
            plain = parse_json(document)
            return msgspec.convert(plain, kind, dec_hook=_decode_hook, str_keys=True)
        return msgspec.json.decode(document, type=kind, dec_hook=_decode_hook)
    except (msgspec.MsgspecError, ValueError) as error:
        raise InvalidInputError(
            f"A document that should hold a {kind.__name__} does not: {error}.",
            "It may come from a newer assay; see `assay --version`.",
        ) from error


def json_text(value: Any) -> str:
    """Return plain dictionaries and lists as JSON that holds any byte, in ASCII."""
    import json  # for few documents

    return json.dumps(_finite(value), separators=(",", ":"), allow_nan=False)


def parse_json(document: bytes | str) -> Any:
    """Return the plain dictionaries and lists of a JSON document that may hold any byte.

    Raises:
        ValueError: it is no JSON.
    """
    if not _holds_bytes(document):
        return msgspec.json.decode(document)
    import json

    return json.loads(document)


def _holds_bytes(document: bytes | str) -> bool:
    """Whether a document may hold bytes that are not UTF-8."""
    if isinstance(document, bytes):
        return b"\\udc" in document
    return "\\udc" in document


def _finite(value: Any) -> Any:
    """A value without numbers that JSON has no word for, as msgspec writes them."""
    match value:
        case float():
            return value if math.isfinite(value) else None
        case dict():
            return {name: _finite(item) for name, item in value.items()}
        case list() | tuple():
            return [_finite(item) for item in value]
        case _:
            return value


def to_builtins(record: Any) -> Any:
    """The record as plain dictionaries and lists, as its JSON would read."""
    return msgspec.to_builtins(record, enc_hook=_encode_hook)


def from_builtins(value: Any, kind: type[T]) -> T:
    """Return the record that such dictionaries and lists hold.

    Raises:
        InvalidInputError: as ``decode``.
    """
    try:
        return msgspec.convert(value, kind, dec_hook=_decode_hook)
    except msgspec.ValidationError as error:
        raise InvalidInputError(f"This is no {kind.__name__}: {error}.") from error
