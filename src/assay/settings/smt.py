"""Selection of hardware threads per core (SMT). Pure functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from assay.machine.document import Cpu, Machine
from assay.records import Configuration

PER_CORE = "threads.per_core"
"""Setting with the number of threads per core."""


def cpus_for_placement(config: Configuration, machine: Machine) -> tuple[Cpu, ...]:
    """Return the CPUs from which a layout may select."""
    value = config.get(PER_CORE)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        return machine.usable  # missing, or refused by the setting itself
    return limit_per_core(machine.usable, value)


def limit_per_core(cpus: Sequence[Cpu], per_core: int) -> tuple[Cpu, ...]:
    """Return the first ``per_core`` CPUs of each core, in order."""
    seen: Counter[int] = Counter()
    found = []
    for cpu in cpus:
        seen[cpu.core] += 1
        if seen[cpu.core] <= per_core:
            found.append(cpu)
    return tuple(found)


def max_per_core(cpus: Sequence[Cpu]) -> int:
    """Return the largest number of usable CPUs of a core."""
    return max(Counter(cpu.core for cpu in cpus).values(), default=1)
