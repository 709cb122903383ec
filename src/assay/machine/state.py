"""System-wide state that affects a program's performance.

Interfaces: ``Documentation/admin-guide/mm/transhuge.rst``, ``admin-guide/pm/cpufreq.rst``,
``admin-guide/sysctl/{kernel,vm}.rst``, ``admin-guide/kernel-parameters.txt``.
"""

from __future__ import annotations

import re

from assay.machine.boot import argument_name
from assay.machine.document import HugePages
from assay.machine.frequency_domains import CPUFREQ, domain_texts
from assay.machine.processor import boot_arguments
from assay.machine.root import Root
from assay.machine.value_formats import selected_word

_THP = "/sys/kernel/mm/transparent_hugepage"
_CPU = "/sys/devices/system/cpu"

_CHOICES = {
    "thp.enabled": f"{_THP}/enabled",
    "thp.defrag": f"{_THP}/defrag",
    "thp.shmem": f"{_THP}/shmem_enabled",
}
"""Files that mark the selected value with brackets."""

_SINGLE_VALUES = {
    "clocksource": "/sys/devices/system/clocksource/clocksource0/current_clocksource",
    "cpu.boost": f"{_CPU}/cpufreq/boost",
    "cpu.isolated": f"{_CPU}/isolated",
    "cpu.no_turbo": f"{_CPU}/intel_pstate/no_turbo",
    "cpu.smt": f"{_CPU}/smt/control",
    "kernel.autogroup": "/proc/sys/kernel/sched_autogroup_enabled",
    "kernel.numa_balancing": "/proc/sys/kernel/numa_balancing",
    "kernel.randomize_va_space": "/proc/sys/kernel/randomize_va_space",
    "ksm.run": "/sys/kernel/mm/ksm/run",
    "vm.overcommit_memory": "/proc/sys/vm/overcommit_memory",
    "vm.swappiness": "/proc/sys/vm/swappiness",
    "vm.zone_reclaim_mode": "/proc/sys/vm/zone_reclaim_mode",
    "zswap.enabled": "/sys/module/zswap/parameters/enabled",
}

STATE_FILES = frozenset((*_CHOICES.values(), *_SINGLE_VALUES.values()))
"""Files of the named readings of *the default*."""

_PER_POLICY = {
    "cpu.driver": "scaling_driver",
    "cpu.epp": "energy_performance_preference",
    "cpu.governor": "scaling_governor",
}
"""Files per frequency domain; different values are joined by commas."""

# fmt: off
_BOOT = frozenset((
    "amd_pstate", "clocksource", "cpuidle.off", "default_hugepagesz", "hugepages", "hugepagesz",
    "idle", "intel_idle.max_cstate", "intel_pstate", "irqaffinity", "isolcpus", "max_cpus",
    "maxcpus", "mem", "mitigations", "no_hz", "nohlt", "nohz", "nohz_full", "nosmt", "nr_cpus",
    "numa", "numa_balancing", "preempt", "processor.max_cstate", "rcu_nocbs", "skew_tick",
    "spec_store_bypass_disable", "spectre_v2", "transparent_hugepage", "tsc",
))
# fmt: on
"""Boot arguments that affect performance; no others are kept, since some contain secrets."""

_DMI = (
    # The first match counts; the order and most names are those of systemd-detect-virt.
    ("KVM", "kvm"),
    ("OpenStack", "kvm"),
    ("KubeVirt", "kvm"),
    ("Amazon EC2", "amazon"),
    ("Google", "google"),
    ("QEMU", "qemu"),
    ("VMware", "vmware"),
    ("VMW", "vmware"),
    ("innotek GmbH", "virtualbox"),
    ("VirtualBox", "virtualbox"),
    ("Xen", "xen"),
    ("Bochs", "bochs"),
    ("Parallels", "parallels"),
    ("BHYVE", "bhyve"),
    ("Hyper-V", "microsoft"),
    ("Virtual Machine", "microsoft"),
    ("Apple Virtualization", "apple"),
)

