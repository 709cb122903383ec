"""The JSON Schemas of ``assay schema``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from assay.cli.schemas import DOCUMENTS, schema

VALUES = {"const", "default", "enum", "examples", "required"}
"""Keywords whose values are no schemas."""


def properties(found: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield path and schema of every property, at any depth."""
    if isinstance(found, list):
        for part in found:
            yield from properties(part, path)
    if not isinstance(found, dict):
        return
    for keyword, value in found.items():
        if keyword == "$defs":
            for name, definition in value.items():
                yield from properties(definition, name)
        elif keyword == "properties":
            for name, described in value.items():
                yield f"{path}.{name}", described
                yield from properties(described, f"{path}.{name}")
        elif keyword not in VALUES:
            yield from properties(value, path)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_property_has_description(name: str) -> None:
    missing = [path for path, one in properties(schema(name)) if not one.get("description")]
    assert not missing, "describe the field in the section Attributes of its class"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_definition_has_description(name: str) -> None:
    definitions: dict[str, Any] = schema(name)["$defs"]
    assert not [kind for kind, one in definitions.items() if not one.get("description")]


def test_properties_without_description_are_found() -> None:
    described = {"type": "string", "description": "a text"}
    inner = {"anyOf": [{"type": "null"}, {"type": "object", "properties": {"b": {}}}]}
    found = {"$defs": {"One": {"properties": {"a": inner, "properties": described}}}}
    assert [path for path, one in properties(found) if "description" not in one] == [
        "One.a",
        "One.a.b",
    ]
