"""Output of one JSON document on standard output."""

from __future__ import annotations

import json
from typing import Any

from assay.records.codec import SCHEMA


def print_json(document: dict[str, Any]) -> None:
    """Print one document on standard output; text that is not Unicode is escaped."""
    print(json_text(document))


def json_text(document: dict[str, Any]) -> str:
    """Return one document in one line."""
    return json.dumps({"schema": SCHEMA, **document}, allow_nan=False)
