"""Reader of a host as an Inventory document."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from assay.machine.cgroup import read_cgroups
from assay.machine.cpulist import format_list
from assay.machine.document import Machine
from assay.machine.inventory.caches import read_caches
from assay.machine.inventory.cgroups import read_control
from assay.machine.inventory.clock import read_frequencies, read_idle
from assay.machine.inventory.devices import read_devices
from assay.machine.inventory.dimms import dimm_entries, read_dimms
from assay.machine.inventory.document import (
    Dimm,
    Inventory,
    Kernel,
    Library,
    MissingReading,
    Part,
    Smt,
)
from assay.machine.inventory.hwloc import read_hwloc
from assay.machine.inventory.kernel import read_firmware, read_kernel_facts, read_microcode
from assay.machine.inventory.limits import read_limits
from assay.machine.inventory.memory import read_mthp, read_pools, read_speeds
from assay.machine.inventory.model import read_model
from assay.machine.inventory.parts import parts_of
from assay.machine.inventory.pci import read_pci
from assay.machine.inventory.versions import read_libraries
from assay.machine.root import Root
from assay.machine.snapshot_facts import read_facts


def read_inventory(
    machine: Machine,
    root: Root | None = None,
    env: Mapping[str, str] | None = None,
    cache: Path | None = None,
    names: Iterable[Path] | None = None,
) -> Inventory:
    """Return the data about a host beyond the Machine document.

    Args:
        machine: the Machine, read below the same root by :func:`assay.machine.reader.read_machine`.
        root: root of the machine; by default the running host.
        env: environment of hwloc's ``lstopo``; without ``PATH`` hwloc is not used.
        cache: directory to cache hwloc's result until the next boot.
        names: tables of names of PCI devices; by default those of this host.
    """
    root = root or Root()
    env = os.environ if env is None else env
    online = tuple(cpu.id for cpu in machine.cpus)
    nodes = tuple(node.id for node in machine.nodes)
    caches = read_caches(root, machine.cpus)
    speeds = read_speeds(root, nodes)
    hwloc = read_hwloc(root, format_list(online), env, cache)
    topology: Part
    if isinstance(hwloc, MissingReading):
        source, topology = "assay", parts_of(root, machine, caches, speeds)
    else:
        source, topology = f"hwloc {hwloc[0]}", hwloc[1]
    kernel = read_kernel_facts(root, machine.kernel)
    dimms = read_dimms(root)
    facts = read_facts(root)
    idle_driver, idle = read_idle(root, online[0])
    gaps = [hwloc] if isinstance(hwloc, MissingReading) else []
    frequencies = read_frequencies(root)
    gaps += _gaps(root, kernel, dimms, machine)
    gaps += () if frequencies else (_no_frequencies(machine),)
    return Inventory(
        topology=topology,
        topology_source=source,
        model=read_model(root),
        caches=caches,
        smt=Smt(
            threads_per_core=max(len(cpu.siblings) for cpu in machine.cpus),
            control=root.read_text("/sys/devices/system/cpu/smt/control") or None,
        ),
        speeds=speeds,
        pools=read_pools(root, nodes),
        mthp=read_mthp(root),
        frequencies=frequencies,
        idle_driver=idle_driver,
        idle_states=idle,
        control_groups=read_control(root, machine.cgroup, facts.writable if facts else {}),
        kernel=kernel,
        microcode=read_microcode(root, online),
        firmware=read_firmware(root),
        pci=read_pci(root, names),
        devices=read_devices(root),
        dimms=dimms,
        libraries=(
            tuple(
                Library(name=name, path=path, version=version)
                for name, (path, version) in facts.library_versions.items()
            )
            if facts
            else read_libraries(root, machine.libraries, machine.arch)
        ),
        limits=read_limits(root, read_cgroups(root)),
        unavailable=tuple(gaps),
    )


def _gaps(
    root: Root, kernel: Kernel, dimms: tuple[Dimm, ...], machine: Machine
) -> list[MissingReading]:
    """Return the values that could not be read here, but can be on other hosts."""
    found = []
    if not dimms and dimm_entries(root):
        found.append(
            MissingReading(
                reading="memory modules",
                reason="only root can read the firmware's tables",
                remedy="Run the command as root.",
            )
        )
    elif not dimms and machine.hypervisor is None:
        found.append(
            MissingReading(
                reading="memory modules", reason="the kernel provides no tables of the firmware"
            )
        )
    if kernel.config_file is None:
        found.append(
            MissingReading(
                reading="kernel configuration",
                reason="neither /proc/config.gz nor /boot/config-RELEASE can be read",
                remedy="Run `modprobe configs` if that is a module.",
            )
        )
    return found


def _no_frequencies(machine: Machine) -> MissingReading:
    why = "the kernel provides no cpufreq files"
    if machine.hypervisor is not None:
        return MissingReading(
            reading="frequencies", reason=f"{why}; in most guests the host controls frequencies"
        )
    return MissingReading(reading="frequencies", reason=why, remedy="A cpufreq driver is required.")
