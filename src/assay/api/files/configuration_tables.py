"""Tables ``[configuration.NAME]`` of a file: settings of any scope under one name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from assay.api.files.setting_tables import flattened, value_text
from assay.api.files.toml_file import TomlFile, dotted
from assay.api.files.toml_positions import Path as Key
from assay.api.options.assigned import configuration_of
from assay.errors import InvalidInputError
from assay.machine.document import Machine
from assay.records import Configuration, NamedConfiguration, Parameter, Value
from assay.search.history.history import DEFAULT_ARM
from assay.settings.domain_text import parse_domain
from assay.settings.registry import Registry

TABLE = "configuration"
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*", re.ASCII)
_VALUE: dict[str, Any] = {
    "anyOf": [
        {"type": ["string", "number", "boolean"], "description": "The value of a setting."},
        {"type": "object", "description": "A name with a dot, written without quotes."},
    ]
}

Configurations = Annotated[
    dict[str, Annotated[dict[str, Any], Meta(extra_json_schema={"additionalProperties": _VALUE})]],
    Meta(
        description="Named configurations: each sets some settings, of any scope. Each is combined "
        "with all values of [settings].",
        examples=[{"A": {"malloc": "glibc", "threads": 4}}],
    ),
]


class ParsedConfigurations(msgspec.Struct, frozen=True):
    """Named configurations of a file.

    Attributes:
        named: configurations, in the order of the file.
        keys: key of each setting; the first one if several configurations set it.
    """

    named: tuple[NamedConfiguration, ...]
    keys: Mapping[str, Key]

    def parameters(self, registry: Registry, machine: Machine) -> tuple[Parameter, ...]:
        """Return a parameter for each setting, with the values of all configurations.

        An environment variable without a value in a configuration keeps that of the environment. A
        placeholder of the command, which needs a value, gets that of the first configuration.
        """
        values: dict[str, list[Value]] = {}
        for one in self.named:
            for name, value in one.configuration.items():
                known = values.setdefault(name, [])
                if value not in known:
                    known.append(value)
        texts = {name: ",".join(map(value_text, found)) for name, found in values.items()}
        found = (parse_domain(f"{n}={text}", registry, machine) for n, text in texts.items())
        return tuple(
            msgspec.structs.replace(one, default=None) if one.name.startswith("env.") else one
            for one in found
        )


def read_configurations(
    file: TomlFile,
    table: Mapping[str, Mapping[str, Any]],
    varied: Mapping[str, Key],
    registry: Registry,
    machine: Machine,
) -> ParsedConfigurations:
    """Read the tables.

    Args:
        file: file with the tables.
        table: settings by name of the configuration.
        varied: keys of ``[settings]``, by setting.
        registry: registry of the settings.
        machine: machine that the values are for.

    Raises:
        InvalidInputError: an invalid name, setting or value, or two names of one configuration;
            the error names the position.
    """
    named: list[NamedConfiguration] = []
    keys: dict[str, Key] = {}
    for name, settings in table.items():
        key = (TABLE, name)
        _demand_name(file, key, name)
        values: dict[str, Value] = {}
        for setting, (path, value) in flattened(file, settings, key, registry).items():
            with file.at(*path):
                if setting in varied:
                    raise InvalidInputError(
                        f"{setting} is varied under [settings] as well.", "Write it in one place."
                    )
                values |= configuration_of([f"{setting}={value_text(value)}"], registry, machine)
            keys.setdefault(setting, path)
        _demand_own(file, key, Configuration(values), named)
        named.append(NamedConfiguration(name=name, configuration=Configuration(values)))
    return ParsedConfigurations(tuple(named), keys)


def _demand_name(file: TomlFile, key: Key, name: str) -> None:
    if name == DEFAULT_ARM.name:
        raise file.error(
            key,
            f"{dotted(key)}: {name} is the name of the default configuration.",
            "Write another name.",
        )
    if not _NAME.fullmatch(name):
        raise file.error(
            key,
            f"{dotted(key)}: invalid name of a configuration: {name!r}.",
            "Names consist of letters, digits and the signs _ . + -",
        )


def _demand_own(
    file: TomlFile, key: Key, found: Configuration, others: Sequence[NamedConfiguration]
) -> None:
    if not found:
        raise file.error(
            key,
            f"{dotted(key)} is empty, and so the same as the default, which is always included.",
            "Leave it out, or write a setting.",
        )
    same = next((one.name for one in others if one.configuration == found), None)
    if same is not None:
        raise file.error(key, f"{dotted(key)} equals {TABLE}.{same}.", "Leave one of them out.")
