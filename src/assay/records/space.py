"""Space: the settings that a study varies, with their domains and constraints."""

from __future__ import annotations

from assay.records.codec import Record
from assay.records.configuration import Configuration, Value
from assay.records.domain import Domain


class Parameter(Record, frozen=True, kw_only=True):
    """Setting that a study varies.

    Attributes:
        name: name of the setting.
        domain: the values to try.
        default: equivalent value of the absent setting, if known; for ``arg.NAME`` and ``env.NAME``
            the first given value. A configuration that sets it equals one without it.
        condition: expression over other settings; the setting is only varied if it is true.
        reason: reason for varying the setting, if assay chose it.
    """

    name: str
    domain: Domain
    default: Value | None = None
    condition: str | None = None
    reason: str | None = None


class NamedConfiguration(Record, frozen=True, kw_only=True):
    """Configuration with a name from a file.

    Attributes:
        name: name in the file.
        configuration: its settings.
    """

    name: str
    configuration: Configuration


class Space(Record, frozen=True, kw_only=True):
    """Parameters, and constraints that every configuration satisfies.

    Attributes:
        parameters: varied settings; for ``tune`` including those of the named configurations.
        constraints: expressions.
        named_configurations: if not empty, every configuration of the space is the default or one
            of these, combined with values of the other parameters.
    """

    parameters: tuple[Parameter, ...] = ()
    constraints: tuple[str, ...] = ()
    named_configurations: tuple[NamedConfiguration, ...] = ()
