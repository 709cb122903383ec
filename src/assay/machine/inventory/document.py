"""Inventory: hardware and configuration of a host, as one versioned document."""

from __future__ import annotations

from assay.records.codec import SCHEMA, Record


class Part(Record, frozen=True, kw_only=True):
    """A part of the machine with the parts within it, as drawn by lstopo.

    Attributes:
        kind: kind of the part: ``machine``, ``group``, ``package``, ``die``, ``l5`` to ``l1``,
            ``l1i`` ... ``core``, ``cpu``, ``node`` (memory), ``memcache`` (a cache before memory).
        id: number of the part in the kernel, if it has one.
        name: another name, such as the model of a package or ``Cluster``.
        cpus: online CPUs in it, ascending; empty for memory without CPUs.
        size_bytes: size of a cache or of memory, in bytes.
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
    """Caches with the same properties.

    Attributes:
        level: level of the caches; 1 is nearest to the CPU.
        kind: kind of the content: ``unified``, ``data`` or ``instruction``.
        size_bytes: size of each cache, in bytes.
        line_bytes: size of a cache line, in bytes.
        associativity: number of ways of each set.
        shared_by: CPUs that share each cache, ascending.
    """

    level: int
    kind: str
    size_bytes: int | None = None
    line_bytes: int | None = None
    associativity: int | None = None
    shared_by: tuple[tuple[int, ...], ...] = ()


class NodeSpeed(Record, frozen=True, kw_only=True):
    """Memory performance of a node by its firmware (ACPI HMAT), from its nearest CPUs.

    Attributes:
        node: number of the NUMA node.
        read_mb_s: read bandwidth, in MB/s.
        write_mb_s: write bandwidth, in MB/s.
        read_latency_ns: read latency, in nanoseconds.
        write_latency_ns: write latency, in nanoseconds.
        side_cache_bytes: size of the memory-side caches, in bytes.
    """

    node: int
    read_mb_s: int | None = None
    write_mb_s: int | None = None
    read_latency_ns: int | None = None
    write_latency_ns: int | None = None
    side_cache_bytes: int | None = None


class Pool(Record, frozen=True, kw_only=True):
    """A pool of huge pages of one size, of the host or of one node.

    Attributes:
        size_bytes: size of a page, in bytes.
        node: number of the NUMA node; absent for the pool of the host.
        pages: number of pages in the pool.
        free: number of unused pages in the pool.
        overcommit: maximum number of pages that the kernel adds on demand.
    """

    size_bytes: int
    node: int | None = None
    pages: int = 0
    free: int = 0
    overcommit: int | None = None


class Model(Record, frozen=True, kw_only=True):
    """Identification of the first processor, as written by the kernel.

    Attributes:
        vendor: vendor, such as ``GenuineIntel``.
        family: number of the processor family.
        number: number of the model; on arm64 number of the part.
        stepping: stepping; on arm64 variant and revision, such as ``r1p2``.
        mhz: frequency in ``/proc/cpuinfo``, in MHz; the current one with frequency scaling.
        clock_source: clock source of the kernel.
        clock_sources: clock sources that the kernel offers.
    """

    vendor: str | None = None
    family: str | None = None
    number: str | None = None
    stepping: str | None = None
    mhz: float | None = None
    clock_source: str | None = None
    clock_sources: tuple[str, ...] = ()


class Smt(Record, frozen=True, kw_only=True):
    """Simultaneous multithreading (SMT).

    Attributes:
        threads_per_core: highest number of hardware threads of a core.
        control: state of the kernel's control: ``on``, ``off``, ``forceoff``, ``notsupported`` or
            ``notimplemented``.
    """

    threads_per_core: int
    control: str | None = None


class Frequency(Record, frozen=True, kw_only=True):
    """CPUs with the same frequency properties.

    Attributes:
        cpus: numbers of the CPUs, ascending.
        driver: driver of frequency scaling, such as ``intel_pstate``.
        governor: frequency governor, such as ``performance``.
        preference: preference between energy and performance (``energy_performance_preference``).
        min_khz: lowest frequency of the hardware, in kHz.
        max_khz: highest frequency of the hardware, in kHz.
        base_khz: base frequency, without turbo, in kHz.
        limit_low_khz: lower limit for the governor, in kHz.
        limit_high_khz: upper limit for the governor, in kHz.
    """

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
    """An idle state of the CPUs.

    Attributes:
        name: name of the state, such as ``C6``.
        exit_latency_us: time to leave the state, in microseconds.
        disabled: true if the state is disabled on CPU 0.
    """

    name: str
    exit_latency_us: int | None = None
    disabled: bool = False


class Hierarchy(Record, frozen=True, kw_only=True):
    """A hierarchy of control groups.

    Attributes:
        version: version of control groups: 1 or 2.
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
    """Control groups.

    Attributes:
        mode: mounted versions: ``v2``, ``hybrid``, ``v1`` or ``none``.
        hierarchies: mounted hierarchies, version 2 first.
    """

    mode: str
    hierarchies: tuple[Hierarchy, ...] = ()


