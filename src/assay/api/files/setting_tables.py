"""Tables of settings in a file: their names, nested or quoted, and their values as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from assay.api.files.toml_file import TomlFile, dotted
from assay.api.files.toml_positions import Path as Key
from assay.errors import InvalidInputError
from assay.settings.registry import Registry


def flattened(
    file: TomlFile, table: Mapping[str, Any], key: Key, registry: Registry
) -> dict[str, tuple[Key, Any]]:
    """Return the entries by setting, as TOML parses ``omp.bind = "a,b"`` as nested tables.

    Raises:
        InvalidInputError: a name is defined twice, once with quotes and once without.
    """
    found: dict[str, tuple[Key, Any]] = {}
    for name, path, value in _leaves(table, "", key, registry.names):
        if name in found:
            raise file.error(path, f"{dotted(path)} is defined twice.", "Write it once.")
        found[name] = (path, value)
    return found


def _leaves(
    table: Mapping[str, Any], prefix: str, key: Key, known: tuple[str, ...]
) -> Iterator[tuple[str, Key, Any]]:
    for part, value in table.items():
        name, path = f"{prefix}{part}", (*key, part)
        if isinstance(value, dict) and not _describes(name, value, known):
            yield from _leaves(value, f"{name}.", path, known)
        else:
            yield name, path, value


def _describes(name: str, table: Mapping[str, Any], known: tuple[str, ...]) -> bool:
    """Return whether a table describes this setting, and not several with longer names."""
    family, _, rest = name.partition(".")
    if family in _FAMILIES:
        return bool(rest)
    longer = (other for key in table for other in known if other.startswith(f"{name}.{key}"))
    return bool(table.keys() & {"domain", "condition"}) or (name in known and not any(longer))


_FAMILIES = ("arg", "env", "build")
"""Families of settings: first parts of names that are not settings themselves."""


def value_text(value: Any) -> str:
    """Return a value as the command line writes it.

    Raises:
        InvalidInputError: a table, a list or a date, which no setting takes.
    """
    if not isinstance(value, str | int | float):
        raise InvalidInputError(f"Invalid value: {value}.", "Write a text or a number.")
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if isinstance(value, str) and ("," in text or '"' in text):
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return text
