"""``view``: CPUs in the files of ``/proc`` and ``/sys``: those of the machine, or of the program.

Many programs start a thread for each CPU that ``/proc/cpuinfo`` or ``/sys`` lists, instead of each
usable one. With ``own``, these files list only the CPUs of the launch.

Interfaces: ``mount_namespaces(7)``; without privileges ``user_namespaces(7)``. Evidence: *seen*:
``/proc/PID/root/sys/devices/system/cpu/online``.
"""

from __future__ import annotations

from typing import ClassVar

from assay.machine.cpulist import show_numbers
from assay.machine.document import Machine
from assay.records import (
    Choices,
    Configuration,
    Domain,
    Grant,
    Level,
    Plan,
    RestrictedCpuView,
    RunFacts,
    Value,
)
from assay.settings.base import BaseSetting, Refused, Resolved
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


class CpuView(BaseSetting, frozen=True):
    """``view``: the CPUs in files of ``/proc`` and ``/sys``."""

    name: str = "view"
    summary: str = "CPUs in files of /proc and /sys: all of the machine, or the program's own"
    not_suggested: ClassVar[str] = "it changes the program's view of the machine; name it to try it"

    def domain(self, machine: Machine) -> Domain:
        """Return both views."""
        return _DOMAIN

    def default(self, machine: Machine) -> Value | None:
        """Return ``machine``: the kernel's own view."""
        return _MACHINE

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return a mount namespace, if it is permitted."""
        value = config[self.name]
        match value:
            case "machine":
                return Resolved(())
            case "own":
                return _in_namespace(machine)
            case _:
                return out_of_domain(self.name, value, _DOMAIN)

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Compare the visible CPUs with those of the launch."""
        value = config[self.name]
        if value == _MACHINE:
            return granted(value, Level.SET)
        if step_accepted(facts, "view") is False:
            return refused(value, Level.SET, "the kernel refused the namespace")
        shown = readback_of(facts).visible_cpus
        if shown is None:
            return unverified(value, unread_reason(facts, "visible_cpus"))
        observed = f"shows {show_numbers('CPU', shown)}"
        given = _planned_cpus(plan)
        if given and set(shown) not in given:
            return refused(
                value, Level.SEEN, "the visible CPUs differ from those of the launch", observed
            )
        return granted(value, Level.SEEN, observed)


def _in_namespace(machine: Machine) -> Resolved | Refused:
    why = machine.rights.user_namespaces_unavailable
    if why is not None and "CAP_SYS_ADMIN" not in machine.rights.capabilities:
        return Refused(f"it needs root or a user namespace, and {why}", "Run as root.")
    return Resolved((RestrictedCpuView(),))


def _planned_cpus(plan: Plan) -> list[set[int]]:
    """Return the CPUs of the program, or of each instance, if the plan contains them."""
    if plan.instances:
        return [set(cpus) for _, cpus in plan.instances]
    return [set(plan.cpus)] if plan.cpus else []
