"""Boot: what names it, and words of the kernel's command line that may be shown.

A command line can hold keys, addresses and names of hosts. Values are shown of arguments that are
known to be about speed and about devices of the processor; of all others only the name.
"""

from __future__ import annotations

import re

from assay.machine.processor import boot_arguments
from assay.machine.root import Root

BOOT_ID = "/proc/sys/kernel/random/boot_id"
"""Another text after each boot (random(4))."""

# fmt: off
_SHOWN = frozenset((
    "acpi", "amd_iommu", "amd_pstate", "apparmor", "audit", "cgroup_disable", "cgroup_no_v1",
    "clocksource", "cpufreq", "crashkernel", "default_hugepagesz", "dis_ucode_ldr", "elevator",
    "gather_data_sampling", "hpet", "hugepages", "hugepagesz", "hugetlb_cma", "idle",
    "init_on_alloc", "init_on_free", "intel_iommu", "intel_pstate", "iommu", "irqaffinity",
    "isolcpus", "kernelcore", "kpti", "kthread_cpus", "l1tf", "lsm", "max_cpus", "maxcpus",
    "mce", "mds", "mem", "mem_encrypt", "memmap", "memhp_default_state", "mitigations",
    "mmio_stale_data", "movablecore", "nmi_watchdog", "no_hz", "nohlt", "nohz", "nohz_full",
    "nokaslr", "noswap", "nosmt", "nosoftlockup", "nospectre_v1", "nospectre_v2", "nowatchdog",
    "nr_cpus", "numa", "numa_balancing", "page_poison", "panic", "pci", "pcie_aspm", "pcie_ports",
    "possible_cpus", "preempt", "psi", "pti", "quiet", "rcu_nocbs", "rcu_nocb_poll", "reboot",
    "reg_file_data_sampling", "retbleed", "ro", "rw", "sched_verbose", "selinux",
    "skew_tick", "slab_nomerge", "slub_debug", "spec_rstack_overflow", "spec_store_bypass_disable",
    "spectre_v2", "spectre_v2_user", "splash", "srbds", "swapaccount", "swiotlb", "thp_anon",
    "thp_shmem", "threadirqs", "transparent_hugepage", "tsc", "tsx", "tsx_async_abort", "vsyscall",
    "workqueue.unbound_cpus",
))
_SHOWN_MODULES = frozenset((
    "acpi_cpufreq", "cpuidle", "cpuidle_haltpoll", "haltpoll", "intel_idle", "kvm", "kvm_amd",
    "kvm_intel", "page_reporting", "processor", "rcupdate", "rcutree", "workqueue", "zswap",
))
# fmt: on
"""Modules (and parts of the kernel) all of whose arguments are shown: ``intel_idle.max_cstate``."""

HIDDEN = "*"
"""Stands for a value that is not shown."""


def shown_arguments(root: Root) -> tuple[str, ...]:
    """Words of the command line in their order, before the part that is for init."""
    return tuple(_shown(word) for word in boot_arguments(root))


def is_known(name: str) -> bool:
    """Whether the values of an argument may be shown; dashes and underscores are alike."""
    plain = name.replace("-", "_")
    return plain in _SHOWN or plain.split(".")[0] in _SHOWN_MODULES


def _shown(word: str) -> str:
    name, equals, value = word.partition("=")
    known = is_known(name)
    if not equals:
        return word if known or re.fullmatch(r"[\w.-]{1,40}", word, re.ASCII) else HIDDEN
    # Systemd reads rd.luks.key and its like, others put keys into names of their own.
    named = name if re.fullmatch(r"[\w.:-]{1,60}", name, re.ASCII) else HIDDEN
    return f"{named}={value}" if known else f"{named}={HIDDEN}"
