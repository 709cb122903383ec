"""``view``: whether files that count CPUs count those of the machine, or those of the program.

Many programs start a thread for each CPU that ``/proc/cpuinfo`` or ``/sys`` names, and not for each
that they may use. With ``own`` they find the CPUs of the launch there, and no others.

Interfaces: ``mount_namespaces(7)``; without rights ``user_namespaces(7)``.
Evidence: *seen*: ``/proc/PID/root/sys/devices/system/cpu/online``.
"""

from __future__ import annotations

import msgspec

from assay.machine.cpulist import show_numbers
from assay.machine.document import Machine, Program
from assay.records import (
    Choices,
    Configuration,
    Domain,
    Grant,
    Level,
    Plan,
    RestrictedCpuView,
    RunFacts,
    Scope,
    Value,
)
from assay.settings.base import Refused, Resolved, Suggestion
from assay.settings.evidence import (
    granted,
    readback_of,
    refused,
    step_accepted,
    unread_reason,
    unverified,
)
from assay.settings.refusals import out_of_domain

_MACHINE = "machine"
_DOMAIN = Choices((_MACHINE, "own"))


class CpuView(msgspec.Struct, frozen=True):
    """``view``: the CPUs that files of ``/proc`` and ``/sys`` tell of."""

    name: str = "view"
    summary: str = "CPUs that /proc and /sys tell of: the machine's, or the program's own"
    scope: Scope = Scope.PROCESS
    switch_cost_s: float = 0.0
    evidence: Level = Level.SEEN

    def domain(self, machine: Machine) -> Domain:
        """All of the machine, or its own."""
        return _DOMAIN

    def default(self, machine: Machine) -> Value | None:
        """What the kernel shows to everybody."""
        return _MACHINE

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """Never unasked."""
        return "what a program is told of the machine is changed where it is named"

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """A mount namespace, where one can be had."""
        value = config[self.name]
        match value:
            case "machine":
                return Resolved(())
            case "own":
                return _own(machine)
            case _:
                return out_of_domain(self.name, value, _DOMAIN)

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """The CPUs that the program was shown, against those that it was given."""
        value = config[self.name]
        if value == _MACHINE:
            return granted(value, Level.SET)
        if step_accepted(facts, "view") is False:
            return refused(value, Level.SET, "the kernel gave no namespace")
        shown = readback_of(facts).cpus_shown
        if shown is None:
            return unverified(value, unread_reason(facts, "cpus_shown"))
        observed = f"shows {show_numbers('CPU', shown)}"
        given = _given(plan)
        if given and set(shown) not in given:
            return refused(value, Level.SEEN, "it shows other CPUs than it was given", observed)
        return granted(value, Level.SEEN, observed)


def _own(machine: Machine) -> Resolved | Refused:
    why = machine.rights.no_user_namespaces
    if why is not None and "CAP_SYS_ADMIN" not in machine.rights.capabilities:
        return Refused(f"without rights it takes a user namespace, and {why}", "Run as root.")
    return Resolved((RestrictedCpuView(),))


def _given(plan: Plan) -> list[set[int]]:
    """The CPUs of the program, or of each of its instances, where the plan says them."""
    if plan.instances:
        return [set(cpus) for _, cpus in plan.instances]
    return [set(plan.cpus)] if plan.cpus else []
