"""CPUs near a device: the layout ``near:DEVICE-OR-FILE`` of ``placement``.

It is the only layout that reads the machine during resolution: no machine document contains the
location of a file.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.machine.cpulist import format_list
from assay.machine.devices import UnknownLocation, nearest_cpus
from assay.machine.document import Cpu
from assay.machine.root import Root
from assay.records import Value
from assay.settings.base import Refused

PREFIX = "near:"


def is_near(value: Value | None) -> bool:
    """Return whether a placement names a device."""
    return isinstance(value, str) and value.startswith(PREFIX)


def nearest_usable(value: str, usable: Sequence[Cpu], root: Root) -> tuple[Cpu, ...] | Refused:
    """Return the usable CPUs that are nearest to a device or file."""
    name = value.removeprefix(PREFIX)
    if not name:
        return Refused(f"{value} names no device", "Use near:eth0, near:gpu0 or near:./data.")
    found = nearest_cpus(root, name)
    if isinstance(found, UnknownLocation):
        return Refused(found.reason, found.remedy)
    close = tuple(cpu for cpu in usable if cpu.id in found.cpus)
    if not close:
        return Refused(
            f"CPUs {format_list(found.cpus)} are nearest to {found.device}, but assay may use none"
            " of them",
            f"Usable CPUs: {format_list(cpu.id for cpu in usable)}; see taskset -p $$ and the"
            " cpuset.",
        )
    return close