class Kernel(Record, frozen=True, kw_only=True):
    """The running kernel.

    Attributes:
        release: release, as printed by ``uname -r``.
        build: build, as printed by ``uname -v``.
        command_line: words of the kernel's command line; possible secrets are reduced to the name.
        config: options of its configuration that affect performance, ``NO_HZ_FULL`` -> ``y``; an
            unset option is ``n``.
        config_file: path of the file with the configuration.
        preemption: active preemption model, if it can be read.
        mitigations: mitigation by the kernel of each vulnerability of the processor, by name.
    """

    release: str
    build: str | None = None
    command_line: tuple[str, ...] = ()
    config: dict[str, str] = {}
    config_file: str | None = None
    preemption: str | None = None
    mitigations: dict[str, str] = {}


class Firmware(Record, frozen=True, kw_only=True):
    """Identification of board and firmware, without serial numbers.

    Attributes:
        vendor: vendor of the system.
        product: product name of the system.
        board: vendor and name of the board.
        version: version of the firmware.
        date: date of the firmware, as it states it.
    """

    vendor: str | None = None
    product: str | None = None
    board: str | None = None
    version: str | None = None
    date: str | None = None


class Link(Record, frozen=True, kw_only=True):
    """A PCI Express link.

    Attributes:
        speed_gt_s: current speed of a lane, in GT/s.
        width: current number of lanes.
        card_speed_gt_s: maximum speed of a lane at the end of the device, in GT/s.
        card_width: maximum number of lanes at the end of the device.
        slot_speed_gt_s: maximum speed of a lane at the end of the slot, in GT/s.
        slot_width: maximum number of lanes at the end of the slot.
        below_maximum: true if the link is slower or narrower than both ends support; the device may
            only be idle.
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
        address: address, such as ``0000:41:00.0``.
        parent: address of the bridge above it; absent directly below the root.
        kind: class of the device, in words.
        ids: numbers of vendor and device, such as ``8086:1572``.
        vendor: name of the vendor, if a table of names is installed.
        product: name of the device, if a table of names is installed.
        driver: driver of the device.
        node: number of the nearest NUMA node, if the kernel reports it.
        cpus: numbers of the nearest CPUs, if the kernel reports them.
        link: PCI Express link to the device.
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
        kind: kind of the device: ``gpu``, ``disk``, ``network`` or ``fabric`` (InfiniBand and
            similar).
        name: name in the kernel; ``gpu0`` ... for GPUs.
        address: address of its PCI device.
        model: model reported by the device.
        node: number of the nearest NUMA node, if the kernel reports it.
        cpus: numbers of the nearest CPUs, if the kernel reports them.
        size_bytes: size of a disk, in bytes.
        rotational: true if a disk rotates.
        scheduler: I/O scheduler of a disk.
        speed_mbit_s: speed of a network card that is up, in Mbit/s.
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
    """A memory slot (SMBIOS type 17).

    Attributes:
        slot: name of the slot on the board.
        bank: name of the bank of the slot.
        size_bytes: size of the module, in bytes; 0 for an empty slot.
        type: type of the memory, such as ``DDR5``.
        rated_mt_s: maximum speed of the module, in MT/s.
        speed_mt_s: configured speed, in MT/s.
        ranks: number of ranks of the module.
        manufacturer: manufacturer of the module.
        part_number: part number of the module.
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
    """A shared library.

    Attributes:
        name: name of the library, such as ``glibc`` or ``jemalloc``.
        path: path of the file.
        version: version according to the content or the name of the file.
    """

    name: str
    path: str
    version: str | None = None


class Limit(Record, frozen=True, kw_only=True):
    """A resource limit of this process (``getrlimit(2)``).

    Attributes:
        name: name of the resource as in ``/proc/self/limits``, in words.
        unit: unit of both limits, such as ``bytes``; absent for a plain number.
        soft: soft limit; absent: unlimited.
        hard: hard limit; absent: unlimited.
    """

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
        memory_bytes: lowest memory limit of its control groups, in bytes.
        cpus: lowest limit of its control groups on CPU time, in CPUs.
        thp_disabled: true if transparent huge pages are disabled for it (``PR_SET_THP_DISABLE``).
        no_new_privileges: true if it cannot gain privileges by exec (``NoNewPrivs`` in
            ``/proc/self/status``).
        seccomp: true if it has a filter of system calls (``Seccomp`` in ``/proc/self/status``).
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
    """A value that could not be read.

    Attributes:
        reading: name of the value.
        reason: reason why it could not be read.
        remedy: instruction that makes it readable, if there is one.
    """

    reading: str
    reason: str
    remedy: str | None = None


class Inventory(Record, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """A host in detail.

    Attributes:
        topology: tree of the parts of the machine.
        topology_source: source of the topology: ``hwloc`` with its version, or ``assay``.
        model: identification of the processor.
        caches: caches of the CPUs.
        smt: simultaneous multithreading.
        speeds: memory performance of the NUMA nodes by their firmware.
        pools: pools of huge pages.
        mthp: modes of transparent huge pages of further sizes, by size in bytes, if supported.
        frequencies: frequency properties of the CPUs.
        idle_driver: driver of idle states, such as ``intel_idle``.
        idle_states: idle states of a CPU, the lightest first.
        control_groups: control groups of this process.
        kernel: the running kernel.
        microcode: version of the microcode; several versions, joined by commas, if CPUs differ.
        firmware: identification of board and firmware.
        pci: PCI devices, by address.
        devices: GPUs, disks and network cards.
        dimms: memory slots, empty ones included.
        libraries: shared libraries that affect performance, with versions.
        limits: limits of this process.
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
