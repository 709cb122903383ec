"""``cpu.idle``: how deep idle CPUs may sleep.

Interfaces: ``Documentation/power/pm_qos_interface.rst`` (``/dev/cpu_dma_latency``: a number of
microseconds, in force for as long as the file is open) and
``Documentation/admin-guide/pm/cpuidle.rst`` (``cpuidle/state*/disable``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from assay.machine.document import Machine, Program
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
    Scope,
    SystemAction,
    Value,
    WriteFile,
)
from assay.settings.base import Refused, Resolved, Suggestion
from assay.settings.evidence import degraded, granted, refused, unverified
from assay.settings.refusals import out_of_domain
from assay.settings.system.common import ONLY_ON_REQUEST, SWITCH_S, missing_privileges

_DOMAIN = Range(0, 2_000_000_000)


class IdleLatencyLimit(msgspec.Struct, frozen=True):
    """``cpu.idle``: the longest time that a CPU may take to wake up."""

    name: str = "cpu.idle"
    summary: str = "longest time in microseconds that a CPU may take to wake up; 0: never sleep"
    scope: Scope = Scope.SYSTEM
    switch_cost_s: float = SWITCH_S
    evidence: Level = Level.SEEN

    def domain(self, machine: Machine) -> Domain:
        """Any number of microseconds."""
        return _DOMAIN

    def default(self, machine: Machine) -> Value | None:
        """What others wish; that can be read by opening the device only."""
        return None

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """Never unasked."""
        return ONLY_ON_REQUEST

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """A wish that lasts while the device is open."""
        value = config[self.name]
        if value not in _DOMAIN or not isinstance(value, int):
            return out_of_domain(self.name, value, _DOMAIN)
        if LATENCY not in machine.system:
            return Refused(f"this machine has no {LATENCY}", "The kernel needs CONFIG_CPU_IDLE.")
        note = (
            None
            if idle_states(machine)
            else "the kernel tells of no idle states: it may be a guest"
        )
        return missing_privileges(machine) or Resolved(
            (HoldFd(path=LATENCY, value=value),), note=note
        )

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """By what the device said was in force: the least that anybody wishes."""
        value = config[self.name]
        text = facts.system.get(LATENCY)
        if text is None:
            return unverified(value, f"{LATENCY} could not be read")
        observed = f"{LATENCY} {text}"
        if text == str(value):
            return granted(value, Level.SEEN, observed)
        if int(text) < int(value):
            return degraded(value, Level.SEEN, "another program wishes less", observed)
        return refused(value, Level.SEEN, "the wish is not in force", observed)


def persistent_actions(action: SystemAction, machine: Machine) -> tuple[SystemAction, ...]:
    """The same without a process that holds a device open: states that take longer are disabled.

    Nothing where no idle state is known, or none takes as long.
    """
    if not isinstance(action, HoldFd):
        return (action,)
    return disable_deep_states(machine, (cpu.id for cpu in machine.cpus), action.value)


def disable_deep_states(
    machine: Machine, cpus: Iterable[int], latency_us: int
) -> tuple[WriteFile, ...]:
    """Disable the idle states of some CPUs from which it takes longer to wake up."""
    states = idle_states(machine)
    return tuple(
        WriteFile(path=f"{CPUS}/cpu{cpu}/cpuidle/state{number}/disable", value="1", form="number")
        for cpu in cpus
        for number, takes_us in states.get(cpu, {}).items()
        if takes_us > latency_us
    )


def idle_states(machine: Machine) -> dict[int, dict[int, int]]:
    """Latency in microseconds by CPU and idle state: cores of several kinds have their own."""
    found: dict[int, dict[int, int]] = {}
    for path in matching(machine.system, f"{CPUS}/cpu#/cpuidle/state#/latency"):
        cpu, number = map(int, re.findall("(?:cpu|state)([0-9]+)", path))
        text = machine.system[path]
        if text.isascii() and text.isdigit():
            found.setdefault(cpu, {})[number] = int(text)
    return found
