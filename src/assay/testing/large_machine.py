"""Synthetic trees of ``/sys`` and ``/proc`` of machines with many CPUs.

The files are those of a server with two threads per core, frequency domains per CPU and idle
states (``Documentation/ABI/testing/sysfs-devices-system-cpu``). Recorded machines of this size
do not exist publicly.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from assay.machine.cpulist import format_list
from assay.machine.value_formats import format_mask

_CPU = "/sys/devices/system/cpu"
_NODE = "/sys/devices/system/node"
_THREADS = 2
_CACHES = (
    (1, "Data", "48K", "12"),
    (1, "Instruction", "32K", "8"),
    (2, "Unified", "2048K", "16"),
    (3, "Unified", "107520K", "15"),
)
"""Level, type, size and associativity; only the last one serves a whole package."""
_IDLE_STATES = (("POLL", 0), ("C1", 1), ("C1E", 2), ("C6", 170))
_NODE_KB = 263_000_000


def write_large_machine(folder: Path, cpus: int, packages: int = 8) -> Path:
    """Write the tree of a machine with many CPUs.

    Args:
        folder: directory to write into; created if it is missing.
        cpus: number of hardware threads, a multiple of twice the number of packages.
        packages: number of packages, each of which is a NUMA node.

    Returns:
        The directory, for :class:`assay.machine.root.Root`.

    Raises:
        ValueError: the CPUs cannot be divided among the packages.
    """
    if cpus % (packages * _THREADS):
        raise ValueError(f"{cpus} CPUs are not a multiple of {packages * _THREADS}")
    for path, text in _files(cpus, packages):
        place = folder / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text + "\n")
    for cpu in range(cpus):
        link = folder / f"{_CPU}/cpu{cpu}/cpufreq".lstrip("/")
        link.symlink_to(f"../cpufreq/policy{cpu}")
    return folder


def _files(cpus: int, packages: int) -> Iterator[tuple[str, str]]:
    yield from _machine_files(cpus)
    cores = cpus // _THREADS
    per_package = cores // packages
    for package in range(packages):
        first = range(package * per_package, (package + 1) * per_package)
        members = tuple(sorted((*first, *(core + cores for core in first))))
        yield from _node_files(package, packages, members)
        for core in first:
            for cpu in (core, core + cores):
                yield from _cpu_files(cpu, core, cores, package, members)


def _machine_files(cpus: int) -> Iterator[tuple[str, str]]:
    everything = f"0-{cpus - 1}"
    yield "/proc/version", "Linux version 6.12.0 (x86_64)"
    yield "/proc/sys/kernel/osrelease", "6.12.0"
    yield "/proc/cmdline", "root=/dev/sda1"
    yield "/proc/meminfo", f"MemTotal: {_NODE_KB} kB"
    yield (
        "/proc/cpuinfo",
        "\n".join(
            f"processor\t: {cpu}\nmodel name\t: Large\nflags\t\t: fpu\n" for cpu in range(cpus)
        ),
    )
    for name in ("online", "possible", "present"):
        yield f"{_CPU}/{name}", everything
    yield f"{_CPU}/isolated", ""
    yield f"{_CPU}/smt/control", "on"
    yield f"{_CPU}/cpuidle/current_driver", "intel_idle"
    yield f"{_CPU}/intel_pstate/no_turbo", "0"
    yield "/proc/irq/default_smp_affinity", "ff"
    for interrupt in range(cpus):
        yield f"/proc/irq/{interrupt}/smp_affinity_list", str(interrupt)


def _node_files(node: int, nodes: int, members: tuple[int, ...]) -> Iterator[tuple[str, str]]:
    folder = f"{_NODE}/node{node}"
    yield f"{folder}/cpulist", format_list(members)
    yield f"{folder}/meminfo", f"Node {node} MemTotal: {_NODE_KB // nodes} kB"
    yield f"{folder}/distance", " ".join("10" if other == node else "21" for other in range(nodes))


def _cpu_files(
    cpu: int, core: int, cores: int, package: int, members: tuple[int, ...]
) -> Iterator[tuple[str, str]]:
    folder = f"{_CPU}/cpu{cpu}"
    siblings, whole = f"{core},{core + cores}", format_list(members)
    for name, text in (
        ("core_cpus_list", siblings),
        ("thread_siblings_list", siblings),
        ("package_cpus_list", whole),
        ("core_siblings_list", whole),
        ("die_cpus_list", whole),
        ("die_id", "0"),
        ("core_id", str(core)),
        ("physical_package_id", str(package)),
    ):
        yield f"{folder}/topology/{name}", text
    for index, (level, kind, size, ways) in enumerate(_CACHES):
        place = f"{folder}/cache/index{index}"
        last = index == len(_CACHES) - 1
        for name, text in (
            ("level", str(level)),
            ("type", kind),
            ("size", size),
            ("ways_of_associativity", ways),
            ("coherency_line_size", "64"),
            ("shared_cpu_list", whole if last else siblings),
            ("shared_cpu_map", format_mask(members if last else (core, core + cores))),
        ):
            yield f"{place}/{name}", text
    for index, (name, latency) in enumerate(_IDLE_STATES):
        state = f"{folder}/cpuidle/state{index}"
        yield f"{state}/name", name
        yield f"{state}/latency", str(latency)
        yield f"{state}/disable", "0"
    policy = f"{_CPU}/cpufreq/policy{cpu}"
    for name, text in (
        ("affected_cpus", str(cpu)),
        ("related_cpus", str(cpu)),
        ("scaling_driver", "intel_pstate"),
        ("scaling_governor", "powersave"),
        ("scaling_available_governors", "performance powersave"),
        ("energy_performance_preference", "balance_performance"),
        ("energy_performance_available_preferences", "default performance power"),
        ("cpuinfo_min_freq", "800000"),
        ("cpuinfo_max_freq", "3900000"),
        ("base_frequency", "2400000"),
        ("scaling_min_freq", "800000"),
        ("scaling_max_freq", "3900000"),
    ):
        yield f"{policy}/{name}", text
