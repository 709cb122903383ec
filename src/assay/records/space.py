"""Space: which settings a study varies, over what, under which constraints."""

from __future__ import annotations

from assay.records.codec import Record
from assay.records.configuration import Configuration, Value
from assay.records.domain import Domain


class Parameter(Record, frozen=True, kw_only=True):
    """One setting that a study varies.

    Attributes:
        name: of the setting.
        domain: the values to try.
        default: value that an absent setting stands for, where it is known: for ``arg.NAME`` and
            ``env.NAME`` the first one given. A configuration that sets it equals one that does not.
        when: expression over other settings; where it is false this one is left alone.
        reason: why it is in the space, when assay chose it.
    """

    name: str
    domain: Domain
    default: Value | None = None
    when: str | None = None
    reason: str | None = None


class NamedConfiguration(Record, frozen=True, kw_only=True):
    """A configuration under the name that a file gives it."""

    name: str
    configuration: Configuration


class Space(Record, frozen=True, kw_only=True):
    """Parameters, and constraints that every configuration in the space satisfies.

    Attributes:
        parameters: the settings that vary; for ``tune`` those of the named configurations as well.
        constraints: expressions.
        named: where there are any, every configuration of the space is the default or one of
            these, with values of the other parameters beside it.
    """

    parameters: tuple[Parameter, ...] = ()
    constraints: tuple[str, ...] = ()
    named: tuple[NamedConfiguration, ...] = ()
