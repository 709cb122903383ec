"""Kernel: release, configuration, boot arguments and mitigations.

Interfaces: ``Documentation/ABI/testing/sysfs-devices-system-cpu`` (``vulnerabilities``); the
configuration is read by ``assay.machine.kernel_config``.
"""

from __future__ import annotations

import re

from assay.machine.boot import shown_arguments
from assay.machine.inventory.document import Firmware, Kernel
from assay.machine.kernel_config import config_text, options_in
from assay.machine.root import Root

# fmt: off
CONFIG = (
    "BPF_SYSCALL", "CGROUPS", "CPUSETS", "CPU_FREQ", "CPU_IDLE", "CPU_ISOLATION", "CPU_MITIGATIONS",
    "FAIR_GROUP_SCHED", "HIGH_RES_TIMERS", "HUGETLBFS", "HYPERVISOR_GUEST", "HZ", "HZ_100",
    "HZ_1000", "HZ_250", "HZ_300", "INIT_ON_ALLOC_DEFAULT_ON", "INIT_ON_FREE_DEFAULT_ON",
    "INTEL_IDLE", "IRQ_TIME_ACCOUNTING", "KASAN", "KSM", "LOCKDEP", "LRU_GEN_ENABLED", "MEMCG",
    "MITIGATION_PAGE_TABLE_ISOLATION", "NO_HZ_FULL", "NO_HZ_IDLE", "NUMA", "NUMA_BALANCING",
    "NUMA_BALANCING_DEFAULT_ENABLED", "PARAVIRT", "PERF_EVENTS", "PREEMPT", "PREEMPT_DYNAMIC",
    "PREEMPT_LAZY", "PREEMPT_NONE", "PREEMPT_RT", "PREEMPT_VOLUNTARY", "PSI", "RCU_NOCB_CPU",
    "RT_GROUP_SCHED", "SCHED_AUTOGROUP", "SCHED_CORE", "SCHED_MC", "SCHED_SMT", "SLUB_DEBUG_ON",
    "TIMERLAT_TRACER", "OSNOISE_TRACER", "TRANSPARENT_HUGEPAGE", "TRANSPARENT_HUGEPAGE_ALWAYS",
    "TRANSPARENT_HUGEPAGE_MADVISE", "TRANSPARENT_HUGEPAGE_NEVER", "UCLAMP_TASK", "X86_X2APIC",
    "ZSWAP_DEFAULT_ON",
)
# fmt: on
"""Options of the configuration that affect performance or measurements."""

_DMI = "/sys/class/dmi/id"
_VULNERABILITIES = "/sys/devices/system/cpu/vulnerabilities"


def read_kernel_facts(root: Root, release: str) -> Kernel:
    """Return the properties of the kernel; ``release`` selects the files of its configuration."""
    config_file, text = config_text(root, release)
    return Kernel(
        release=release,
        build=root.read_text("/proc/sys/kernel/version") or None,
        command_line=shown_arguments(root),
        config=_chosen(text) if text else {},
        config_file=config_file,
        preemption=_preemption(root),
        mitigations={
            name: text
            for name in root.listdir(_VULNERABILITIES)
            if (text := root.read_text(f"{_VULNERABILITIES}/{name}"))
        },
    )


def _chosen(text: str) -> dict[str, str]:
    found = options_in(text)
    return {name: found.get(name, "n") for name in sorted(CONFIG)}


def _preemption(root: Root) -> str | None:
    # With PREEMPT_DYNAMIC; debugfs is readable only by root.
    chosen = re.search(r"\((\w+)\)", root.read_text("/sys/kernel/debug/sched/preempt") or "")
    return chosen[1] if chosen else None


def read_firmware(root: Root) -> Firmware:
    """Return board and firmware from their DMI tables."""
    board = " ".join(filter(None, (_dmi(root, "board_vendor"), _dmi(root, "board_name"))))
    return Firmware(
        vendor=_dmi(root, "sys_vendor"),
        product=_dmi(root, "product_name"),
        board=board or None,
        version=_dmi(root, "bios_version"),
        date=_dmi(root, "bios_date"),
    )


def _dmi(root: Root, name: str) -> str | None:
    return " ".join((root.read_text(f"{_DMI}/{name}") or "").split()) or None


def read_microcode(root: Root, online: tuple[int, ...]) -> str | None:
    """Return the version of the microcode, or several if CPUs differ."""
    files = (f"/sys/devices/system/cpu/cpu{cpu}/microcode/version" for cpu in online)
    found = {text for path in files if (text := root.read_text(path))}
    if not found:
        text = root.read_text("/proc/cpuinfo") or ""
        found = set(re.findall(r"^microcode\s*:\s*(\S+)$", text, re.M))
    return ",".join(sorted(found)) or None
