"""Configuration of the words ``SETTING=VALUE``."""

from __future__ import annotations

from collections.abc import Sequence

from assay.errors import InvalidInputError
from assay.machine.document import Machine
from assay.records import Configuration, Value
from assay.settings.domain_text import parse_assignment
from assay.settings.registry import Registry


def configuration_of(
    assignments: Sequence[str], registry: Registry, machine: Machine
) -> Configuration:
    """Return the configuration of ``SETTING=VALUE`` words.

    Raises:
        InvalidInputError: an unknown setting or value, or two values of a setting.
    """
    values: dict[str, Value] = {}
    for text in assignments:
        name, value = parse_assignment(text, registry, machine)
        if name in values:
            raise InvalidInputError(f"{name} is given twice.", "Give each setting one value.")
        values[name] = value
    return Configuration(values)
