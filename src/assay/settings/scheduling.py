"""``sched`` and ``nice``: what the scheduler thinks of the program.

Interfaces: ``sched_setscheduler(2)``, ``setpriority(2)``, ``sched(7)``; inherited by children.
Evidence: *seen* in ``/proc/PID/stat``. Nice values compare programs of one autogroup only
(sched(7), "The autogroup feature").
"""

from __future__ import annotations

from dataclasses import dataclass

from assay.machine.document import Machine, Program
from assay.records import (
    Choices,
    Configuration,
    Domain,
    Grant,
    Level,
    Plan,
    Range,
    RunFacts,
    Sched,
    Scope,
    Value,
)
from assay.settings.base import Refused, Resolved, Suggestion
from assay.settings.evidence import (
    accepted,
    granted,
    refused,
    seen_of,
    unverified,
    why_unread,
)
from assay.settings.refusal import outside
from assay.units import show_count

_POLICIES = Choices(("other", "batch", "idle"))


@dataclass(frozen=True)
class Policy:
    """``sched``: the scheduling class, of those that need no rights."""

    name: str = "sched"
    summary: str = "scheduling class: other, batch (no wake-up preemption), idle"
    scope: Scope = Scope.PROCESS
    switch_cost_s: float = 0.0
    evidence: Level = Level.SEEN

    def domain(self, machine: Machine) -> Domain:
        """The classes without real-time priority."""
        return _POLICIES

    def default(self, machine: Machine) -> Value | None:
        """Inherited; nearly always ``other``, but not known."""
        return None

    def matters(self, program: Program, machine: Machine) -> Suggestion | str:
        """Where threads compete with each other for CPUs."""
        usable = len(machine.usable)
        if (program.threads_peak or 1) <= usable:
            return "the program has a CPU for each of its threads"
        return Suggestion(
            Choices(("batch",)),
            f"{program.threads_peak} threads share {show_count(usable, 'CPU')}; batch switches "
            "less often",
        )

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """A scheduling class."""
        value = config[self.name]
        match value:
            case "other" | "batch" | "idle":
                return Resolved((Sched(policy=value),))
            case _:
                return outside(self.name, value, _POLICIES)

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """The class that was read back."""
        value = config[self.name]
        return _compare(value, seen_of(facts).policy, "policy", facts)


@dataclass(frozen=True)
class Nice:
    """``nice``: weight against other programs."""

    name: str = "nice"
    summary: str = "nice value: its weight against other programs on the same CPUs"
    scope: Scope = Scope.PROCESS
    switch_cost_s: float = 0.0
    evidence: Level = Level.SEEN

    def domain(self, machine: Machine) -> Domain:
        """All that the kernel knows; below the floor of these rights it is refused."""
        return Range(-20, 19, step=1)

    def default(self, machine: Machine) -> Value | None:
        """What assay itself runs at."""
        return machine.rights.nice_now

    def matters(self, program: Program, machine: Machine) -> Suggestion | str:
        """Never unasked."""
        return "it weighs against other programs, and gains nothing on a quiet machine"

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """A nice value, within the rights."""
        value = config[self.name]
        domain = self.domain(machine)
        if value not in domain or not isinstance(value, int):
            return outside(self.name, value, domain)
        floor = machine.rights.nice_floor
        if value < floor:
            return Refused(
                f"nice={value} needs rights: {floor} is the lowest here",
                "Run as root, or raise the limit: `prlimit --nice`, or `nice` in limits.conf(5).",
            )
        return Resolved((Sched(nice=value),))

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """The nice value that was read back."""
        value = config[self.name]
        return _compare(value, seen_of(facts).nice, "nice", facts)


def _compare(value: Value, seen: Value | None, field: str, facts: RunFacts) -> Grant:
    if accepted(facts, f"sched.{field}") is False:
        return refused(value, Level.SET, "the kernel did not take it")
    if seen is None:
        return unverified(value, why_unread(facts, field))
    if seen != value:
        return refused(value, Level.SEEN, f"{field} was {seen} when read", f"{field} {seen}")
    return granted(value, Level.SEEN, f"{field} {seen}")
