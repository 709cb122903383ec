"""Setting: the contract that every knob keeps. Pure: no I/O."""

from __future__ import annotations

from typing import Protocol

import msgspec

from assay.machine.document import Machine, Program
from assay.records import (
    Action,
    Configuration,
    Domain,
    Grant,
    Level,
    Plan,
    RunFacts,
    Scope,
    Value,
)


class Resolved(msgspec.Struct, frozen=True):
    """Actions that give a setting its value.

    ``degraded`` says why it is less than asked for; ``note`` is worth knowing, and no loss.
    """

    actions: tuple[Action, ...]
    degraded: str | None = None
    note: str | None = None


class Refused(msgspec.Struct, frozen=True):
    """The value cannot be had here; ``remedy`` says what would make it possible."""

    reason: str
    remedy: str | None = None


class Pending(msgspec.Struct, frozen=True):
    """The value takes another boot.

    Attributes:
        missing: what was read, and what is missing.
        add, remove: words for the kernel's command line, and those that must go.
        firmware: what its menu is to hold, by name.
        running: release of the running kernel, where another one is to run.
    """

    missing: str
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    firmware: dict[str, str] = {}
    running: str | None = None


class Suggestion(msgspec.Struct, frozen=True):
    """A setting worth trying unasked: over which values, and why."""

    domain: Domain
    reason: str


class Setting(Protocol):
    """One knob."""

    @property
    def name(self) -> str:
        """As it is written on the command line: ``family.knob``."""
        ...

    @property
    def summary(self) -> str:
        """One line for ``assay settings list``."""
        ...

    @property
    def scope(self) -> Scope:
        """What it belongs to."""
        ...

    @property
    def switch_cost_s(self) -> float:
        """What changing it between two launches costs, beyond the launch itself.

        It is 0 for all settings that act within the process. The launches of a block are grouped by
        those that take a write, a build or a boot, and the budget counts what that takes
        (docs/explanation/statistics.md, rule 18).
        """
        ...

    @property
    def evidence(self) -> Level:
        """How well its effect is shown."""
        ...

    def domain(self, machine: Machine) -> Domain:
        """Every value that can be asked for on this machine."""
        ...

    def default(self, machine: Machine) -> Value | None:
        """The value that an absent setting stands for, where it is known."""
        ...

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """Whether it is worth trying unasked: a suggestion, or the reason why not."""
        ...

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused | Pending:
        """What gives it the value that ``config`` holds; only called where it holds one."""
        ...

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Whether it took effect, from what was read back.

        ``plan`` is what the launch was to do: a value does not say it all (which CPUs, where a
        count was asked for).
        """
        ...
