"""Kernel configuration: its files, and the options that affect performance.

Interfaces: ``/proc/config.gz`` (with ``IKCONFIG_PROC``) or the file that distributions install
beside the kernel.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from assay.machine.root import Root

_MAX_FILE_BYTES = 4 * 2**20
_SET, _UNSET, _IS_UNSET = "CONFIG_", "# CONFIG_", " is not set"

# fmt: off
_FAMILIES = (
    "CC_OPTIMIZE_", "CPU_FREQ_DEFAULT_GOV_", "CPU_IDLE", "CPU_ISOLATION", "HUGETLB", "INIT_ON_",
    "LRU_GEN", "LTO_", "MEMCG", "MITIGATION_", "MOS_", "NO_HZ", "NUMA", "PARAVIRT", "PREEMPT",
    "PSI", "RCU_NOCB", "SCHED_", "SLAB", "SLUB", "TRANSPARENT_HUGEPAGE", "UCLAMP", "ZSWAP",
)
"""Name prefixes of options that affect performance; ``MOS_`` are those of the mOS kernel."""
_SINGLE = frozenset((
    "CC_VERSION_TEXT", "CFI_CLANG", "CGROUPS", "CPUSETS", "CPU_FREQ", "CPU_MITIGATIONS",
    "DEBUG_PREEMPT", "FAIR_GROUP_SCHED", "FORTIFY_SOURCE", "HARDENED_USERCOPY", "HIGH_RES_TIMERS",
    "HYPERVISOR_GUEST", "HZ", "INTEL_IDLE", "IRQ_TIME_ACCOUNTING", "KASAN", "KCSAN", "KFENCE",
    "KSM", "LOCKDEP", "OSNOISE_TRACER", "PER_VMA_LOCK", "PROVE_LOCKING", "RCU_BOOST", "RSEQ",
    "RT_GROUP_SCHED", "STACKPROTECTOR_STRONG", "TICK_CPU_ACCOUNTING", "TIMERLAT_TRACER",
    "VIRT_CPU_ACCOUNTING_GEN", "X86_INTEL_PSTATE", "X86_X2APIC",
))
_RENAMED = {
    "CALL_DEPTH_TRACKING": "MITIGATION_CALL_DEPTH_TRACKING",
    "CPU_IBPB_ENTRY": "MITIGATION_IBPB_ENTRY",
    "CPU_IBRS_ENTRY": "MITIGATION_IBRS_ENTRY",
    "CPU_SRSO": "MITIGATION_SRSO",
    "CPU_UNRET_ENTRY": "MITIGATION_UNRET_ENTRY",
    "PAGE_TABLE_ISOLATION": "MITIGATION_PAGE_TABLE_ISOLATION",
    "RETHUNK": "MITIGATION_RETHUNK",
    "RETPOLINE": "MITIGATION_RETPOLINE",
    "SLS": "MITIGATION_SLS",
    "SPECULATION_MITIGATIONS": "CPU_MITIGATIONS",
}
# fmt: on
"""Names before Linux 6.9, and current names: a renamed option is not a difference."""


_FIRST = frozenset(name[:2] for name in _FAMILIES)


def config_files(release: str) -> tuple[str, ...]:
    """Return possible files of a kernel's configuration, in search order."""
    return (
        "/proc/config.gz",
        *((f"/boot/config-{release}", f"/lib/modules/{release}/config") if release else ()),
    )


def config_text(root: Root, release: str) -> tuple[str | None, str | None]:
    """Return path and text of a kernel's configuration; ``None`` for both if none can be read."""
    for path in config_files(release):
        content = root.read_bytes(path, _MAX_FILE_BYTES)
        if content and path.endswith(".gz"):
            content = _unzipped(content)
        if content:
            return path, content.decode(errors="replace")
    return None, None


def options_in(text: str) -> dict[str, str]:
    """Return the options of a configuration by their current names; ``n`` if not set."""
    return dict(_options(text))


def performance_options(root: Root, release: str) -> dict[str, str]:
    """Return the options that affect performance, for the kernel of this release.

    Returns:
        An empty result if the configuration cannot be read. Options unknown to the kernel are left
        out, unset ones are ``n``.
    """
    _, text = config_text(root, release)
    found = {name: value for name, value in _options(text or "") if _affects_performance(name)}
    return dict(sorted(found.items()))


def _options(text: str) -> Iterator[tuple[str, str]]:
    """Yield names and values; with simple string calls, since there are ten thousand lines."""
    for line in text.split("\n"):
        if line.startswith(_SET):
            name, _, value = line[len(_SET) :].partition("=")
            yield _RENAMED.get(name, name), value.strip('"')
        elif line.startswith(_UNSET) and line.endswith(_IS_UNSET):
            name = line[len(_UNSET) : -len(_IS_UNSET)]
            yield _RENAMED.get(name, name), "n"


def _affects_performance(name: str) -> bool:
    return name in _SINGLE or (name[:2] in _FIRST and name.startswith(_FAMILIES))


def _unzipped(content: bytes) -> bytes | None:
    try:
        return zlib.decompressobj(wbits=31).decompress(content, _MAX_FILE_BYTES)
    except zlib.error:
        return None
