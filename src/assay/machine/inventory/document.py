"""Inventory: hardware and configuration of a host, as one versioned document."""

from __future__ import annotations

from assay.records.codec import SCHEMA, Record


class Part(Record, frozen=True, kw_only=True):
    """A part of the machine with the parts within it, as drawn by lstopo.

    Attributes:
        kind: ``machine``, ``group``, ``package``, ``die``, ``l5`` to ``l1``, ``l1i`` ... ``core``,
            ``cpu``, ``node`` (memory), ``memcache`` (a cache before memory).
        id: the kernel's number, if it has one.
        name: another name, such as the model of a package or ``Cluster``.
        cpus: online CPUs in it, ascending; empty for memory without CPUs.
        size_bytes: size of a cache or of memory.
        memory: attached memory: parts of kind ``node`` and ``memcache``.
        children: parts within it.
    """

    kind: str
    id: int | None = None
    name: str | None = None
    cpus: tuple[int, ...] = ()
    size_bytes: int | None = None
    memory: tuple[Part, ...] = ()
    children: tuple[Part, ...] = ()


class Cache(Record, frozen=True, kw_only=True):
    """Caches of one make.

    Attributes:
        level: level; 1 is nearest to the CPU.
        kind: ``unified``, ``data`` or ``instruction``.
        size_bytes, line_bytes, associativity: properties of each, if the kernel reports them.
        shared_by: for each cache the CPUs that share it, ascending.
    """

    level: int
    kind: str
    size_bytes: int | None = None
    line_bytes: int | None = None
    associativity: int | None = None
    shared_by: tuple[tuple[int, ...], ...] = ()


class NodeSpeed(Record, frozen=True, kw_only=True):
    """Memory performance of a node by its firmware (ACPI HMAT), from its nearest CPUs."""

    node: int
    read_mb_s: int | None = None
    write_mb_s: int | None = None
    read_latency_ns: int | None = None
    write_latency_ns: int | None = None
    side_cache_bytes: int | None = None


class Pool(Record, frozen=True, kw_only=True):
    """A pool of huge pages of one size, of the host or of one node.

    ``pages`` are in the pool, ``free`` of them unused, ``overcommit`` may be added on demand.
    """

    size_bytes: int
    node: int | None = None
    pages: int = 0
    free: int = 0
    overcommit: int | None = None


class Model(Record, frozen=True, kw_only=True):
    """Identification of the first processor, as written by the kernel.

    Attributes:
        vendor, family, number, stepping: on arm64 ``number`` is the part, and ``stepping`` its
            variant and revision as ``r1p2``.
        mhz: frequency in ``/proc/cpuinfo``, which is the current one with frequency scaling.
        clock_source: clock source of the kernel.
        clock_sources: available clock sources.
    """

    vendor: str | None = None
    family: str | None = None
    number: str | None = None
    stepping: str | None = None
    mhz: float | None = None
    clock_source: str | None = None
    clock_sources: tuple[str, ...] = ()


class Smt(Record, frozen=True, kw_only=True):
    """SMT; ``control`` is the state of the kernel (``on``, ``off``, ``notsupported`` ...)."""

    threads_per_core: int
    control: str | None = None


class Frequency(Record, frozen=True, kw_only=True):
    """CPUs with the same frequency properties; frequencies in kHz, if the kernel reports them."""

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
    """An idle state of CPUs, with its exit latency; ``disabled`` on CPU 0."""

    name: str
    exit_latency_us: int | None = None
    disabled: bool = False


class Hierarchy(Record, frozen=True, kw_only=True):
    """A hierarchy of control groups.

    Attributes:
        version: 1 or 2.
        controllers: controllers of the hierarchy; for v2 those available to this group.
        group: name of the group of this process.
        delegated_controllers: controllers that the group enables for its children (v2).
        writable: true if this user may create groups below it; absent if unknown.
    """

    version: int
    controllers: tuple[str, ...] = ()
    group: str | None = None
    delegated_controllers: tuple[str, ...] = ()
    writable: bool | None = None


class Control(Record, frozen=True, kw_only=True):
    """Control groups; ``mode`` is ``v2``, ``hybrid``, ``v1`` or ``none``."""

    mode: str
    hierarchies: tuple[Hierarchy, ...] = ()


