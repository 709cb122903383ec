"""Arguments of the kernel's command line that may be shown, and digests of the others.

A command line can contain keys, addresses and host names. Values are shown for arguments that are
known to concern performance or processor devices. For all others, output contains only the name; a
machine document, which must distinguish values, contains a digest.
"""

from __future__ import annotations

import re

from assay.errors import nearest
from assay.machine.processor import boot_arguments
from assay.machine.root import Root

BOOT_ID = "/proc/sys/kernel/random/boot_id"
"""A different text after each boot (random(4))."""

# fmt: off
_SHOWN = frozenset((
    "acpi", "amd_iommu", "amd_pstate", "apparmor", "audit", "cgroup_disable", "cgroup_no_v1",
    "clocksource", "cpufreq", "crashkernel", "default_hugepagesz", "dis_ucode_ldr", "elevator",
    "gather_data_sampling", "hpet", "hugepages", "hugepagesz", "hugetlb_cma", "idle",
    "init_on_alloc", "init_on_free", "intel_iommu", "intel_pstate", "iommu", "irqaffinity",
    "isolcpus", "kernelcore", "kpti", "kthread_cpus", "l1tf", "lsm", "max_cpus", "maxcpus",
    "mce", "mds", "mem", "mem_encrypt", "memmap", "memhp_default_state", "mitigations",
    "mmio_stale_data", "movablecore", "nmi_watchdog", "no_hz", "nohlt", "nohz", "nohz_full",
    "nokaslr", "nosmap", "nosmp", "noswap", "nosmt", "nosoftlockup", "nospectre_v1",
    "nospectre_v2", "nowatchdog",
    "nr_cpus", "numa", "numa_balancing", "page_poison", "panic", "pci", "pcie_aspm", "pcie_ports",
    "possible_cpus", "preempt", "psi", "pti", "quiet", "rcu_nocbs", "rcu_nocb_poll", "reboot",
    "reg_file_data_sampling", "retbleed", "ro", "rw", "sched_verbose", "selinux",
    "skew_tick", "slab_debug", "slab_merge", "slab_nomerge", "slub_debug", "slub_merge",
    "slub_nomerge", "spec_rstack_overflow", "spec_store_bypass_disable", "spectre_v2",
    "spectre_v2_user", "splash", "srbds", "swapaccount", "swiotlb", "thp_anon",
    "thp_shmem", "threadirqs", "transparent_hugepage", "tsc", "tsx", "tsx_async_abort", "vsyscall",
    "workqueue.unbound_cpus",
))
_SHOWN_MODULES = frozenset((
    "acpi_cpufreq", "cpuidle", "cpuidle_haltpoll", "haltpoll", "intel_idle", "kvm", "kvm_amd",
    "kvm_intel", "page_reporting", "processor", "rcupdate", "rcutree", "workqueue", "zswap",
))
# fmt: on
"""Modules (and parts of the kernel) whose arguments are all shown: ``intel_idle.max_cstate``."""

HIDDEN = "*"
"""Replacement of a hidden value."""
DIGEST_DIGITS = 4
"""Hexadecimal digits of the digest of a value: a change is missed once in 65,536 cases, and sixteen
bits do not reveal a secret.
"""
_MISSPELLING_SIMILARITY = 0.86
"""Similarity of two names of eight letters that differ in one. A lower value would also match
different arguments of the kernel, such as ``nospectre_bhb`` and ``nospectre_v1`` (0.8).
"""
_DIGEST = re.compile(r"\*[0-9a-f]{4}")


def shown_arguments(root: Root) -> tuple[str, ...]:
    """Return the words of the command line in order, before the part for init, for output."""
    return tuple(_without_value(word) for word in boot_arguments(root))


def digested_arguments(root: Root) -> tuple[str, ...]:
    """Return the same words for a machine document."""
    return tuple(digested_argument(word) for word in boot_arguments(root))


def normalised_name(name: str) -> str:
    """Return the name of an argument with underscores: the kernel treats dashes the same."""
    return name.replace("-", "_")


def argument_name(word: str) -> str:
    """Return the name of the argument in a word of the command line, with underscores."""
    return normalised_name(word.partition("=")[0])


def intended_argument(name: str) -> str | None:
    """Return the known argument that an unknown name is probably a misspelling of.

    Returns:
        ``None`` for a known name, and for a name that is similar to none. The kernel has more
        arguments than the table, so only a very similar name counts.
    """
    if _may_be_shown(name):
        return None
    module, dot, parameter = normalised_name(name).partition(".")
    known = _SHOWN_MODULES if dot else _SHOWN
    near = nearest(module, sorted(known), _MISSPELLING_SIMILARITY)
    return near and f"{near}{dot}{parameter}"


def digested_argument(word: str) -> str:
    """Return a word of the command line for a machine document.

    The value of an argument that assay does not know becomes a digest; a digest stays the same.
    """
    name, equals, value = word.partition("=")
    if not equals or _may_be_shown(name) or _DIGEST.fullmatch(value):
        return word
    return f"{name}={HIDDEN}{digest(value)[:DIGEST_DIGITS]}"


def is_digest(value: str) -> bool:
    """Return whether a value contains a digest."""
    return any(map(_DIGEST.fullmatch, value.split()))


def digest(text: str) -> str:
    """Return the SHA-256 digest of a text, in hexadecimal digits."""
    import hashlib  # not needed for a run that sets only process settings

    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()


def _may_be_shown(name: str) -> bool:
    name = normalised_name(name)
    return name in _SHOWN or name.split(".")[0] in _SHOWN_MODULES


def _without_value(word: str) -> str:
    name, equals, value = word.partition("=")
    known = _may_be_shown(name)
    if not equals:
        return word if known or re.fullmatch(r"[\w.-]{1,40}", word, re.ASCII) else HIDDEN
    # systemd reads rd.luks.key and similar ones, and other programs put keys into names.
    named = name if re.fullmatch(r"[\w.:-]{1,60}", name, re.ASCII) else HIDDEN
    return f"{named}={value}" if known else f"{named}={HIDDEN}"
