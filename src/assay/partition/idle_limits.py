"""Quiet: how deep the CPUs of partitions sleep, and whether errors of the machine are polled for.

Interfaces: ``Documentation/admin-guide/pm/cpuidle.rst``, ``ABI/testing/sysfs-mce``.
"""

from __future__ import annotations

from collections.abc import Iterable

from assay.errors import NotPossibleError
from assay.machine.cpulist import parse_list
from assay.machine.document import Machine
from assay.machine.tunables import MACHINE_CHECKS
from assay.partition.registry import IdleLimit, Partition
from assay.records.action import HostAction, WriteFile
from assay.settings.system.idle import disable_deep_states, idle_states

MAX_SHALLOW_LATENCY_US = 10
"""What the first halting states take to wake up from (C1 and C1E of Intel 1 to 10 us); the next
ones, which switch parts of a core off, take tens of microseconds."""
_LATENCIES_US: dict[IdleLimit, int] = {"shallow": MAX_SHALLOW_LATENCY_US, "poll": 0}


def demand_idle_support(
    idle: IdleLimit, checks_machine: bool, machine: Machine, cpus: Iterable[int]
) -> None:
    """Refuse what this machine cannot do with these CPUs.

    Raises:
        NotPossibleError: it knows no idle states, none that polls, or no polling for errors.
    """
    known = idle_states(machine)
    states = [known.get(cpu, {}) for cpu in cpus]
    if idle != "default" and not all(states):
        raise NotPossibleError(
            f"--idle {idle} cannot be had: the kernel tells of no idle states here.",
            "Leave it out; in a guest the host decides how deep its CPUs sleep.",
        )
    if idle == "poll" and not all(0 in latencies.values() for latencies in states):
        raise NotPossibleError(
            "--idle poll cannot be had: no idle state here polls.", "--idle shallow can."
        )
    if not checks_machine and MACHINE_CHECKS not in machine.system:
        raise NotPossibleError(
            f"--no-machine-checks cannot be had: this machine has no {MACHINE_CHECKS}.",
            "Leave it out: nothing is polled for.",
        )


def idle_actions(made: Iterable[Partition], machine: Machine) -> tuple[HostAction, ...]:
    """What all partitions ask for, for as long as they stand."""
    found: list[HostAction] = []
    polled = True
    for one in made:
        if one.idle in _LATENCIES_US:
            found += disable_deep_states(machine, parse_list(one.cpus), _LATENCIES_US[one.idle])
        polled = polled and one.checks_machine
    if not polled:
        found.append(WriteFile(path=MACHINE_CHECKS, value="0", form="number"))
    return tuple(found)
