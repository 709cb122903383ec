"""Boot: what names it, and words of the kernel's command line that may be shown.

A command line can hold keys, addresses and names of hosts. Values are shown of arguments that are
known to be about speed and about devices of the processor. Of all others what a person is shown has
only the name; a machine document, which has to tell one value from another, has a digest.
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
DIGEST_DIGITS = 4
"""Hexadecimal digits of the digest of a value: a change goes unseen once in 65,536, and a secret is
not given away by sixteen bits."""
_DIGEST = re.compile(r"\*[0-9a-f]{4}")


def shown_arguments(root: Root) -> tuple[str, ...]:
    """Words of the command line in their order, before the part that is for init."""
    return tuple(_without_value(word) for word in boot_arguments(root))


def digested_arguments(root: Root) -> tuple[str, ...]:
    """The same words as a machine document holds them."""
    return tuple(digested_argument(word) for word in boot_arguments(root))


def normalized_name(name: str) -> str:
    """The name of an argument in one spelling: the kernel takes dashes for underscores."""
    return name.replace("-", "_")


def argument_name(word: str) -> str:
    """The name that a word of the command line is about, in that spelling."""
    return normalized_name(word.partition("=")[0])


def digested_argument(word: str) -> str:
    """A word of the command line as a machine document holds it.

    The value of an argument that assay does not know is a digest; one that is a digest stays so.
    """
    name, equals, value = word.partition("=")
    if not equals or _may_be_shown(name) or _DIGEST.fullmatch(value):
        return word
    return f"{name}={HIDDEN}{digest(value)[:DIGEST_DIGITS]}"


def is_digest(value: str) -> bool:
    """Whether a value is only a digest of one, or one of several is."""
    return any(map(_DIGEST.fullmatch, value.split()))


def digest(text: str) -> str:
    """In hexadecimal digits."""
    import hashlib  # a run under a setting of its own process alone needs none

    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()


def _may_be_shown(name: str) -> bool:
    name = normalized_name(name)
    return name in _SHOWN or name.split(".")[0] in _SHOWN_MODULES


def _without_value(word: str) -> str:
    name, equals, value = word.partition("=")
    known = _may_be_shown(name)
    if not equals:
        return word if known or re.fullmatch(r"[\w.-]{1,40}", word, re.ASCII) else HIDDEN
    # Systemd reads rd.luks.key and its like, others put keys into names of their own.
    named = name if re.fullmatch(r"[\w.:-]{1,60}", name, re.ASCII) else HIDDEN
    return f"{named}={value}" if known else f"{named}={HIDDEN}"
