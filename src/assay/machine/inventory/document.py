"""Inventory: what a host is made of and how it is set, as one versioned document."""

from __future__ import annotations

from assay.records.codec import Record


class Part(Record, frozen=True, kw_only=True):
    """A part of the machine with the parts within it, as lstopo draws them.

    Attributes:
        kind: ``machine``, ``group``, ``package``, ``die``, ``l5`` to ``l1``, ``l1i`` ... ``core``,
            ``cpu``, ``node`` (memory), ``memcache`` (a cache before memory).
        id: the kernel's number, where it has one.
        name: what else it is called, such as the model of a package or ``Cluster``.
        cpus: online CPUs in it, ascending; none of memory without CPUs.
        size_bytes: of a cache or of memory.
        memory: memory that belongs to it: parts of kind ``node`` and ``memcache``.
        parts: what is within it.
    """

    kind: str
    id: int | None = None
    name: str | None = None
    cpus: tuple[int, ...] = ()
    size_bytes: int | None = None
    memory: tuple[Part, ...] = ()
    parts: tuple[Part, ...] = ()


class Cache(Record, frozen=True, kw_only=True):
    """Caches of one make.

    Attributes:
        level: 1 is nearest to the CPU.
        kind: ``unified``, ``data`` or ``instruction``.
        size_bytes, line_bytes, ways: of each, where the kernel says it.
        shared_by: for each of them the CPUs that it serves, ascending.
    """

    level: int
    kind: str
    size_bytes: int | None = None
    line_bytes: int | None = None
    ways: int | None = None
    shared_by: tuple[tuple[int, ...], ...] = ()


class NodeSpeed(Record, frozen=True, kw_only=True):
    """What the firmware (ACPI HMAT) says of a node's memory, seen from its nearest CPUs."""

    node: int
    read_mb_s: int | None = None
    write_mb_s: int | None = None
    read_latency_ns: int | None = None
    write_latency_ns: int | None = None
    side_cache_bytes: int | None = None


class Pool(Record, frozen=True, kw_only=True):
    """Huge pages of one size that are set aside, of the host or of one node.

    ``pages`` are in the pool now, ``free`` of them unused, ``overcommit`` may come on demand.
    """

    size_bytes: int
    node: int | None = None
    pages: int = 0
    free: int = 0
    overcommit: int | None = None


class Model(Record, frozen=True, kw_only=True):
    """The first processor by its numbers, as the kernel writes them.

    Attributes:
        vendor, family, number, stepping: of arm64 ``number`` is the part, and ``stepping`` its
            variant and revision as ``r1p2``.
        mhz: as ``/proc/cpuinfo`` says, which is a moment's frequency where the kernel scales it.
        clock_source: by which the kernel tells the time.
        clock_sources: that it could use.
    """

    vendor: str | None = None
    family: str | None = None
    number: str | None = None
    stepping: str | None = None
    mhz: float | None = None
    clock_source: str | None = None
    clock_sources: tuple[str, ...] = ()


class Smt(Record, frozen=True, kw_only=True):
    """``control`` as the kernel has it (``on``, ``off``, ``notsupported`` ...)."""

    threads_per_core: int
    control: str | None = None


class Frequency(Record, frozen=True, kw_only=True):
    """CPUs that are clocked alike; frequencies in kHz, where the kernel says them."""

    cpus: tuple[int, ...]
    driver: str | None = None
    governor: str | None = None
    preference: str | None = None
    min_khz: int | None = None
    max_khz: int | None = None
    base_khz: int | None = None
    limit_low_khz: int | None = None
    limit_high_khz: int | None = None


class IdleState(Record, frozen=True, kw_only=True):
    """A state that an idle CPU may enter, with the time to leave it; ``disabled`` on CPU 0."""

    name: str
    exit_latency_us: int | None = None
    disabled: bool = False


class Hierarchy(Record, frozen=True, kw_only=True):
    """One tree of control groups.

    Attributes:
        version: 1 or 2.
        controllers: those of the hierarchy; of v2 those that the own group may use.
        group: where this process is in it, as the kernel names it.
        handed_down: controllers that the own group hands to groups below it (v2).
        writable: whether this user may make groups below the own one; absent where it is not known.
    """

    version: int
    controllers: tuple[str, ...] = ()
    group: str | None = None
    handed_down: tuple[str, ...] = ()
    writable: bool | None = None


class Control(Record, frozen=True, kw_only=True):
    """Control groups; ``mode`` is ``v2``, ``hybrid``, ``v1`` or ``none``."""

    mode: str
    hierarchies: tuple[Hierarchy, ...] = ()


class Kernel(Record, frozen=True, kw_only=True):
    """The running kernel.

    Attributes:
        release, build: as ``uname -r`` and ``uname -v`` say.
        command_line: words of the boot; of those that may hold a secret only the name.
        config: options of its configuration that bear on speed, ``NO_HZ_FULL`` -> ``y``; one that
            is not set has ``n``.
        config_file: where that was read.
        preemption: the model in force, where it can be read.
        mitigations: weakness of the processor -> what the kernel does about it.
    """

    release: str
    build: str | None = None
    command_line: tuple[str, ...] = ()
    config: dict[str, str] = {}
    config_file: str | None = None
    preemption: str | None = None
    mitigations: dict[str, str] = {}


