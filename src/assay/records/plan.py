"""Plan: a configuration resolved on a machine."""

from __future__ import annotations

import enum

from assay.records.action import Action
from assay.records.codec import Record
from assay.records.configuration import Configuration, Value


class Scope(enum.StrEnum):
    """What a setting belongs to, in the order of what it costs to change."""

    PROGRAM = "program"
    BUILD = "build"
    PROCESS = "process"
    SYSTEM = "system"
    BOOT = "boot"
    FIRMWARE = "firmware"
    TOPOLOGY = "topology"


class Level(enum.StrEnum):
    """How well the effect of a setting is shown.

    ``SET``: accepted by the kernel or present in the environment. ``SEEN``: read back in the run.
    ``EFFECTIVE``: its behaviour was observed.
    """

    SET = "set"
    SEEN = "seen"
    EFFECTIVE = "effective"


class Prospect(enum.StrEnum):
    """What can be expected of a setting before the launch."""

    GRANTABLE = "grantable"
    DEGRADED = "degraded"
    REFUSED = "refused"


class Word(Record, frozen=True, kw_only=True):
    """What the planner says of one setting; ``reason`` is there unless it is plainly grantable."""

    value: Value
    prospect: Prospect
    level: Level
    reason: str | None = None


class Plan(Record, frozen=True, kw_only=True, tag_field="schema", tag=1):
    """What one launch will do, and a word for each setting.

    A plan with a refused setting must not be launched: it would measure something else.
    """

    configuration: Configuration
    actions: tuple[Action, ...] = ()
    words: dict[str, Word] = {}

    @property
    def refused(self) -> dict[str, Word]:
        """The settings that cannot be granted here."""
        return {n: w for n, w in self.words.items() if w.prospect is Prospect.REFUSED}
