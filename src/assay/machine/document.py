"""Machine: knowledge about a host, as one versioned document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from assay.records.codec import SCHEMA, Record


class Cpu(Record, frozen=True, kw_only=True):
    """A logical CPU that is online.

    Attributes:
        id: number of the CPU in the kernel.
        core: smallest CPU number among its SMT siblings: ``core_id`` alone is not unique.
        siblings: CPUs of the same core, itself included, ascending.
        package: number of its package.
        die: number of its die within the package.
        node: number of its NUMA node.
        l3: smallest CPU number that shares its last-level cache; absent if unknown.
        max_khz: highest frequency, in kHz, if the kernel reports it.
        kind: ``performance`` or ``efficiency`` on hybrid processors.
    """

    id: int
    core: int
    siblings: tuple[int, ...]
    package: int = 0
    die: int = 0
    node: int = 0
    l3: int | None = None
    max_khz: int | None = None
    kind: str | None = None


class Node(Record, frozen=True, kw_only=True):
    """A NUMA node.

    Attributes:
        id: number of the node in the kernel.
        cpus: numbers of its CPUs; empty for nodes with memory only.
        memory_bytes: size of its memory, in bytes.
        distances: relative distances to all nodes, in their order; 10 is local memory.
        kind: kind of its memory: ``dram``, ``hbm``, ``cxl`` or ``pmem``, if known.
    """

    id: int
    cpus: tuple[int, ...]
    memory_bytes: int
    distances: tuple[int, ...] = ()
    kind: str | None = None


class HugePages(Record, frozen=True, kw_only=True):
    """System-wide configuration of transparent huge pages; empty if the kernel lacks them.

    Attributes:
        enabled: mode: ``always``, ``madvise`` or ``never``.
        defrag: mode of compaction on allocation, such as ``madvise`` or ``defer``.
        size_bytes: size of a huge page, in bytes.
    """

    enabled: str | None = None
    defrag: str | None = None
    size_bytes: int | None = None


class Boot(Record, frozen=True, kw_only=True):
    """State of the boot.

    Attributes:
        id: twelve hexadecimal digits that identify the boot; absent in a recorded tree.
        arguments: words of the kernel's command line, before the part for init. Values of arguments
            that assay does not know are short digests (assay.machine.boot): some are secrets.
        files: content of files that show the effects of boot arguments, by path.
        config: options of the kernel's configuration that affect performance (``HZ`` -> ``250``);
            empty if they cannot be read, or were not requested.
        firmware: values of the firmware, by setting.
        firmware_sources: file or command that reports the value; absent if the user stated it.
    """

    id: str | None = None
    arguments: tuple[str, ...] = ()
    files: dict[str, str] = {}
    config: dict[str, str] = {}
    firmware: dict[str, str] = {}
    firmware_sources: dict[str, str] = {}


class Rights(Record, frozen=True, kw_only=True):
    """Privileges of this process, as far as they can be read.

    Attributes:
        uid: effective user id.
        capabilities: capabilities such as ``CAP_SYS_NICE``; in a user namespace they apply to its
            resources, not to the host.
        user_namespace: true in a user namespace other than the initial one.
        min_nice: lowest permitted nice value.
        nice: current nice value.
        max_rt_priority: highest permitted priority of the classes ``fifo`` and ``rr`` (0: none).
        call_filters: true if the kernel supports filters of system calls (seccomp).
        user_namespaces_unavailable: reason why unprivileged users cannot create user namespaces, if
            so.
    """

    uid: int
    capabilities: frozenset[str] = frozenset()
    user_namespace: bool = False
    min_nice: int = 0
    nice: int = 0
    max_rt_priority: int = 0
    call_filters: bool = True
    user_namespaces_unavailable: str | None = None


class CpuRestriction(Record, frozen=True, kw_only=True):
    """Affinity mask at the start of assay, if it excludes CPUs.

    Attributes:
        granted_cpus: CPUs that the host or the cpuset grants.
        launcher: launcher that set the mask, if known: ``Open MPI``, ``MPICH``, ``Slurm``.
    """

    granted_cpus: tuple[int, ...]
    launcher: str | None = None


class Machine(Record, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """A host.

    Attributes:
        arch: architecture, as printed by ``uname -m``.
        kernel: release of the kernel.
        kernel_version: first two numbers of the release of the kernel.
        model: name of the processor.
        cpus: every online CPU, ascending.
        allowed_cpus: CPUs that assay itself may use: cpuset and affinity; placement stays within.
        nodes: NUMA nodes with memory or CPUs.
        rights: privileges of this process.
        flags: processor feature flags as the kernel names them.
        libraries: shared objects found for known names (``jemalloc`` -> path).
        huge_pages: configuration of transparent huge pages.
        memory_bytes: memory of the host, in bytes.
        memory_limit_bytes: memory limit of the control group, in bytes, if it is lower.
        cpu_limit: limit of the control group on CPU time, in CPUs, if it is less than
            ``allowed_cpus``: more threads are throttled.
        rt_share: share of CPU time for real-time programs (``sched_rt_runtime_us`` per
            ``sched_rt_period_us``), 1 if none is reserved for others.
        cgroup: ``v2``, ``hybrid``, ``v1`` or ``none``.
        hypervisor: name of the hypervisor, if the host is a guest.
        default_state: readings that define *the default* (THP mode, governor, swappiness ...); a
            resumed study compares them.
        system_files: content of the files with the system's configuration, by path
            (assay.machine.tunables); directories with their numbered members.
        boot: state of the boot.
        cpu_restriction: reduction of ``allowed_cpus`` by the affinity mask of the caller; absent if
            only a cpuset reduces them.
    """

    arch: str
    kernel: str
    kernel_version: tuple[int, int]
    model: str
    cpus: tuple[Cpu, ...]
    allowed_cpus: tuple[int, ...]
    nodes: tuple[Node, ...]
    rights: Rights
    flags: frozenset[str] = frozenset()
    libraries: dict[str, str] = {}
    huge_pages: HugePages = HugePages()
    memory_bytes: int = 0
    memory_limit_bytes: int | None = None
    cpu_limit: float | None = None
    rt_share: float | None = None
    cgroup: str = "none"
    hypervisor: str | None = None
    default_state: dict[str, str] = {}
    system_files: dict[str, str] = {}
    boot: Boot = Boot()
    cpu_restriction: CpuRestriction | None = None

    @property
    def usable(self) -> tuple[Cpu, ...]:
        """CPUs on which assay may place work."""
        allowed = set(self.allowed_cpus)
        return tuple(cpu for cpu in self.cpus if cpu.id in allowed)

    @property
    def cores(self) -> tuple[int, ...]:
        """Cores with at least one usable CPU."""
        return tuple(sorted({cpu.core for cpu in self.usable}))


class Program(Record, frozen=True, kw_only=True):
    """Dependencies of a command.

    Attributes:
        argv0: the given word.
        path: file of the program, behind wrappers; ``None`` if none was found.
        through: removed wrappers (``nice``, ``env`` ...), outermost first.
        kind: ``elf``, ``script`` or ``unknown``.
        interpreter: name of a script's interpreter (``python3``), else ``None``.
        static: true for an ELF file without a dynamic loader; nothing can be preloaded into it.
        loader: its dynamic loader; a preloaded library must be built for it.
        elf_machine, elf_bits: machine of its file (``e_machine``) and bits of its class (32 or 64);
            0 if it is not an ELF file.
        sanitizers: sanitizers that it is built with, as in ``-fsanitize=``: ``address``,
            ``hwaddress``, ``thread``, ``memory``, ``leak``.
        sanitizers_seen: further ones whose runtimes a launch mapped: from a module that it loads,
            or from the program that a script executes.
        libraries: paths of shared objects that it links or was seen to map, sorted.
        packages: Python packages that it imports.
        runtimes: relevant runtimes inside: ``gomp``, ``iomp``, ``llvm-omp``, ``openblas``, ``mkl``,
            ``blis``, ``tbb``, ``onednn``, ``rayon``, ``go``, ``xz``, ``zstd``, ``pigz``, and
            allocators by their setting's value.
        threads_peak: highest number of threads in a launch, if one was made.
        peak_anon_bytes: highest anonymous memory in a launch, if one was made.
        digest: identity of the program: over its file, the script that it runs and the modules
            beside that, in full; its shared libraries, by path, size and time; its imported
            packages, by version. If there is only the file, its sha256.
        files: its file, behind wrappers, and the script.
        reasons: evidence of each runtime.
        missing: word of the command that is not a program, if ``path`` is absent.
    """

    argv0: str
    path: str | None = None
    through: tuple[str, ...] = ()
    kind: str = "unknown"
    interpreter: str | None = None
    static: bool = False
    loader: str | None = None
    elf_machine: int = 0
    elf_bits: int = 0
    sanitizers: tuple[str, ...] = ()
    sanitizers_seen: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    runtimes: frozenset[str] = frozenset()
    threads_peak: int | None = None
    peak_anon_bytes: int | None = None
    digest: str | None = None
    files: tuple[str, ...] = ()
    reasons: dict[str, str] = {}
    missing: str | None = None


def machine_in(document: Mapping[str, Any]) -> Machine | None:
    """Return the machine of a document, such as the ``host`` of a stratum.

    Returns:
        ``None`` if the document is empty, as in imported studies, or of an unsupported version.
    """
    try:
        return msgspec.convert(document, Machine) if document else None
    except msgspec.ValidationError:
        return None
