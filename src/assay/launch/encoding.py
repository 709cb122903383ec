"""Encoding of launch documents as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec


def encode_document(document: Mapping[str, Any]) -> bytes:
    """Return a launch document as JSON."""
    try:
        return msgspec.json.encode(document)
    except UnicodeEncodeError:
        return msgspec.json.encode(_with_hex(document))


def _with_hex(value: Any) -> Any:
    """Return a document whose non-UTF-8 texts are replaced by hexadecimal digits."""
    if isinstance(value, str):
        text = value.encode(errors="surrogateescape")
        return {"hex": text.hex()} if any("\ud800" <= c <= "\udfff" for c in value) else value
    if isinstance(value, Mapping):
        return {name: _with_hex(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_with_hex(item) for item in value]
    return value
