"""Table of all files that readers, checks, settings and partitions use.

A star stands for any part of one name. A path that ends in a slash is a directory or a link whose
existence counts. Files with serial numbers, names or addresses are excluded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.machine.cgroup import own_groups
from assay.machine.damon import KDAMONDS
from assay.machine.kernel_config import config_files
from assay.machine.processor import read_kernel
from assay.machine.root import Root
from assay.machine.tunables import LATENCY, TUNABLES

_CPU = "/sys/devices/system/cpu"
_NODE = "/sys/devices/system/node"
_MM = "/sys/kernel/mm"
_PCI = "/sys/bus/pci/devices/*"
_IRQ = "/proc/irq"


@dataclass(frozen=True)
class FileGroup:
    """Files of one subject.

    Attributes:
        name: name of the subject.
        patterns: patterns of their paths.
        configuration: true for files with configuration, by which machines are compared;
            others contain counters, or are read into the documents.
    """

    name: str
    patterns: tuple[str, ...]
    configuration: bool = False


def _in(folder: str, names: str) -> tuple[str, ...]:
    return tuple(f"{folder}/{name}" for name in names.split())


GROUPS = (
    FileGroup(
        "CPUs",
        (
            *_in(_CPU, "online offline possible present isolated nohz_full kernel_max"),
            *_in(f"{_CPU}/smt", "control active"),
            *_in(f"{_CPU}/cpu*", "online cpu_capacity topology/* microcode/version"),
            *_in(
                f"{_CPU}/cpu*/cache/index*",
                "level type size coherency_line_size ways_of_associativity number_of_sets"
                " physical_line_partition shared_cpu_list shared_cpu_map id",
            ),
            *_in("/sys/devices", "cpu_core/cpus cpu_atom/cpus cpu_lowpower/cpus"),
            *_in("/proc", "cpuinfo stat hwloc-nofile-info"),
        ),
    ),
    FileGroup("vulnerabilities", (f"{_CPU}/vulnerabilities/*",), configuration=True),
    FileGroup(
        "clock",
        (
            f"{_CPU}/cpufreq/boost",
            *_in(
                f"{_CPU}/cpufreq/policy*",
                "scaling_driver scaling_governor scaling_available_governors scaling_min_freq"
                " scaling_max_freq cpuinfo_min_freq cpuinfo_max_freq base_frequency boost"
                " energy_performance_preference energy_performance_available_preferences",
            ),
            *_in(
                f"{_CPU}/cpu*/cpufreq",
                "scaling_driver scaling_governor scaling_min_freq scaling_max_freq"
                " cpuinfo_min_freq cpuinfo_max_freq",
            ),
            *_in(f"{_CPU}/cpu*/power", "energy_perf_bias pm_qos_resume_latency_us"),
            *_in(f"{_CPU}/intel_pstate", "status no_turbo min_perf_pct max_perf_pct"),
            *_in(f"{_CPU}/amd_pstate", "status prefcore"),
            *_in(
                "/sys/devices/system/clocksource/clocksource0",
                "current_clocksource available_clocksource",
            ),
            *_in("/sys/class/power_supply/*", "type online"),
        ),
        configuration=True,
    ),
    FileGroup(
        "clock domains",
        (
            *_in(f"{_CPU}/cpufreq/policy*", "affected_cpus related_cpus"),
            *_in(f"{_CPU}/cpu*/cpufreq", "affected_cpus related_cpus"),
        ),
    ),
    FileGroup("throttling", (f"{_CPU}/cpu*/thermal_throttle/*_count",)),
    FileGroup(
        "idle states",
        (
            *_in(f"{_CPU}/cpuidle", "current_driver current_governor current_governor_ro"),
            *_in(f"{_CPU}/cpu*/cpuidle/state*", "name latency residency disable default_status"),
            "/sys/module/haltpoll/parameters/*",
            "/sys/module/intel_idle/parameters/*",
            "/sys/module/processor/parameters/*",
        ),
        configuration=True,
    ),
    FileGroup(
        "memory",
        (
            *_in(_NODE, "online possible has_cpu has_memory has_normal_memory"),
            *_in(f"{_NODE}/node*", "cpulist cpumap distance meminfo memory_side_cache/index*/size"),
            f"{_NODE}/node*/access*/initiators/*",
            f"{_NODE}/node*/access*/initiators/node*/",
            "/sys/bus/dax/devices/*/target_node",
            "/sys/devices/virtual/memory_tiering/memory_tier*/nodelist",
            "/proc/meminfo",
            "/proc/swaps",
            "/proc/driver/nvidia/gpus/*/numa_status",
        ),
    ),
    FileGroup(
        "huge pages",
        (
            *_in(
                f"{_MM}/transparent_hugepage",
                "enabled defrag shmem_enabled use_zero_page hpage_pmd_size shrink_underused"
                " khugepaged/defrag khugepaged/alloc_sleep_millisecs khugepaged/max_ptes_none"
                " khugepaged/max_ptes_shared khugepaged/max_ptes_swap khugepaged/pages_to_scan"
                " khugepaged/scan_sleep_millisecs hugepages-*/enabled hugepages-*/shmem_enabled",
            ),
            *_in(f"{_MM}/hugepages/hugepages-*", "nr_hugepages nr_overcommit_hugepages"),
            f"{_NODE}/node*/hugepages/hugepages-*/nr_hugepages",
        ),
        configuration=True,
    ),
    FileGroup(
        "huge pages in use",
        (
            f"{_MM}/hugepages/hugepages-*/free_hugepages",
            f"{_NODE}/node*/hugepages/hugepages-*/free_hugepages",
        ),
    ),
    FileGroup(
        "memory management",
        (
            *_in(f"{_MM}/ksm", "run sleep_millisecs pages_to_scan merge_across_nodes advisor_mode"),
            f"{_MM}/numa/demotion_enabled",
            f"{_MM}/mempolicy/weighted_interleave/*",
            *_in(f"{_MM}/lru_gen", "enabled min_ttl_ms"),
            f"{_MM}/swap/vma_ra_enabled",
            "/sys/module/zswap/parameters/*",
            *_in(KDAMONDS, "nr_kdamonds */state */contexts/*/schemes/*/action"),
            f"{KDAMONDS}/*/contexts/*/monitoring_attrs/intervals/*_us",
            *_in("/sys/module/damon_*/parameters", "enabled sample_interval aggr_interval"),
        ),
        configuration=True,
    ),
    FileGroup("system controls", ("/proc/sys/kernel/*", "/proc/sys/vm/*"), configuration=True),
    FileGroup(
        "interrupts",
        (
            *_in(_IRQ, "default_smp_affinity *"),
            *_in(f"{_IRQ}/*", "smp_affinity_list node"),
            *_in("/sys/devices/virtual/workqueue", "cpumask cpumask_requested cpumask_isolated"),
            *_in("/sys/bus/workqueue/devices/*", "cpumask nice affinity_scope"),
            "/sys/module/workqueue/parameters/*",
            "/sys/module/rcutree/parameters/*",
            *_in("/sys/devices/system/machinecheck/machinecheck*", "check_interval ignore_ce"),
        ),
        configuration=True,
    ),
    FileGroup(
        "interrupts in use",
        ("/proc/interrupts", f"{_IRQ}/*/effective_affinity_list", "/sys/kernel/irq/*/actions"),
    ),
    FileGroup(
        "devices",
        (
            *_in(
                _PCI,
                "class vendor device revision numa_node local_cpulist local_cpus driver/ config"
                " current_link_speed current_link_width max_link_speed max_link_width",
            ),
            *_in("/sys/class/net/*", "speed mtu device/"),
            *_in(
                "/sys/class/block/*",
                "size partition device/model queue/scheduler queue/rotational queue/nr_requests"
                " queue/read_ahead_kb queue/nomerges queue/rq_affinity queue/logical_block_size",
            ),
            *_in("/sys/class/infiniband/*", "hca_type ports/*/rate ports/*/state"),
            *_in("/sys/class/nvme/*", "model numa_node transport"),
            *_in("/sys/class/drm/card*", "device/driver/"),
            "/proc/driver/nvidia/gpus/*/information",
        ),
    ),
    FileGroup(
        "firmware",
        (
            *_in(
                "/sys/class/dmi/id",
                "bios_vendor bios_version bios_date bios_release board_vendor board_name"
                " board_version chassis_type product_name product_family product_version"
                " sys_vendor",
            ),
            "/sys/firmware/dmi/entries/17-*/raw",
            "/sys/hypervisor/type",
            *_in("/proc/device-tree", "model hypervisor/compatible"),
        ),
    ),
    FileGroup(
        "kernel",
        (
            "/proc/cmdline",
            "/sys/kernel/security/lsm",
            "/sys/fs/selinux/enforce",
            *_in("/sys/kernel/debug/sched", "preempt features"),
            *_in("/sys/module", "kvm*/parameters/* apparmor/parameters/enabled"),
            "/sys/fs/resctrl/info/*/*",
        ),
        configuration=True,
    ),
    FileGroup(
        "process",
        (
            *_in("/proc/self", "status limits cgroup cpuset mountinfo mounts stat uid_map"),
            *_in("/proc/self", "timerslack_ns autogroup"),
            "/proc/mounts",
        ),
    ),
)

_CGROUP_SETTINGS = {
    1: _in(
        "",
        "cpuset.cpus cpuset.effective_cpus cpuset.mems cpuset.effective_mems"
        " cpuset.cpu_exclusive cpuset.sched_load_balance cpus effective_cpus mems cpu.shares"
        " cpu.cfs_quota_us cpu.cfs_period_us memory.limit_in_bytes pids.max",
    ),
    2: _in(
        "",
        "cgroup.controllers cgroup.subtree_control cgroup.type cpu.max cpu.weight"
        " cpuset.cpus cpuset.cpus.effective cpuset.cpus.exclusive cpuset.cpus.isolated"
        " cpuset.cpus.partition cpuset.mems cpuset.mems.effective memory.max memory.high"
        " memory.low memory.min memory.swap.max pids.max",
    ),
}
"""Files with the configuration of a control group, by the version of its hierarchy."""
_CGROUP_COUNTERS = _in("", "cpu.stat")
"""Files with the counters of a control group, in both versions."""


_CLASSES = ("net", "block", "infiniband", "nvme", "drm")


def file_groups(root: Root) -> Iterator[FileGroup]:
    """Yield the table, with the control groups and the kernel release of this machine."""
    yield from GROUPS
    # The groups above contain their configuration; these are for a machine document.
    settings = (t.pattern.replace("#", "*") for t in TUNABLES if t.read)
    yield FileGroup("settings of the system", (*settings, LATENCY))
    yield FileGroup("kernel configuration", config_files(read_kernel(root).release))
    folders = {
        folder: group.version
        for group in own_groups(root)
        for folder in (group.folder, *group.above)
    }
    settings_of_groups = {
        f"{folder}{name}"
        for folder, version in folders.items()
        for name in _CGROUP_SETTINGS[version]
    }
    counters = {f"{folder}{name}" for folder in folders for name in _CGROUP_COUNTERS}
    yield FileGroup("control groups", tuple(sorted(settings_of_groups)), configuration=True)
    yield FileGroup("control groups in use", tuple(sorted(counters)))
    yield FileGroup("locations of devices", tuple(_location_files(root)))


def _location_files(root: Root) -> Iterator[str]:
    """Yield the location files in the directories above each device."""
    seen: set[str] = set()
    for kind in _CLASSES:
        for name in root.listdir(f"/sys/class/{kind}"):
            place = root.real(f"/sys/class/{kind}/{name}") or ""
            while place.startswith("/sys/devices/") and place not in seen:
                seen.add(place)
                yield from _in(place, "numa_node local_cpulist")
                place = place.rpartition("/")[0]