class Firmware(Record, frozen=True, kw_only=True):
    """What the board says of itself; no serial numbers."""

    vendor: str | None = None
    product: str | None = None
    board: str | None = None
    version: str | None = None
    date: str | None = None


class Link(Record, frozen=True, kw_only=True):
    """A PCI Express link: speeds in GT/s for each lane, widths in lanes.

    ``card`` and ``slot`` are what either end can do; ``below`` says that it runs slower or
    narrower than both can, which for some devices only means that they are idle.
    """

    speed_gt_s: float
    width: int
    card_speed_gt_s: float | None = None
    card_width: int | None = None
    slot_speed_gt_s: float | None = None
    slot_width: int | None = None
    below: bool = False


class Pci(Record, frozen=True, kw_only=True):
    """One PCI device.

    Attributes:
        address: as ``0000:41:00.0``.
        parent: address of the bridge that it is behind; none directly below the root.
        kind: the class in words.
        ids: vendor and device as ``8086:1572``.
        vendor, product: their names, where a table of names is installed.
        driver: that serves it.
        node, cpus: nearest, as far as the kernel tells.
    """

    address: str
    parent: str | None = None
    kind: str
    ids: str
    vendor: str | None = None
    product: str | None = None
    driver: str | None = None
    node: int | None = None
    cpus: tuple[int, ...] = ()
    link: Link | None = None


class Device(Record, frozen=True, kw_only=True):
    """What programs use of a device: a GPU, a disk, a network card.

    Attributes:
        kind: ``gpu``, ``disk``, ``network`` or ``fabric`` (InfiniBand and its like).
        name: the kernel's name; ``gpu0`` ... for GPUs.
        address: of the PCI device that it is part of.
        model: as the device says.
        node, cpus: nearest, as far as the kernel tells.
        size_bytes, rotational, scheduler: of a disk.
        speed_mbit_s: of a network card that is up.
    """

    kind: str
    name: str
    address: str | None = None
    model: str | None = None
    node: int | None = None
    cpus: tuple[int, ...] = ()
    size_bytes: int | None = None
    rotational: bool | None = None
    scheduler: str | None = None
    speed_mbit_s: int | None = None


class Dimm(Record, frozen=True, kw_only=True):
    """A slot for memory (SMBIOS type 17); ``size_bytes`` is 0 where it is empty.

    ``rated_mt_s`` is what the module can, ``speed_mt_s`` what it runs at.
    """

    slot: str
    bank: str | None = None
    size_bytes: int = 0
    type: str | None = None
    rated_mt_s: int | None = None
    speed_mt_s: int | None = None
    ranks: int | None = None
    maker: str | None = None
    part: str | None = None


class Library(Record, frozen=True, kw_only=True):
    """A shared library, with the version that its file or its name tells."""

    name: str
    path: str
    version: str | None = None


class Limit(Record, frozen=True, kw_only=True):
    """A resource limit of this process (``getrlimit(2)``); absent means unlimited."""

    name: str
    unit: str | None = None
    soft: int | None = None
    hard: int | None = None


class Limits(Record, frozen=True, kw_only=True):
    """What is put on this very process.

    Attributes:
        affinity: CPUs that it may run on.
        nodes: NUMA nodes that it may take memory from.
        cpuset: CPUs that its control group leaves.
        memory_bytes, cpus: the lowest limits of its control groups.
        thp_disabled: it may have no transparent huge pages (``PR_SET_THP_DISABLE``).
        no_new_privileges, seccomp: as ``/proc/self/status`` says.
        resources: all resource limits.
    """

    affinity: tuple[int, ...] = ()
    nodes: tuple[int, ...] = ()
    cpuset: tuple[int, ...] | None = None
    memory_bytes: int | None = None
    cpus: float | None = None
    thp_disabled: bool | None = None
    no_new_privileges: bool | None = None
    seccomp: bool | None = None
    resources: tuple[Limit, ...] = ()


class MissingReading(Record, frozen=True, kw_only=True):
    """Something that could not be read, why, and what would bring it."""

    what: str
    why: str
    remedy: str | None = None


class Inventory(Record, frozen=True, kw_only=True, tag_field="schema", tag=1):
    """One host in detail.

    Attributes:
        topology: the parts of the machine.
        topology_from: ``hwloc`` with its version, or ``assay``.
        microcode: version, several joined by commas where CPUs differ.
        mthp: size in bytes -> setting of transparent huge pages of that size, where there are any.
        gaps: what could not be read.
    """

    topology: Part
    topology_from: str
    model: Model = Model()
    caches: tuple[Cache, ...] = ()
    smt: Smt | None = None
    speeds: tuple[NodeSpeed, ...] = ()
    pools: tuple[Pool, ...] = ()
    mthp: dict[str, str] = {}
    frequencies: tuple[Frequency, ...] = ()
    idle_driver: str | None = None
    idle: tuple[IdleState, ...] = ()
    control: Control
    kernel: Kernel
    microcode: str | None = None
    firmware: Firmware = Firmware()
    pci: tuple[Pci, ...] = ()
    devices: tuple[Device, ...] = ()
    dimms: tuple[Dimm, ...] = ()
    libraries: tuple[Library, ...] = ()
    limits: Limits = Limits()
    gaps: tuple[MissingReading, ...] = ()
