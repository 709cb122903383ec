"""Plan: the actions that apply a configuration on a machine."""

from __future__ import annotations

import enum

from assay.errors import NotPossibleError
from assay.records.action import Action, Affinity, Instances, RequiredBoot, SystemAction
from assay.records.codec import SCHEMA, Record
from assay.records.configuration import Configuration, Value, show_value


class Scope(enum.StrEnum):
    """Scope of a setting, in order of the cost of a change."""

    PROGRAM = "program"
    BUILD = "build"
    PROCESS = "process"
    SYSTEM = "system"
    BOOT = "boot"
    FIRMWARE = "firmware"
    TOPOLOGY = "topology"


class Level(enum.StrEnum):
    """Strength of the evidence that a setting took effect.

    ``SET``: accepted by the kernel, or present in the environment. ``SEEN``: read back from the
    running program. ``EFFECTIVE``: its effect was observed.
    """

    SET = "set"
    SEEN = "seen"
    EFFECTIVE = "effective"


class Prospect(enum.StrEnum):
    """Expected result of a setting before the launch."""

    GRANTABLE = "grantable"
    DEGRADED = "degraded"
    REFUSED = "refused"
    PENDING = "pending"
    """Requires another boot."""


class PlannedSetting(Record, frozen=True, kw_only=True):
    """Planned value of one setting.

    Attributes:
        value: planned value.
        status: expected result before the launch.
        level: strongest evidence that a launch can give for the setting.
        reason: reason for the status; absent for a setting without limitations.
    """

    value: Value
    status: Prospect
    level: Level
    reason: str | None = None


class Plan(Record, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Actions of one launch, and the expected result of each setting.

    A plan with a refused setting must not be launched: it would measure another configuration.

    Attributes:
        configuration: configuration that the plan applies.
        actions: actions of the launch, in order.
        settings: expected result of each setting, by name.
    """

    configuration: Configuration
    actions: tuple[Action, ...] = ()
    settings: dict[str, PlannedSetting] = {}

    @property
    def refused(self) -> dict[str, PlannedSetting]:
        """Return the settings that cannot be granted on this machine."""
        return {n: s for n, s in self.settings.items() if s.status is Prospect.REFUSED}

    @property
    def pending(self) -> dict[str, PlannedSetting]:
        """Return the settings that require another boot."""
        return {n: s for n, s in self.settings.items() if s.status is Prospect.PENDING}

    @property
    def impossible(self) -> bool:
        """Return whether no boot could grant the plan, not even one with another configuration."""
        return bool(self.refused) and not self.pending

    @property
    def boot_files(self) -> tuple[str, ...]:
        """Return the files that show whether the present boot satisfies the plan."""
        return tuple(p for a in self.actions if isinstance(a, RequiredBoot) for p in a.files)

    @property
    def system(self) -> tuple[SystemAction, ...]:
        """Return the actions that change the machine for all processes, in order."""
        return tuple(a for a in self.actions if isinstance(a, SystemAction))

    @property
    def cpus(self) -> tuple[int, ...]:
        """Return the CPUs of the affinity mask; empty without a mask."""
        if self.instances:
            return tuple(sorted(cpu for _, cpus in self.instances for cpu in cpus))
        return next((a.cpus for a in self.actions if isinstance(a, Affinity)), ())

    @property
    def instances(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """Return the number and the CPUs of each instance to start; empty without instances."""
        for action in self.actions:
            if isinstance(action, Instances):
                instances = tuple(enumerate(action.cpus))
                return instances if action.rank is None else (instances[action.rank],)
        return ()

    @property
    def total_instances(self) -> int:
        """Return the number of instances, started or not; 1 if the program runs once."""
        found = (len(a.cpus) for a in self.actions if isinstance(a, Instances))
        return next(found, 1)

    def demand_booted(self) -> None:
        """Raise an error if the plan requires another boot.

        Raises:
            NotPossibleError: a setting requires another boot; names the first and the missing
                requirement.
        """
        for name, planned in self.pending.items():
            raise NotPossibleError(
                f"{name}={show_value(planned.value)} requires another boot: {planned.reason}.",
                "Change the boot, then reboot: docs/reference/boot-settings.md.",
            )

    def demand_granted(self) -> None:
        """Raise an error if a setting is refused.

        Raises:
            NotPossibleError: a setting is refused; names the first and the reason.
        """
        for name, planned in self.refused.items():
            reason = (planned.reason or "refused").rstrip(".")
            raise NotPossibleError(
                f"{name}={show_value(planned.value)} cannot be granted: {reason}.",
                "Omit it, or choose another value: `assay settings` lists them.",
            )
