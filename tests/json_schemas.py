"""Comparison of JSON documents with their schemas."""

from __future__ import annotations

from typing import Any

import pytest

from assay.cli.schemas import schema


def assert_valid(name: str, document: Any) -> None:
    """Fail if a document does not match its schema, or has a key that the schema lacks."""
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    validator = jsonschema.Draft202012Validator(closed(schema(name)))
    errors = [f"{error.json_path}: {error.message}" for error in validator.iter_errors(document)]
    assert not errors, f"{name}: {errors[:5]}"


def closed(schema: Any) -> Any:
    """Return a schema that permits no key that it does not name."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: closed(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict) and schema.get("type") == "object":
        found.setdefault("additionalProperties", False)
    return found
