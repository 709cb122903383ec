"""Configuration: a mapping of setting names to values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeGuard

Value = str | int | float | bool
"""Value of a setting."""


class Configuration(Mapping[str, Value]):
    """Immutable, hashable mapping of setting names to values.

    An absent setting is left unchanged, so the empty configuration is *the default*. Two
    configurations are equal if their names and values are equal, in any order.
    """

    __slots__ = ("_hash", "_values")

    def __init__(self, values: Mapping[str, Value] | None = None) -> None:
        self._values: dict[str, Value] = dict(sorted((values or {}).items()))
        self._hash = hash(tuple((k, type(v).__name__, v) for k, v in self._values.items()))

    def __getitem__(self, name: str) -> Value:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Configuration):
            return NotImplemented
        return self._hash == other._hash and self._values == other._values

    def __repr__(self) -> str:
        return f"Configuration({self._values!r})"

    def __str__(self) -> str:
        return " ".join(f"{name}={show_value(value)}" for name, value in self.items()) or "default"

    def having(self, name: str, value: Value) -> Configuration:
        """Return the configuration with ``name`` set to ``value``."""
        return Configuration({**self._values, name: value})

    def without(self, *names: str) -> Configuration:
        """Return the configuration without ``names``."""
        return Configuration({k: v for k, v in self._values.items() if k not in names})

    @property
    def digest(self) -> str:
        """Return an identifier of 16 hexadecimal digits, stable across machines and versions."""
        import hashlib  # loads OpenSSL, which would delay programs that must start at once
        import json

        text = json.dumps(self._values, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def is_number(value: object) -> TypeGuard[int | float]:
    """Return whether a value is a number; a truth value is not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def show_value(value: Value) -> str:
    """Return a value in the form of the command line, with all digits, because arms use it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)


DEFAULT = Configuration()
"""The configuration without any setting."""
