"""Pages of JSON documents: one table of keys for each type, generated from the JSON Schemas."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from typing import Any

import msgspec
from tools.docs.commands import code, prose, sentence

from assay.cli.schemas import DOCUMENTS, _describe, schema

HEAD = "| key | type | description |\n|---|---|---|\n"


def page(name: str) -> str:
    """Return the page of a kind of document in Markdown."""
    found = schema(name)
    definitions: dict[str, Any] = found["$defs"]
    first = found.get("$ref", "").rpartition("/")[2]
    order = [first, *(one for one in definitions if one != first)] if first else [*definitions]
    parts = [
        f"# Document {name}",
        f"Occurrence: {_occurrence(name)}. `assay schema {name}` prints the JSON "
        "Schema. A key without a value is absent, unless the table marks it as required. "
        "Later versions may add keys.",
        *(_section(one, definitions[one]) for one in order),
    ]
    return "\n\n".join(parts) + "\n"


def keys(name: str) -> str:
    """Return the table of the top-level keys of a document, for a page of a verb."""
    found = schema(name)
    root = found["$ref"].rpartition("/")[2]
    return _table(found["$defs"][root], f"../documents/{name}.md")


def type_keys(path: str) -> str:
    """Return the table of a type that is a part of a document, and those of the types within it.

    Args:
        path: module and name of the type, as ``assay.tier.probe:Probe``.
    """
    module, _, name = path.partition(":")
    kind = getattr(importlib.import_module(module), name)
    found: dict[str, Any] = msgspec.json.schema(kind)["$defs"]
    _describe(found, kind)
    others = (f"#### {one}\n\n{_body(found[one])}" for one in found if one != name)
    return "\n\n".join([_body(found[name]), *others])


def index() -> str:
    """Return the page that lists all documents."""
    rows = "\n".join(
        f"| [{name}](documents/{name}.md) | {_occurrence(name)} |" for name in DOCUMENTS
    )
    return (
        "# JSON documents\n\nEvery JSON document that assay reads or writes has a JSON Schema. "
        "`assay schema NAME` prints it, and `assay schema` lists the names.\n\n"
        f"| document | occurrence |\n|---|---|\n{rows}\n"
    )


def _occurrence(name: str) -> str:
    """Return where a document occurs, with commands as code."""
    return re.sub(r"assay [a-z].*?(?= and |,|$)", lambda m: f"`{m[0]}`", DOCUMENTS[name].summary)


def _section(name: str, definition: dict[str, Any]) -> str:
    return f"## {name}\n\n{_body(definition)}"


def _body(definition: dict[str, Any]) -> str:
    about = prose(definition.get("description", ""))
    if "enum" in definition:
        values = ", ".join(code(str(value)) for value in definition["enum"])
        return f"{about}\n\nValues: {values}."
    if "properties" not in definition:
        return f"{about}\n\nType: {_type(definition, '')}."
    return f"{about}\n\n{_table(definition, '')}"


def _table(definition: dict[str, Any], page: str) -> str:
    required = set(definition.get("required", ()))
    rows = [
        f"| {code(key)} | {_type(value, page)}{', required' if key in required else ''} "
        f"| {sentence(prose(value.get('description', '')))} |"
        for key, value in definition["properties"].items()
    ]
    return HEAD + "\n".join(rows)


def _type(value: dict[str, Any], page: str) -> str:
    return " or ".join(dict.fromkeys(_types(value, page))) or "any"


def _types(value: dict[str, Any], page: str) -> Iterator[str]:
    if "$ref" in value:
        name = value["$ref"].rpartition("/")[2]
        yield f"[{name}]({page}#{name.lower()})"
    elif "anyOf" in value:
        for one in value["anyOf"]:
            if one != {"type": "null"}:
                yield from _types(one, page)
    elif "enum" in value or "const" in value:
        yield ", ".join(code(str(one)) for one in value.get("enum", [value.get("const")]))
    elif value.get("type") == "array":
        items = value.get("items") or next(iter(value.get("prefixItems", [])), {})
        yield f"list of {_type(items, page) if items else 'any'}"
    elif value.get("type") == "object":
        inner = value.get("additionalProperties")
        yield f"object of {_type(inner, page)}" if isinstance(inner, dict) and inner else "object"
    elif isinstance(value.get("type"), list):
        yield from value["type"]
    elif "type" in value:
        yield value["type"]
