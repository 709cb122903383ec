"""Tunables: the files of ``/sys`` and ``/proc`` with the system's configuration.

One table contains the files that settings use, their permission to be written, and their format. A
file outside the table is never written, not even on request of a plan or a journal.

In a pattern ``#`` is a number, ``*`` a name without a slash.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator

import msgspec

from assay.machine.root import Root
from assay.machine.swaps import SWAPS
from assay.machine.value_formats import normalised
from assay.records.action import FileFormat

THP = "/sys/kernel/mm/transparent_hugepage"
HUGETLB = "/sys/kernel/mm/hugepages"
NODES = "/sys/devices/system/node"
KSM = "/sys/kernel/mm/ksm"
VM = "/proc/sys/vm"
KERNEL = "/proc/sys/kernel"
CPUS = "/sys/devices/system/cpu"
CPUFREQ = f"{CPUS}/cpufreq"
IRQS = "/proc/irq"
INTERRUPT_CPUS = re.compile(rf"{IRQS}/([0-9]+)/smp_affinity_list", re.ASCII)
"""Path of the CPUs of an interrupt, with its number."""
WORKQUEUES = "/sys/devices/virtual/workqueue"
INTERLEAVE = "/sys/kernel/mm/mempolicy/weighted_interleave"
SMT_CONTROL = f"{CPUS}/smt/control"
LATENCY = "/dev/cpu_dma_latency"
MACHINE_CHECKS = "/sys/devices/system/machinecheck/machinecheck0/check_interval"
"""One of the files per CPU, which share a single value (``ABI/testing/sysfs-mce``)."""

_MAX_READ_BYTES = 4096
"""Maximum number of bytes read from one of the files."""
_WORD = {"#": "[0-9]+", "*": "[A-Za-z0-9_][A-Za-z0-9_.:-]*"}


class Tunable(msgspec.Struct, frozen=True):
    """Files of one pattern.

    Attributes:
        pattern: pattern of their paths.
        form: format of their content.
        writable: true if settings write them; others are only read.
        read: true if a machine document contains them; the many files per CPU and interrupt are
            excluded.
    """

    pattern: str
    form: FileFormat = "number"
    writable: bool = True
    read: bool = True


def _all(
    form: FileFormat, *patterns: str, writable: bool = True, read: bool = True
) -> list[Tunable]:
    return [Tunable(pattern, form, writable, read) for pattern in patterns]


TUNABLES: tuple[Tunable, ...] = (
    *_all("choice", f"{THP}/enabled", f"{THP}/defrag", f"{THP}/shmem_enabled"),
    *_all("choice", f"{THP}/hugepages-#kB/enabled"),
    *_all(
        "number",
        f"{THP}/khugepaged/defrag",
        f"{THP}/khugepaged/pages_to_scan",
        f"{THP}/khugepaged/scan_sleep_millisecs",
        f"{THP}/khugepaged/alloc_sleep_millisecs",
        f"{THP}/khugepaged/max_ptes_none",
        f"{THP}/khugepaged/max_ptes_swap",
        f"{THP}/khugepaged/max_ptes_shared",
        f"{HUGETLB}/hugepages-#kB/nr_hugepages",
        f"{HUGETLB}/hugepages-#kB/nr_overcommit_hugepages",
        f"{NODES}/node#/hugepages/hugepages-#kB/nr_hugepages",
        f"{KSM}/run",
    ),
    *(
        Tunable(f"{VM}/{name}")
        for name in (
            "compaction_proactiveness",
            "dirty_background_bytes",
            "dirty_background_ratio",
            "dirty_bytes",
            "dirty_expire_centisecs",
            "dirty_ratio",
            "dirty_writeback_centisecs",
            "nr_hugepages",
            "stat_interval",
            "swappiness",
            "zone_reclaim_mode",
        )
    ),
    *(
        Tunable(f"{KERNEL}/{name}")
        for name in (
            "nmi_watchdog",
            "numa_balancing",
            "perf_cpu_time_max_percent",
            "perf_event_max_sample_rate",
            "sched_rt_runtime_us",
            "soft_watchdog",
            "timer_migration",
            "watchdog",
        )
    ),
    *_all("number", f"{KERNEL}/sched_rt_period_us", writable=False),
    *_all("cpulist", f"{KERNEL}/watchdog_cpumask"),
    *_all(
        "text",
        f"{CPUFREQ}/policy#/scaling_governor",
        f"{CPUFREQ}/policy#/energy_performance_preference",
    ),
    *_all(
        "number",
        f"{CPUFREQ}/policy#/scaling_max_freq",
        f"{CPUFREQ}/policy#/scaling_min_freq",
        f"{CPUFREQ}/boost",
        f"{CPUS}/intel_pstate/no_turbo",
    ),
    *_all(
        "text",
        f"{CPUFREQ}/policy#/scaling_available_governors",
        f"{CPUFREQ}/policy#/energy_performance_available_preferences",
        f"{CPUFREQ}/policy#/cpuinfo_max_freq",
        f"{CPUFREQ}/policy#/cpuinfo_min_freq",
        f"{CPUS}/cpu#/cpuidle/state#/latency",
        SWAPS,
        writable=False,
    ),
    *_all("text", SMT_CONTROL),
    *_all("number", f"{CPUS}/cpu#/cpuidle/state#/disable", read=False),
    *_all("number", MACHINE_CHECKS),
    # In the root group of a version 1 hierarchy (cpuset(7)).
    *_all("number", "/sys/fs/cgroup/*/cpuset.sched_load_balance", read=False),
    *_all("cpulist", f"{IRQS}/#/smp_affinity_list", read=False),
    *_all("mask", f"{IRQS}/default_smp_affinity"),
    *_all("mask", f"{WORKQUEUES}/cpumask", f"{WORKQUEUES}/*/cpumask"),
    *_all("number", f"{INTERLEAVE}/node#"),
    # Since Linux 6.16; writing a node's weight disables it. Its name passes through a kernel macro
    # that C23 compilers expand: 6.18 shows it as ``__auto_type``.
    *_all("text", f"{INTERLEAVE}/auto", f"{INTERLEAVE}/__auto_type"),
)
FOLDERS = (IRQS, CPUFREQ, CPUS)
"""Directories whose numbered members a machine document lists, separated by spaces."""


def find_writable(path: str) -> Tunable | None:
    """Return the tunable of a file that may be written; ``None`` for others."""
    return next((t for t, form in _patterns() if t.writable and form.fullmatch(path)), None)


def find_tunable(path: str) -> Tunable | None:
    """Return the tunable of any file in the table; ``None`` for others."""
    return next((t for t, form in _patterns() if form.fullmatch(path)), None)


def read_system(root: Root) -> dict[str, str]:
    """Return the content of the files for a machine document, by path."""
    found = {}

    @functools.cache  # patterns share directories
    def matches(folder: str, word: str) -> tuple[str, ...]:
        form = _compiled(word)
        return tuple(name for name in root.listdir(folder) if form.fullmatch(name))

    names_by_folder: dict[str, list[str]] = {}
    for tunable in TUNABLES:
        for path in _expanded(matches, tunable.pattern) if tunable.read else ():
            folder, _, name = path.rpartition("/")
            names_by_folder.setdefault(folder, []).append(name)
    for folder, names in names_by_folder.items():
        for name, text in root.read_texts(folder, names, _MAX_READ_BYTES).items():
            found[f"{folder}/{name}"] = text
    for folder in FOLDERS:
        names = [name for name in root.listdir(folder) if re.fullmatch(r"[a-z]*[0-9]+", name)]
        if names:
            found[folder] = " ".join(names)
    if root.exists(LATENCY):
        found[LATENCY] = ""
    return dict(sorted(found.items()))


def matching(system: dict[str, str], pattern: str) -> tuple[str, ...]:
    """Return the paths of a machine document that match a pattern, in numeric order."""
    form = _compiled(pattern)
    return tuple(sorted((path for path in system if form.fullmatch(path)), key=_by_number))


def current_value(system: dict[str, str], path: str) -> str | None:
    """Return the content of a file in a machine document, in one spelling."""
    text, tunable = system.get(path), find_tunable(path)
    return None if text is None or tunable is None else normalised(tunable.form, text)


def _by_number(path: str) -> list[tuple[bool, int, str]]:
    parts = re.findall(r"[0-9]+|[^0-9]+", path)
    return [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts]


@functools.cache
def _patterns() -> tuple[tuple[Tunable, re.Pattern[str]], ...]:
    return tuple((tunable, _compiled(tunable.pattern)) for tunable in TUNABLES)


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    parts = re.split(r"([#*])", pattern)
    return re.compile("".join(_WORD.get(part, re.escape(part)) for part in parts), re.ASCII)


def _expanded(matches: Callable[[str, str], tuple[str, ...]], pattern: str) -> Iterator[str]:
    """Yield the paths of a tree that match a pattern.

    Args:
        matches: returns the names in a directory that match a word of a pattern.
        pattern: pattern of the paths.
    """
    before, _, rest = pattern.partition("#") if "#" in pattern else pattern.partition("*")
    if not rest and before == pattern:
        yield pattern
        return
    folder, _, start = before.rpartition("/")
    mark = pattern[len(before)]
    end, slash, rest = rest.partition("/")
    for name in matches(folder, start + mark + end):
        yield from _expanded(matches, f"{folder}/{name}{slash}{rest}")
