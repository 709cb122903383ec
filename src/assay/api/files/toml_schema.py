"""Schema of the tables of a file, defined by msgspec structures.

Editors read the JSON Schema of the same structures (``msgspec.json.schema``). This module validates
files against them, so that an error names the position, the nearest known key and valid values.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from assay.api.files.toml_file import TomlFile, dotted
from assay.api.files.toml_positions import Path as Key
from assay.errors import nearest

Table = TypeVar("Table", bound=msgspec.Struct)


def read_table(file: TomlFile, kind: type[Table]) -> Table:
    """Return the whole file as a structure.

    Raises:
        InvalidInputError: a key that is unknown, missing or of another type; points at it.
    """
    return read_part(file, (), file.content, kind)


def read_part(file: TomlFile, key: Key, table: dict[str, Any], kind: type[Table]) -> Table:
    """Return a table of the file as a structure.

    Raises:
        InvalidInputError: as ``read_table``.
    """
    described = inspect.type_info(kind)
    assert isinstance(described, inspect.StructType)
    _demand_table(file, key, table, described)
    return msgspec.convert(table, kind)


def _demand_table(
    file: TomlFile, key: Key, table: dict[str, Any], kind: inspect.StructType
) -> None:
    known = {field.encode_name: field for field in kind.fields}
    name = ".".join(map(str, key))
    for found in table:
        if found not in known:
            near = nearest(found, tuple(known))
            where = f"[{name}] has" if key else "There is"
            raise file.error(
                (*key, found),
                f"{where} no key {found!r}.",
                f"Did you mean {near}?" if near else f"It takes {', '.join(known)}.",
            )
    for field in kind.fields:
        if field.required and field.encode_name not in table:
            owner = f"[{name}]" if key else "The file"
            example = _example(field.encode_name, field.type)
            tables = isinstance(_plain(field.type), inspect.StructType | inspect.DictType)
            raise file.error(
                key,
                f"{owner} lacks {field.encode_name}.",
                f"Write [{field.encode_name}]." if tables else f"Write {example}.",
            )
    for found, value in table.items():
        example = _example(found, known[found].type)
        _demand(file, (*key, found), value, known[found].type, example)


def _demand(file: TomlFile, key: Key, value: Any, kind: inspect.Type, example: str) -> None:
    """Raise an error on a value of another type, or with an element of another type."""
    plain = _plain(kind)
    for option in map(_plain, plain.types if isinstance(plain, inspect.UnionType) else (plain,)):
        if isinstance(option, inspect.StructType) and isinstance(value, dict):
            return _demand_table(file, key, value, option)
        if isinstance(option, inspect.ListType) and isinstance(value, list):
            for number, item in enumerate(value):
                _demand(file, (*key, number), item, option.item_type, example)
            return None
        if isinstance(option, inspect.DictType) and isinstance(value, dict):
            for name, item in value.items():
                _demand(file, (*key, name), item, option.value_type, example)
            return None
    if not _fits(value, plain):
        near = nearest(value, _words(plain)) if isinstance(value, str) else None
        element = "an element of " if isinstance(key[-1], int) else ""
        if _struct_of(plain) is not None and len(key) > 1:
            example = f"{example}, or a table [{dotted(key)}]"
        raise file.error(
            key,
            f"{element}{dotted(key)} cannot be {_shown(value)}: it takes {_type_words(kind)}.",
            f"Did you mean {near}?"
            if near
            else f"Write {_maximum(key[-1], value, plain) or example}.",
        )
    return None


def _maximum(name: str | int, value: Any, kind: inspect.Type) -> str:
    """Return the maximum that a whole number exceeds, as TOML; empty for other values."""
    most = kind.le if isinstance(kind, inspect.IntType) else None
    exceeds = most is not None and type(value) is int and value > most
    return f"{name} = {most}, the maximum" if exceeds else ""


def _plain(kind: inspect.Type) -> inspect.Type:
    """Return a type without its description, and without null, which TOML does not have."""
    while True:
        if isinstance(kind, inspect.Metadata):
            kind = kind.type
        elif isinstance(kind, inspect.UnionType):
            rest = tuple(t for t in kind.types if not isinstance(t, inspect.NoneType))
            if len(rest) > 1:
                return inspect.UnionType(rest)
            kind = rest[0]
        else:
            return kind


def _fits(value: Any, kind: inspect.Type) -> bool:
    """Return whether a plain value is of a type; integers are numbers, Booleans are not."""
    match _plain(kind):
        case inspect.AnyType():
            return True
        case inspect.UnionType(types=types):
            return any(_fits(value, t) for t in types)
        case inspect.StrType(min_length=minimum):
            return isinstance(value, str) and len(value) >= (minimum or 0)
        case inspect.BoolType():
            return isinstance(value, bool)
        case inspect.IntType(ge=ge, le=le):
            whole = isinstance(value, int) and not isinstance(value, bool)
            return whole and (ge is None or value >= ge) and (le is None or value <= le)
        case inspect.FloatType():
            return isinstance(value, int | float) and not isinstance(value, bool)
        case inspect.LiteralType(values=values):
            return value in values
        case _:
            return False


def _shown(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case "":
            return "empty"
        case str():
            return f"the text {value[:60]!r}"
        case int() | float():
            return str(value)
        case list():
            return "a list"
        case dict():
            return "a table"
        case _:
            return "a date or time"


def _type_words(kind: inspect.Type) -> str:
    """Return a type in words."""
    match _plain(kind):
        case inspect.UnionType(types=types):
            words = list(dict.fromkeys(map(_type_words, types)))
            if "a number" in words:
                words = [w for w in words if not w.startswith("a whole number")]
            return f"{', '.join(words[:-1])} or {words[-1]}"
        case inspect.StrType():
            return "a text"
        case inspect.BoolType():
            return "true or false"
        case inspect.IntType(ge=ge, le=le):
            bounds = [f"from {ge}"] if ge is not None else []
            bounds += [f"to {le:,}"] if le is not None else []
            return " ".join(["a whole number", *bounds])
        case inspect.FloatType():
            return "a number"
        case inspect.LiteralType(values=values):
            return f"one of {', '.join(map(str, values))}"
        case inspect.ListType(item_type=item):
            return f"a list of {_type_words(item).removeprefix('a ')}s"
        case _:
            return "a table"


def _words(kind: inspect.Type) -> tuple[str, ...]:
    options = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    return tuple(
        str(value) for o in options if isinstance(o, inspect.LiteralType) for value in o.values
    )


def _example(name: str, kind: inspect.Type) -> str:
    """Return the first example of a description as TOML; of a table its first key."""
    for described in _descriptions(kind):
        for example in described.get("examples", ()):
            return f"{name} = {toml_text(example)}"
    table = _struct_of(_plain(kind))
    if table is None or any(field.required for field in table.fields):
        return f"[{name}]"
    first = table.fields[0]
    return f"{name} = {{ {_example(first.encode_name, first.type)} }}"


def _struct_of(kind: inspect.Type) -> inspect.StructType | None:
    return kind if isinstance(kind, inspect.StructType) else None


def _descriptions(kind: inspect.Type) -> list[dict[str, Any]]:
    if isinstance(kind, inspect.Metadata):
        return [kind.extra_json_schema or {}, *_descriptions(kind.type)]
    if isinstance(kind, inspect.UnionType):
        return [found for option in kind.types for found in _descriptions(option)]
    return []


def toml_text(value: Any) -> str:
    """Return a plain value as TOML."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            escaped = value.replace("\\", "\\\\").replace('"', '\\"')
            return f"'{value}'" if "\\" in value and "'" not in value else f'"{escaped}"'
        case list():
            return f"[{', '.join(map(toml_text, value))}]"
        case dict():
            pairs = (f"{_key(k)} = {toml_text(v)}" for k, v in value.items())
            return f"{{ {', '.join(pairs)} }}"
        case _:
            return str(value)


def _key(name: str) -> str:
    return name if name.replace("_", "").replace("-", "").isalnum() else f'"{name}"'
