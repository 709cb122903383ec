"""Machine: what assay knows of a host, as one versioned document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from assay.records.codec import Record


class Cpu(Record, frozen=True, kw_only=True):
    """One logical CPU that is online.

    Attributes:
        id: the kernel's number.
        core: smallest CPU number among its SMT siblings: ``core_id`` alone is not unique.
        siblings: CPUs of the same core, itself included, ascending.
        package, die, node, l3: numbers of what it belongs to; ``die`` counts within its package,
            ``l3`` is the smallest CPU number that shares the last-level cache, absent where the
            kernel does not say.
        max_khz: highest frequency, where the kernel says it.
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
    """One NUMA node; ``cpus`` is empty for memory-only nodes.

    ``kind`` is that of its memory: ``dram``, ``hbm``, ``cxl`` or ``pmem``, where it can be told.
    """

    id: int
    cpus: tuple[int, ...]
    memory_bytes: int
    distances: tuple[int, ...] = ()
    kind: str | None = None


class HugePages(Record, frozen=True, kw_only=True):
    """Transparent huge pages as the system has them set; absent where the kernel lacks them."""

    enabled: str | None = None
    defrag: str | None = None
    size_bytes: int | None = None


class Boot(Record, frozen=True, kw_only=True):
    """How the running kernel was booted.

    Attributes:
        id: twelve hexadecimal digits that tell one boot from another; absent in a recorded tree.
        words: of the kernel's command line, before the part that is for init. Values of arguments
            that assay does not know are short digests (assay.machine.boot): some are secrets.
        found: text of files that show what boot arguments came to, by path.
        config: options of the kernel's configuration that bear on speed (``HZ`` -> ``250``); empty
            where they cannot be read, or were not asked for.
        said: what is said of the firmware, by setting.
        witnesses: the file or command that says it; where absent the user does.
    """

    id: str | None = None
    words: tuple[str, ...] = ()
    found: dict[str, str] = {}
    config: dict[str, str] = {}
    said: dict[str, str] = {}
    witnesses: dict[str, str] = {}


class Rights(Record, frozen=True, kw_only=True):
    """What this process may do, as far as it can be read without trying.

    ``nice_floor`` is the lowest nice value that can be asked for, ``rt_priority_limit`` the highest
    priority of the classes ``fifo`` and ``rr`` (0: none). In a ``user_namespace`` other
    than the first, ``capabilities`` (``CAP_SYS_NICE`` ...) hold for what belongs to it, not for
    the host. Without ``call_filters`` the kernel has no filters of system calls (seccomp);
    ``no_user_namespaces`` says why somebody without rights gets none, where that is so.
    """

    uid: int
    capabilities: frozenset[str] = frozenset()
    user_namespace: bool = False
    nice_floor: int = 0
    nice_now: int = 0
    rt_priority_limit: int = 0
    call_filters: bool = True
    no_user_namespaces: str | None = None


class CpuRestriction(Record, frozen=True, kw_only=True):
    """The mask with which assay was started, where it leaves fewer CPUs than there are.

    Attributes:
        granted: CPUs that the host or the cpuset grants.
        by: the launcher that set the mask, where it is known: ``Open MPI``, ``MPICH``, ``Slurm``.
    """

    granted: tuple[int, ...]
    by: str | None = None


class Machine(Record, frozen=True, kw_only=True, tag_field="schema", tag=1):
    """One host.

    Attributes:
        arch: as ``uname -m`` says.
        kernel: release text; ``kernel_version`` its first two numbers.
        model: processor name.
        cpus: every online CPU, ascending.
        allowed: CPUs that assay itself may use: cpuset and affinity; placement stays within.
        narrowed: there where the mask of the caller, and not a cpuset, makes ``allowed`` smaller.
        flags: processor feature flags as the kernel names them.
        libraries: shared objects found for known names (``jemalloc`` -> path).
        memory_bytes: of the host.
        memory_limit_bytes: what the control group leaves, where it is less.
        cpu_limit: how many CPUs' time the control group leaves, where it is less than ``allowed``:
            threads beyond it are throttled.
        rt_share: part of a CPU's time that real-time programs may have (``sched_rt_runtime_us``
            in ``sched_rt_period_us``), 1 where nothing is kept for others.
        cgroup: ``v2``, ``hybrid``, ``v1`` or ``none``.
        hypervisor: name where the host is a guest.
        default_state: readings that define *the default* (THP mode, governor, swappiness ...);
            a resumed study compares them.
        system: text of the files by which the system is set, by path (assay.machine.tunables);
            folders with their numbered members.
        boot: how the kernel was booted.
    """

    arch: str
    kernel: str
    kernel_version: tuple[int, int]
    model: str
    cpus: tuple[Cpu, ...]
    allowed: tuple[int, ...]
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
    system: dict[str, str] = {}
    boot: Boot = Boot()
    narrowed: CpuRestriction | None = None

    @property
    def usable(self) -> tuple[Cpu, ...]:
        """The CPUs that assay may place work on."""
        allowed = set(self.allowed)
        return tuple(cpu for cpu in self.cpus if cpu.id in allowed)

    @property
    def cores(self) -> tuple[int, ...]:
        """Cores with at least one usable CPU."""
        return tuple(sorted({cpu.core for cpu in self.usable}))


class Program(Record, frozen=True, kw_only=True):
    """What a command links to and needs.

    Attributes:
        argv0: the word that was given.
        path: the file that it resolves to, behind wrappers; ``None`` where none was found.
        through: wrappers that were looked through (``nice``, ``env`` ...), outermost first.
        kind: ``elf``, ``script`` or ``unknown``.
        interpreter: name of a script's interpreter (``python3``), else ``None``.
        static: an ELF file without a dynamic loader; nothing can be preloaded into it.
        loader: the dynamic loader that it asks for; what is preloaded must be made for it.
        elf_machine, elf_bits: for which machine its file is (``e_machine``) and bits of its class
            (32 or 64); 0 where it is no ELF file.
        sanitizers: those that it is built with, as in ``-fsanitize=``: ``address``, ``hwaddress``,
            ``thread``, ``memory``, ``leak``.
        sanitizers_seen: further ones whose runtimes a launch mapped: of a module that it loads, or
            of the program that a script becomes.
        libraries: paths of shared objects it links to or was seen to map, sorted.
        packages: Python packages that it was found to import.
        runtimes: what of interest is inside: ``gomp``, ``iomp``, ``llvm-omp``, ``openblas``,
            ``mkl``, ``blis``, ``tbb``, ``onednn``, ``rayon``, ``go``, ``xz``, ``zstd``, ``pigz``,
            and allocators by their setting's value.
        threads_peak: highest number of threads seen in a launch, where one was made.
        peak_anon_bytes: the same for memory.
        digest: says whether it is still the same program: over its file, the script that it runs
            and the modules beside that, whole; the shared libraries that it links to, by path, size
            and time; the packages that it imports, by version. The sha256 of the file, where that
            is all there is.
        files: what runs: its file, behind wrappers, and the script.
        reasons: for each runtime, where it was found.
        missing: the word of the command that names no program, where ``path`` is absent.
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
    """The machine that a document is of, as the ``host`` of a stratum is.

    Returns:
        ``None`` where it is empty, as of imported studies, or this version cannot read it.
    """
    try:
        return msgspec.convert(document, Machine) if document else None
    except msgspec.ValidationError:
        return None
