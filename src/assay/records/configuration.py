"""Configuration: setting -> value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

Value = str | int | float | bool
"""What a setting can be set to."""


class Configuration(Mapping[str, Value]):
    """An immutable, hashable mapping of setting names to values.

    A setting that is absent is left as the program finds it, so the empty configuration is *the
    default*. Two configurations are equal when their names and values are, whatever the order.
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
        """The same with ``name`` set to ``value``."""
        return Configuration({**self._values, name: value})

    def without(self, *names: str) -> Configuration:
        """The same with ``names`` left to their defaults."""
        return Configuration({k: v for k, v in self._values.items() if k not in names})

    @property
    def digest(self) -> str:
        """Sixteen hexadecimal digits that name this configuration across machines and versions."""
        import hashlib  # loads OpenSSL, for which a program that is to start at once would wait
        import json

        text = json.dumps(self._values, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def show_value(value: Value) -> str:
    """A value as it is written on the command line: every digit of it, since arms are named so."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)


DEFAULT = Configuration()
"""The configuration in which nothing is set."""
