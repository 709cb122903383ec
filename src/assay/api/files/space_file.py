"""Tables of a file that define the search space: ``[settings]`` and ``constraints``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Protocol

import msgspec
from msgspec import Meta

from assay.api.files.configuration_tables import Configurations, read_configurations
from assay.api.files.setting_tables import flattened, value_text
from assay.api.files.toml_file import TomlFile, dotted, read_toml
from assay.api.files.toml_positions import Path as Key
from assay.api.files.toml_schema import read_table
from assay.errors import InvalidInputError, nearest
from assay.machine.document import Machine
from assay.records import Parameter, Space
from assay.search.space.expression import Expression
from assay.search.space.search_space import SearchSpace
from assay.settings.domain_text import parse_domain
from assay.settings.registry import Registry

_VALUE: dict[str, Any] = {"type": ["string", "number", "boolean"], "minLength": 1}
_DOMAIN: dict[str, Any] = {
    "anyOf": [
        {
            **_VALUE,
            "description": 'Values as on the command line ("a,b,c", "1..8", "1..8:log2"), or one.',
        },
        {"type": "array", "items": _VALUE, "minItems": 1, "description": "List of values."},
    ]
}
_SETTING: dict[str, Any] = {
    "anyOf": [
        *_DOMAIN["anyOf"],
        {
            "type": "object",
            "properties": {
                "domain": {"description": "Values to try.", **_DOMAIN},
                "condition": {
                    "type": "string",
                    "description": "Expression; where it does not hold, the setting is left unset.",
                },
            },
            "required": ["domain"],
            "additionalProperties": False,
        },
        {
            "type": "object",
            "description": "A name with a dot, written without quotes.",
            "not": {"anyOf": [{"required": ["domain"]}, {"required": ["condition"]}]},
        },
    ]
}

Text = Annotated[str, Meta(min_length=1)]
"""Text that is not empty: an empty one is mostly a mistake, and would count as missing."""

Settings = Annotated[
    dict[str, Any],
    Meta(
        description="Settings with the values to try.",
        examples=[{"threads": [1, 2, 4], "malloc": "glibc,jemalloc"}],
        extra_json_schema={"additionalProperties": _SETTING, "minProperties": 1},
    ),
]
Constraints = Annotated[
    list[Text],
    Meta(
        description="Expressions that every configuration satisfies.",
        examples=[["threads * arg.jobs <= 8"]],
    ),
]


class SpaceTable(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Contents of a space file."""

    settings: Settings = {}
    constraints: Constraints = []
    configuration: Configurations = {}


class ParsedSpace(msgspec.Struct, frozen=True):
    """Search space of a file.

    Attributes:
        file: file that defines it.
        space: search space; its parameters are those of ``[settings]``.
        keys: key of each setting in the file, by its name.
        named_parameters: parameters of the named configurations, with their values there.
    """

    file: TomlFile
    space: Space
    keys: Mapping[str, Key]
    named_parameters: tuple[Parameter, ...] = ()

    def demand_sound(self, parameters: tuple[Parameter, ...]) -> None:
        """Raise an error with its position on an expression that cannot be evaluated.

        Args:
            parameters: parameters of the whole study, to which the command line may add some.

        Raises:
            InvalidInputError: an expression refers to a setting that is not varied, or is invalid.
        """
        bare = tuple(msgspec.structs.replace(p, condition=None) for p in parameters)
        for parameter in self.space.parameters:
            if parameter.condition is not None:
                with self.file.at(*self.keys[parameter.name], "condition"):
                    SearchSpace(Space(parameters=bare, constraints=(parameter.condition,)))
        for number, text in enumerate(self.space.constraints):
            with self.file.at("constraints", number):
                SearchSpace(Space(parameters=bare, constraints=(text,)))


def read_space(name: str, registry: Registry, machine: Machine) -> ParsedSpace:
    """Read a space file.

    Raises:
        InvalidInputError: the file cannot be read or is invalid; the error names the position.
    """
    file = read_toml(name)
    table = read_table(file, SpaceTable)
    return parse_space(file, table, registry, machine)


class _Tables(Protocol):
    """Tables of a space, which a sweep file has as well."""

    settings: dict[str, Any]
    constraints: list[str]
    configuration: dict[str, dict[str, Any]]


def parse_space(
    file: TomlFile, table: _Tables, registry: Registry, machine: Machine
) -> ParsedSpace:
    """Return the search space that the tables of a file define.

    Raises:
        InvalidInputError: an invalid setting, value or expression; the error names the position.
    """
    found = flattened(file, table.settings, ("settings",), registry)
    parameters = tuple(
        _parameter(file, name, key, entry, registry, machine)
        for name, (key, entry) in found.items()
    )
    for number, text in enumerate(table.constraints):
        with file.at("constraints", number):
            Expression(text)
    keys = {name: key for name, (key, _) in found.items()}
    configurations = read_configurations(file, table.configuration, keys, registry, machine)
    space = Space(
        parameters=parameters,
        constraints=tuple(table.constraints),
        named_configurations=configurations.named,
    )
    named_parameters = configurations.parameters(registry, machine)
    return ParsedSpace(file, space, {**configurations.keys, **keys}, named_parameters)


def _parameter(
    file: TomlFile, name: str, key: Key, entry: Any, registry: Registry, machine: Machine
) -> Parameter:
    described = entry if isinstance(entry, dict) else {"domain": entry}
    for other in sorted(described.keys() - {"domain", "condition"}):
        near = nearest(other, ("domain", "condition"))
        raise file.error(
            (*key, other),
            f"{dotted(key)} has no key {other!r}.",
            f"Did you mean {near}?" if near else "It takes domain and condition.",
        )
    if "domain" not in described:
        raise file.error(key, f"{dotted(key)} lacks a domain.", 'Write domain = "1..4".')
    with file.at(*key):
        parameter = parse_domain(f"{name}={_domain(described['domain'])}", registry, machine)
    when = described.get("condition")
    if when is None:
        return parameter
    with file.at(*key, "condition"):
        if not isinstance(when, str):
            raise InvalidInputError(
                f"Invalid expression: {when!r}.", 'Write for example condition = "threads > 1".'
            )
        Expression(when)
    return msgspec.structs.replace(parameter, condition=when)


def _domain(value: Any) -> str:
    """Return a domain as the command line writes it."""
    if isinstance(value, list):
        if not value:
            raise InvalidInputError("The list of values is empty.", "Write for example [1, 2, 4].")
        if "" in value:
            raise _empty_text(value)
        return ",".join(map(value_text, value))
    return value if isinstance(value, str) else value_text(value)


def _empty_text(values: list[Any]) -> InvalidInputError:
    """Return the error for a list with an empty text, which is mostly a mistake."""
    written = ",".join('""' if value == "" else value_text(value) for value in values)
    return InvalidInputError(
        f"Value {values.index('') + 1} of the list is an empty text.",
        "Leave it out. For an empty value, write all values as one text, as on the command line: "
        f"'{written}'.",
    )