_CLOCKS = (("kvm-clock", "kvm"), ("hyperv", "microsoft"), ("xen", "xen"))


def read_huge_pages(root: Root) -> HugePages:
    """Return the configuration of transparent huge pages; empty if the kernel has none."""
    return HugePages(
        enabled=_chosen(root, f"{_THP}/enabled"),
        defrag=_chosen(root, f"{_THP}/defrag"),
        size_bytes=root.read_int(f"{_THP}/hpage_pmd_size"),
    )


def read_default_state(root: Root) -> dict[str, str]:
    """Return the readings that define *the default*, by name, sorted; only readable ones."""
    readings = {name: _chosen(root, path) for name, path in _CHOICES.items()}
    readings |= {name: root.read_text(path) for name, path in _SINGLE_VALUES.items()}
    readings |= _over_policies(root)
    readings["thp.sizes"] = _thp_sizes(root)
    readings["boot"] = " ".join(sorted(filter(_is_of_interest, boot_arguments(root))))
    return {name: value for name, value in sorted(readings.items()) if value}


def read_hypervisor(root: Root, flags: frozenset[str], arch: str) -> str | None:
    """Return the hypervisor; ``unknown`` if the host only reports that it is a guest."""
    own = root.read_text("/sys/hypervisor/type")
    if own:
        return own
    if flags and arch in ("x86_64", "i686") and "hypervisor" not in flags:
        # Metal instances of clouds have the cloud's DMI names too.
        return None
    found = _dmi_name(root) or _clock_name(root) or _device_tree_name(root)
    return found or ("unknown" if "hypervisor" in flags else None)


def _chosen(root: Root, path: str) -> str | None:
    return selected_word(root.read_text(path) or "")


def _over_policies(root: Root) -> dict[str, str | None]:
    names = (name for name in root.listdir(CPUFREQ) if name.startswith("policy"))
    domains = [domain_texts(root, f"{CPUFREQ}/{name}") for name in names]
    values = {name: {one.get(file) for one in domains} for name, file in _PER_POLICY.items()}
    return {name: ",".join(sorted(filter(None, found))) for name, found in values.items()}


def read_thp_sizes(root: Root) -> dict[int, str]:
    """Return the modes of transparent huge pages by size in KiB (Linux 6.8), ascending."""
    found = {}
    for name in root.listdir(_THP):
        match = re.fullmatch(r"hugepages-(\d+)kB", name, re.ASCII)
        word = _chosen(root, f"{_THP}/{name}/enabled") if match else None
        if match and word:
            found[int(match[1])] = word
    return dict(sorted(found.items()))


def _thp_sizes(root: Root) -> str | None:
    """Return the enabled sizes."""
    sizes = read_thp_sizes(root).items()
    return ",".join(f"{kib}k={word}" for kib, word in sizes if word != "never") or None


def _is_of_interest(argument: str) -> bool:
    return argument_name(argument) in _BOOT


def _dmi_name(root: Root) -> str | None:
    for file in ("product_name", "sys_vendor", "board_vendor", "bios_vendor", "product_version"):
        text = root.read_text(f"/sys/class/dmi/id/{file}") or ""
        for start, name in _DMI:
            if text.startswith(start):
                return name
    return None


def _clock_name(root: Root) -> str | None:
    # Paravirtual clocks exist even if a small hypervisor provides no DMI tables.
    clocks = root.read_text("/sys/devices/system/clocksource/clocksource0/available_clocksource")
    words = (clocks or "").split()
    return next((name for start, name in _CLOCKS for w in words if w.startswith(start)), None)


def _device_tree_name(root: Root) -> str | None:
    text = root.read_text("/proc/device-tree/hypervisor/compatible") or ""
    return "kvm" if "kvm" in text else ("xen" if "xen" in text else None)
