"""Interface of all settings, and results of their resolution. Pure: no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Protocol

import msgspec

from assay.machine.document import Machine, Program
from assay.records import (
    Action,
    Configuration,
    Domain,
    EnvSet,
    Grant,
    Level,
    Plan,
    RunFacts,
    Scope,
    Value,
)


class Resolved(msgspec.Struct, frozen=True):
    """Actions that give a setting its value.

    Attributes:
        actions: actions of the launch.
        degraded: reason why the effect is less than requested.
        note: information for the user.
    """

    actions: tuple[Action, ...]
    degraded: str | None = None
    note: str | None = None


def set_variables(variables: Mapping[str, str]) -> tuple[EnvSet, ...]:
    """Return the actions that set environment variables."""
    return tuple(EnvSet(name=name, value=text) for name, text in variables.items())


class Refused(msgspec.Struct, frozen=True):
    """Refusal of a value on this machine.

    Attributes:
        reason: cause.
        remedy: next step that would make the value possible.
    """

    reason: str
    remedy: str | None = None


class Pending(msgspec.Struct, frozen=True):
    """Request for a reboot: the value needs another boot.

    Attributes:
        missing: current and required state.
        add, remove: words to add to and to remove from the kernel's command line.
        firmware: required entries of the firmware's menu, by name.
        running: release of the running kernel, if another one is required.
    """

    missing: str
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    firmware: dict[str, str] = {}
    running: str | None = None


class Suggestion(msgspec.Struct, frozen=True):
    """Values worth trying for a program, without a request of the user.

    Attributes:
        domain: values to try.
        reason: reason for trying them.
    """

    domain: Domain
    reason: str


class Setting(Protocol):
    """A setting: a quantity that affects the performance of a program."""

    @property
    def name(self) -> str:
        """Name on the command line: ``family.name``."""
        ...

    @property
    def summary(self) -> str:
        """One-line description for ``assay settings list``."""
        ...

    @property
    def scope(self) -> Scope:
        """Part of the system that the setting changes."""
        ...

    @property
    def switch_cost_s(self) -> float:
        """Cost of a change between two launches, in seconds, beyond the launch itself.

        It is 0 for all settings that act within the process. The launches of a block are grouped by
        settings that need a write, a build or a boot, and the budget includes their cost
        (docs/explanation/statistics.md, rule 18).
        """
        ...

    @property
    def evidence(self) -> Level:
        """Strongest evidence of an effect that can be read back."""
        ...

    def domain(self, machine: Machine) -> Domain:
        """Return all values that can be requested on this machine."""
        ...

    def default(self, machine: Machine) -> Value | None:
        """Return the value without the setting; ``None`` if unknown."""
        ...

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """Return values worth trying, or the reason for not trying the setting."""
        ...

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused | Pending:
        """Return the actions for the value in ``config``, which must contain the setting."""
        ...

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Judge from the read-back facts whether the value took effect.

        Args:
            config: configuration of the launch, with a value of this setting.
            facts: facts that were read back.
            plan: plan of the launch; it holds details beyond the value, such as the chosen CPUs.
        """
        ...


class BaseSetting(msgspec.Struct, frozen=True):
    """Defaults of a setting that acts within the launched process.

    Attributes:
        scope: part of the system that the setting changes.
        switch_cost_s: cost of a change between two launches, in seconds.
        evidence: strongest evidence of an effect that can be read back.
        not_suggested: reason for not suggesting the setting without a request.
    """

    scope: ClassVar[Scope] = Scope.PROCESS
    switch_cost_s: ClassVar[float] = 0.0
    evidence: ClassVar[Level] = Level.SEEN
    not_suggested: ClassVar[str] = "name it to vary it"

    def default(self, machine: Machine) -> Value | None:
        """Return ``None``: the value without the setting is unknown."""
        return None

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """Return the reason for not suggesting the setting."""
        return self.not_suggested
