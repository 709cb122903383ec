"""Types of the documents of ``assay settings``."""

from __future__ import annotations

from assay.records import Prospect, Scope
from assay.records.codec import SCHEMA, Record
from assay.records.configuration import Value
from assay.records.plan import Level


class ValueProspect(Record, frozen=True, kw_only=True):
    """Expected result of one value of a setting on this machine.

    Attributes:
        value: value of the setting.
        status: expected result.
        reason: reason for a result other than ``grantable``, or a remark.
    """

    value: Value
    status: Prospect
    reason: str | None = None


class SettingDescription(Record, frozen=True, kw_only=True):
    """One setting, and its values on this machine.

    Attributes:
        name: name of the setting.
        summary: purpose of the setting.
        scope: scope of the setting.
        evidence: level of verification.
        domain: values that exist on this machine, in words.
        now: present value of a boot or firmware setting.
        values: up to 64 values with their expected results; absent for an unlimited set of values.
    """

    name: str
    summary: str
    scope: Scope
    evidence: Level
    domain: str
    now: Value | None = None
    values: tuple[ValueProspect, ...] | None = None


class SettingsShowAnswer(
    SettingDescription, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA
):
    """Answer of ``assay settings show``."""


class SettingsListAnswer(Record, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Answer of ``assay settings list``.

    Attributes:
        settings: every setting.
        inherited: exported variables that ``inherited.NAME=unset`` can remove, with their values.
    """

    settings: tuple[SettingDescription, ...]
    inherited: dict[str, str]
