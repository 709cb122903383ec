"""Plan: a configuration resolved on a machine."""

from __future__ import annotations

import enum

from assay.errors import NotPossibleError
from assay.records.action import Action, Affinity, Instances, RequiredBoot, SystemAction
from assay.records.codec import Record
from assay.records.configuration import Configuration, Value, show_value


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
    PENDING = "pending"
    """To be had in another boot."""


class PlannedSetting(Record, frozen=True, kw_only=True):
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
    words: dict[str, PlannedSetting] = {}

    @property
    def refused(self) -> dict[str, PlannedSetting]:
        """The settings that cannot be granted here."""
        return {n: w for n, w in self.words.items() if w.prospect is Prospect.REFUSED}

    @property
    def pending(self) -> dict[str, PlannedSetting]:
        """The settings that take another boot."""
        return {n: w for n, w in self.words.items() if w.prospect is Prospect.PENDING}

    @property
    def impossible(self) -> bool:
        """Whether no boot could grant it; what is refused now may be had in another one."""
        return bool(self.refused) and not self.pending

    @property
    def shown_by(self) -> tuple[str, ...]:
        """Files that show whether the boot is the one that it takes."""
        return tuple(p for a in self.actions if isinstance(a, RequiredBoot) for p in a.files)

    @property
    def system(self) -> tuple[SystemAction, ...]:
        """The actions that change the machine for all that runs on it, in their order."""
        return tuple(a for a in self.actions if isinstance(a, SystemAction))

    @property
    def cpus(self) -> tuple[int, ...]:
        """The CPUs that the launch is kept to; none where it sets no mask."""
        if self.instances:
            return tuple(sorted(cpu for _, cpus in self.instances for cpu in cpus))
        return next((a.cpus for a in self.actions if isinstance(a, Affinity)), ())

    @property
    def instances(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """Number and CPUs of each instance that is started; none where the program runs once."""
        for action in self.actions:
            if isinstance(action, Instances):
                all_of_them = tuple(enumerate(action.cpus))
                return all_of_them if action.rank is None else (all_of_them[action.rank],)
        return ()

    @property
    def instances_in_all(self) -> int:
        """How many there are, whether started or not; 1 where the program runs once."""
        found = (len(a.cpus) for a in self.actions if isinstance(a, Instances))
        return next(found, 1)

    def demand_booted(self) -> None:
        """Refuse to launch a plan in a boot that is not the one that it takes.

        Raises:
            NotPossibleError: a setting takes another boot; names the first, and what is missing.
        """
        for name, word in self.pending.items():
            raise NotPossibleError(
                f"{name}={show_value(word.value)} takes another boot: {word.reason}.",
                "Boot so first. A study goes from boot to boot: docs/reference/boot-settings.md.",
            )

    def demand_granted(self) -> None:
        """Refuse to go on with a plan that must not be launched.

        Raises:
            NotPossibleError: a setting is refused; names the first, and why.
        """
        for name, word in self.refused.items():
            reason = (word.reason or "refused").rstrip(".")
            raise NotPossibleError(
                f"{name}={show_value(word.value)} cannot be granted: {reason}.",
                "Leave it out, or give it another value: `assay settings` shows what there is.",
            )
