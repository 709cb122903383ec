r"""Encoding and decoding of records as JSON.

A byte that is not UTF-8, as in file names, is a lone surrogate in Python strings (PEP 383) and its
escape (``"\udce9"``) in documents. msgspec rejects such strings; the standard library handles these
documents.
"""

from __future__ import annotations

import functools
import math
from typing import Any, TypeVar

import msgspec

from assay.errors import InvalidInputError
from assay.records.configuration import DEFAULT, Configuration

T = TypeVar("T")

SCHEMA = 2
"""Version of all JSON documents; ``native/common/schema.hpp`` has the same for native programs."""


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Base class of all records: frozen, without keys for default values."""


def _encode_hook(value: Any) -> Any:
    if isinstance(value, Configuration):
        return dict(value)
    raise NotImplementedError(f"no JSON form for {type(value).__name__}")


def _decode_hook(kind: type, value: Any) -> Any:
    if kind is Configuration and isinstance(value, dict):
        return Configuration(value) if value else DEFAULT  # nearly all of a measurement
    raise NotImplementedError(f"no {kind.__name__} from {type(value).__name__}")


def encode(record: Any) -> bytes:
    """Return the JSON document of a record in one line, keys in declaration order."""
    try:
        return msgspec.json.encode(record, enc_hook=_encode_hook)
    except UnicodeEncodeError:
        return json_text(to_builtins(record)).encode("ascii")


def decode(document: bytes | str, kind: type[T]) -> T:
    """Return the record of a JSON document.

    Raises:
        InvalidInputError: not JSON, or not of this type; names the key.
    """
    try:
        if holds_bytes(document):
            plain = parse_json(document)
            return msgspec.convert(plain, kind, dec_hook=_decode_hook, str_keys=True)
        return decoder_of(kind).decode(document)
    except (msgspec.MsgspecError, ValueError) as error:
        raise InvalidInputError(
            f"Invalid {kind.__name__} document: {error}.",
            "A newer assay may have written it; compare `assay --version`.",
        ) from error


def decoder_of(kind: type[T]) -> msgspec.json.Decoder[T]:
    """Return the decoder of documents without non-UTF-8 bytes (``holds_bytes``)."""
    return _decoder_of(kind)  # type: ignore[arg-type]  # types are hashable


@functools.cache
def _decoder_of(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind, dec_hook=_decode_hook)


def json_text(value: Any) -> str:
    """Return dictionaries and lists as ASCII JSON, with escapes for bytes that are not UTF-8."""
    import json  # for few documents

    return json.dumps(_finite(value), separators=(",", ":"), allow_nan=False)


def parse_json(document: bytes | str) -> Any:
    """Return the dictionaries and lists of a JSON document; surrogates stand for non-UTF-8 bytes.

    Raises:
        ValueError: invalid JSON.
    """
    if not holds_bytes(document):
        return msgspec.json.decode(document)
    import json

    return json.loads(document)


def holds_bytes(document: bytes | str) -> bool:
    """Return whether a document may contain bytes that are not UTF-8."""
    if isinstance(document, bytes):
        return b"\\udc" in document
    return "\\udc" in document


def _finite(value: Any) -> Any:
    """Replace numbers that JSON cannot represent by null, as msgspec does."""
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
    """Return the record as dictionaries and lists, in the form of its JSON."""
    return msgspec.to_builtins(record, enc_hook=_encode_hook)


def from_builtins(value: Any, kind: type[T]) -> T:
    """Return the record of such dictionaries and lists.

    Raises:
        InvalidInputError: not of this type; names the key.
    """
    try:
        return msgspec.convert(value, kind, dec_hook=_decode_hook)
    except msgspec.ValidationError as error:
        raise InvalidInputError(f"Invalid {kind.__name__}: {error}.") from error
