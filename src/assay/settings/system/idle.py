"""``cpu.idle``: limit on the wake-up latency of idle CPUs.

Interfaces: ``Documentation/power/pm_qos_interface.rst`` (``/dev/cpu_dma_latency``: a number of
microseconds, effective while the file is open) and ``Documentation/admin-guide/pm/cpuidle.rst``
(``cpuidle/state*/disable``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from assay.machine.document import Machine
from assay.machine.tunables import CPUS, LATENCY, matching
from assay.records import (
    Configuration,
    Domain,
    Grant,
    HoldFd,
    Level,
    Plan,
    Range,
    RunFacts,
    SystemAction,
    WriteFile,
)
from assay.settings.base import Refused, Resolved
from assay.settings.evidence import degraded, granted, refused, unverified
from assay.settings.refusals import out_of_domain
from assay.settings.system.common import (
    SystemSetting,
    missing_privileges,
)

_DOMAIN = Range(0, 2_000_000_000)


class IdleLatencyLimit(SystemSetting, frozen=True):
    """``cpu.idle``: maximum wake-up latency of a CPU."""

    name: str = "cpu.idle"
    summary: str = "maximum wake-up latency of a CPU in microseconds; 0 disables idle states"

    def domain(self, machine: Machine) -> Domain:
        """Return any number of microseconds."""
        return _DOMAIN

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return a limit that lasts while the device is open."""
        value = config[self.name]
        if value not in _DOMAIN or not isinstance(value, int):
            return out_of_domain(self.name, value, _DOMAIN)
        if LATENCY not in machine.system_files:
            return Refused(f"this machine has no {LATENCY}", "The kernel needs CONFIG_CPU_IDLE.")
        note = (
            None
            if idle_states(machine)
            else "the kernel reports no idle states; this may be a guest"
        )
        return missing_privileges(machine) or Resolved(
            (HoldFd(path=LATENCY, value=value),), note=note
        )

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Judge by the value of the device: the lowest limit of all programs."""
        value = config[self.name]
        text = facts.system_files.get(LATENCY)
        if text is None:
            return unverified(value, f"{LATENCY} could not be read")
        observed = f"{LATENCY} {text}"
        if text == str(value):
            return granted(value, Level.SEEN, observed)
        if int(text) < int(value):
            return degraded(value, Level.SEEN, "another program requests a lower latency", observed)
        return refused(value, Level.SEEN, "the limit is not in force", observed)


def persistent_actions(action: SystemAction, machine: Machine) -> tuple[SystemAction, ...]:
    """Return actions that last without an open device: deeper idle states are disabled.

    The result is empty if no idle state is known, or none exceeds the limit.
    """
    if not isinstance(action, HoldFd):
        return (action,)
    return disable_deep_states(machine, (cpu.id for cpu in machine.cpus), action.value)


def disable_deep_states(
    machine: Machine, cpus: Iterable[int], latency_us: int
) -> tuple[WriteFile, ...]:
    """Return writes that disable the idle states of CPUs with a longer wake-up latency."""
    states = idle_states(machine)
    return tuple(
        WriteFile(path=f"{CPUS}/cpu{cpu}/cpuidle/state{number}/disable", value="1", form="number")
        for cpu in cpus
        for number, takes_us in states.get(cpu, {}).items()
        if takes_us > latency_us
    )


def idle_states(machine: Machine) -> dict[int, dict[int, int]]:
    """Return latencies in microseconds by CPU and idle state; kinds of cores differ."""
    found: dict[int, dict[int, int]] = {}
    for path in matching(machine.system_files, f"{CPUS}/cpu#/cpuidle/state#/latency"):
        cpu, number = map(int, re.findall("(?:cpu|state)([0-9]+)", path))
        text = machine.system_files[path]
        if text.isascii() and text.isdigit():
            found.setdefault(cpu, {})[number] = int(text)
    return found
