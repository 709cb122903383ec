"""Reader of a host as a Machine document."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import TypeVar

from assay.machine.boot_state import read_boot
from assay.machine.cgroup import Cgroups, read_cgroups
from assay.machine.cpu_restriction import read_restriction
from assay.machine.document import Boot, Machine
from assay.machine.processor import read_kernel, read_processor
from assay.machine.programs.libraries import find_libraries
from assay.machine.remembered_root import remembered
from assay.machine.rights import read_rights, read_rt_share
from assay.machine.root import Root
from assay.machine.snapshot_facts import read_facts
from assay.machine.state import read_default_state, read_huge_pages, read_hypervisor
from assay.machine.topology import Topology, read_topology
from assay.machine.tunables import read_system

_Number = TypeVar("_Number", int, float)


def read_machine(
    root: Root | None = None,
    env: Mapping[str, str] | None = None,
    affinity: Iterable[int] | None = None,
    *,
    status: str | None = None,
    system: bool = True,
    config: bool = False,
) -> Machine:
    """Return the data about a host: topology, state, privileges, libraries.

    Args:
        root: root of the host; by default the running one.
        env: environment with search paths of libraries; by default that of this process on the
            running host, empty for a recorded tree.
        affinity: CPUs of this process; by default from the kernel on the running host, from the
            recording process in a snapshot, all CPUs for other trees.
        status: source of the privileges, as for ``read_rights``.
        system: true to read the state of the boot and the files with the system's configuration, of
            which large hosts have thousands; without them no system setting is available.
        config: true to read the configuration of the kernel too, with ``system`` (milliseconds).
    """
    with remembered(root or Root()) as once:
        return _machine(once, env, affinity, status, system=system, config=config)


def _machine(
    root: Root,
    env: Mapping[str, str] | None,
    affinity: Iterable[int] | None,
    status: str | None,
    *,
    system: bool,
    config: bool,
) -> Machine:
    if env is None:
        env = os.environ if root.live else {}
    facts = read_facts(root)
    if affinity is None and root.live:
        affinity = os.sched_getaffinity(0)
    elif affinity is None and facts is not None:
        affinity = facts.affinity
    kernel = read_kernel(root)
    processor = read_processor(root)
    cgroups = read_cgroups(root)
    memory_bytes = _memory_bytes(root)
    topology = read_topology(root, memory_bytes)
    memory_bytes = memory_bytes or sum(node.memory_bytes for node in topology.nodes)
    allowed = _allowed(topology, cgroups, affinity)
    granted = _allowed(topology, cgroups, None)
    return Machine(
        arch=kernel.arch,
        kernel=kernel.release,
        kernel_version=kernel.version,
        model=processor.model,
        cpus=topology.cpus,
        allowed_cpus=allowed,
        nodes=topology.nodes,
        rights=read_rights(root, status),
        flags=processor.flags,
        libraries=facts.libraries if facts else find_libraries(root, env, kernel.arch),
        huge_pages=read_huge_pages(root),
        memory_bytes=memory_bytes,
        memory_limit_bytes=_if_less(cgroups.memory_limit_bytes, memory_bytes),
        cpu_limit=_if_less(cgroups.cpu_limit, len(allowed)),
        rt_share=read_rt_share(root),
        cgroup=cgroups.mode,
        hypervisor=read_hypervisor(root, processor.flags, kernel.arch),
        default_state=read_default_state(root),
        system_files=read_system(root) if system else {},
        boot=read_boot(root, kernel.release if config else None) if system else Boot(),
        cpu_restriction=None
        if allowed == granted
        else read_restriction(root, env, granted, allowed),
    )


def fingerprint(machine: Machine) -> str:
    """Return sixteen hexadecimal digits that identify the kind of host.

    Hosts of one kind have the same digits, which contain nothing that identifies one: processor,
    CPUs, memory to the GiB, architecture and major kernel version.
    """
    import hashlib

    parts = (
        machine.arch,
        machine.model,
        str(len(machine.cpus)),
        str(round(machine.memory_bytes / 2**30)),
        str(machine.kernel_version[0]),
    )
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _if_less(limit: _Number | None, whole: int) -> _Number | None:
    return limit if limit is not None and limit < whole else None


def _allowed(
    topology: Topology, cgroups: Cgroups, affinity: Iterable[int] | None
) -> tuple[int, ...]:
    """Return the online CPUs within affinity and cpuset; a limit without any is ignored."""
    allowed = {cpu.id for cpu in topology.cpus}
    for limit in (affinity, cgroups.cpus):
        if limit is not None:
            allowed = allowed & set(limit) or allowed
    return tuple(sorted(allowed))


def _memory_bytes(root: Root) -> int:
    match = re.search(r"^MemTotal:\s*(\d+) kB", root.read_text("/proc/meminfo") or "", re.M)
    return int(match[1]) * 1024 if match else 0