class Kernel(Record, frozen=True, kw_only=True):
    """The running kernel.

    Attributes:
        release, build: output of ``uname -r`` and ``uname -v``.
        command_line: words of the boot; possible secrets are reduced to the name.
        config: options of its configuration that affect performance, ``NO_HZ_FULL`` -> ``y``; an
            unset option is ``n``.
        config_file: file of the configuration.
        preemption: active preemption model, if it can be read.
        mitigations: vulnerability of the processor -> mitigation by the kernel.
    """

    release: str
    build: str | None = None
    command_line: tuple[str, ...] = ()
    config: dict[str, str] = {}
    config_file: str | None = None
    preemption: str | None = None
    mitigations: dict[str, str] = {}


class Firmware(Record, frozen=True, kw_only=True):
    """Identification of board and firmware, without serial numbers."""

    vendor: str | None = None
    product: str | None = None
    board: str | None = None
    version: str | None = None
    date: str | None = None


class Link(Record, frozen=True, kw_only=True):
    """A PCI Express link: speeds in GT/s per lane, widths in lanes.

    ``card`` and ``slot`` are the maxima of both ends; ``below_maximum`` is true if the link is
    slower or narrower than both support, which may only mean that the device is idle.
    """

    speed_gt_s: float
    width: int
    card_speed_gt_s: float | None = None
    card_width: int | None = None
    slot_speed_gt_s: float | None = None
    slot_width: int | None = None
    below_maximum: bool = False


class Pci(Record, frozen=True, kw_only=True):
    """A PCI device.

    Attributes:
        address: address such as ``0000:41:00.0``.
        parent: address of the bridge above it; absent directly below the root.
        kind: class in words.
        ids: vendor and device such as ``8086:1572``.
        vendor, product: names, if a table of names is installed.
        driver: its driver.
        node, cpus: nearest node and CPUs, if the kernel reports them.
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
    """A device from the view of programs: a GPU, a disk, a network card.

    Attributes:
        kind: ``gpu``, ``disk``, ``network`` or ``fabric`` (InfiniBand and similar).
        name: the kernel's name; ``gpu0`` ... for GPUs.
        address: address of its PCI device.
        model: model reported by the device.
        node, cpus: nearest node and CPUs, if the kernel reports them.
        size_bytes, rotational, scheduler: properties of a disk.
        speed_mbit_s: speed of a network card that is up.
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
    """A memory slot (SMBIOS type 17); ``size_bytes`` is 0 for an empty slot.

    ``rated_mt_s`` is the maximum speed of the module, ``speed_mt_s`` the configured one.
    """

    slot: str
    bank: str | None = None
    size_bytes: int = 0
    type: str | None = None
    rated_mt_s: int | None = None
    speed_mt_s: int | None = None
    ranks: int | None = None
    manufacturer: str | None = None
    part_number: str | None = None


class Library(Record, frozen=True, kw_only=True):
    """A shared library, with the version in its file or its name."""

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
    """Limits of this process.

    Attributes:
        affinity: CPUs of its affinity mask.
        nodes: NUMA nodes from which it may allocate memory.
        cpuset: CPUs of its control group.
        memory_bytes, cpus: lowest limits of its control groups.
        thp_disabled: true if transparent huge pages are disabled for it (``PR_SET_THP_DISABLE``).
        no_new_privileges, seccomp: values in ``/proc/self/status``.
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
    """A value that could not be read, with the reason and a remedy."""

    reading: str
    reason: str
    remedy: str | None = None


class Inventory(Record, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """A host in detail.

    Attributes:
        topology: tree of the parts of the machine.
        topology_source: ``hwloc`` with its version, or ``assay``.
        microcode: version, several joined by commas if CPUs differ.
        mthp: size in bytes -> mode of transparent huge pages of that size, if supported.
        unavailable: values that could not be read.
    """

    topology: Part
    topology_source: str
    model: Model = Model()
    caches: tuple[Cache, ...] = ()
    smt: Smt | None = None
    speeds: tuple[NodeSpeed, ...] = ()
    pools: tuple[Pool, ...] = ()
    mthp: dict[str, str] = {}
    frequencies: tuple[Frequency, ...] = ()
    idle_driver: str | None = None
    idle_states: tuple[IdleState, ...] = ()
    control_groups: Control
    kernel: Kernel
    microcode: str | None = None
    firmware: Firmware = Firmware()
    pci: tuple[Pci, ...] = ()
    devices: tuple[Device, ...] = ()
    dimms: tuple[Dimm, ...] = ()
    libraries: tuple[Library, ...] = ()
    limits: Limits = Limits()
    unavailable: tuple[MissingReading, ...] = ()
