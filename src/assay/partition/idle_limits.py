"""Limits on idle states of partition CPUs, and polling for machine errors.

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
"""Largest exit latency of the first halting states (C1 and C1E of Intel: 1 to 10 us); the next
states, which power down parts of a core, take tens of microseconds."""
_LATENCIES_US: dict[IdleLimit, int] = {"shallow": MAX_SHALLOW_LATENCY_US, "poll": 0}


def demand_idle_support(
    idle: IdleLimit, checks_machine: bool, machine: Machine, cpus: Iterable[int]
) -> None:
    """Check that this machine supports the idle limit and the polling setting for these CPUs.

    Raises:
        NotPossibleError: idle states, a polling state, or error polling are not available.
    """
    known = idle_states(machine)
    states = [known.get(cpu, {}) for cpu in cpus]
    if idle != "default" and not all(states):
        raise NotPossibleError(
            f"--idle {idle} is not supported: the kernel reports no idle states.",
            "Omit the option; in a guest the host controls the idle states.",
        )
    if idle == "poll" and not all(0 in latencies.values() for latencies in states):
        raise NotPossibleError(
            "--idle poll is not supported: no idle state polls.", "Use --idle shallow."
        )
    if not checks_machine and MACHINE_CHECKS not in machine.system_files:
        raise NotPossibleError(
            f"--no-machine-checks is not supported: this machine has no {MACHINE_CHECKS}.",
            "Omit the option: the kernel does not poll.",
        )


def idle_actions(partitions: Iterable[Partition], machine: Machine) -> tuple[HostAction, ...]:
    """Return the idle and polling actions that all partitions require."""
    found: list[HostAction] = []
    polled = True
    for partition in partitions:
        if partition.idle_limit in _LATENCIES_US:
            found += disable_deep_states(
                machine, parse_list(partition.cpus), _LATENCIES_US[partition.idle_limit]
            )
        polled = polled and partition.machine_checks
    if not polled:
        found.append(WriteFile(path=MACHINE_CHECKS, value="0", form="number"))
    return tuple(found)
