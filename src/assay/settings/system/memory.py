"""Memory settings: transparent huge pages, pools of huge pages, paging and dirty pages.

Interfaces: ``Documentation/admin-guide/mm/{transhuge,hugetlbpage,ksm,numa_memory_policy}.rst``,
``admin-guide/sysctl/vm.rst``.
"""

from __future__ import annotations

import re

from assay.machine.tunables import HUGETLB, KSM, NODES, THP, VM
from assay.records import Choices, Range
from assay.settings.system.file_setting import FileSetting

_MODES = ("always", "madvise", "never")
_NO_THP = "The kernel needs CONFIG_TRANSPARENT_HUGEPAGE."
_NEW_MAPPINGS_NOTE = "existing mappings keep their pages"
_MAX_PAGES = 1 << 24
_POOL_NOTE = "memory is allocated when it is set, and may be too fragmented for all pages"
_BYTES = {"k": 1, "m": 1 << 10, "g": 1 << 20}
"""Units in kB, as in the kernel's names."""
_SIZE = r"([0-9]{1,7})([kmg])"

_SCAN = (
    ("defrag", Choices((0, 1)), "compaction by khugepaged to make huge pages: 0, 1"),
    ("pages_to_scan", Range(1, 1 << 31), "pages that khugepaged scans per round"),
    ("scan_sleep_millisecs", Range(0, 1 << 31), "milliseconds between two rounds of khugepaged"),
    (
        "alloc_sleep_millisecs",
        Range(0, 1 << 31),
        "milliseconds that khugepaged waits after a failed allocation",
    ),
    ("max_ptes_none", Range(0, 511), "unused small pages allowed in a new huge page"),
    ("max_ptes_swap", Range(0, 511), "swapped small pages allowed in a new huge page"),
    ("max_ptes_shared", Range(0, 511), "shared small pages allowed in a new huge page"),
)

FILE_SETTINGS: tuple[FileSetting, ...] = (
    FileSetting(
        "vm.thp",
        "transparent huge pages for all programs: always, madvise, never",
        (f"{THP}/enabled",),
        Choices(_MODES),
        note=_NEW_MAPPINGS_NOTE,
        remedy=_NO_THP,
    ),
    FileSetting(
        "vm.thp.defrag",
        "memory compaction during a page fault",
        (f"{THP}/defrag",),
        Choices(("always", "defer", "defer+madvise", "madvise", "never")),
        remedy=_NO_THP,
    ),
    FileSetting(
        "vm.thp.shmem",
        "huge pages in shared memory and tmpfs",
        (f"{THP}/shmem_enabled",),
        Choices(("always", "within_size", "advise", "never", "deny", "force")),
        note=_NEW_MAPPINGS_NOTE,
        remedy=_NO_THP,
    ),
    *(
        FileSetting(f"vm.khugepaged.{name}", summary, (f"{THP}/khugepaged/{name}",), domain)
        for name, domain, summary in _SCAN
    ),
    FileSetting(
        "vm.hugepages",
        "pool of huge pages of the default size, over all nodes: number of pages",
        (f"{VM}/nr_hugepages",),
        Range(0, _MAX_PAGES),
        # Pools of every size: no file of the table names the default size.
        parts=f"{NODES}/node#/hugepages/hugepages-#kB/nr_hugepages",
        note=_POOL_NOTE,
        remedy="The kernel needs CONFIG_HUGETLBFS.",
    ),
    FileSetting(
        "vm.swappiness",
        "preference for swapping anonymous memory over dropping file pages",
        (f"{VM}/swappiness",),
        Range(0, 200),
        remedy="The kernel needs CONFIG_SWAP.",
    ),
    FileSetting(
        "vm.dirty_ratio",
        "percentage of dirty memory at which writers wait for the disk",
        (f"{VM}/dirty_ratio",),
        Range(0, 100),
        resets=(f"{VM}/dirty_bytes",),
    ),
    FileSetting(
        "vm.dirty_bytes",
        "bytes of dirty memory at which writers wait for the disk",
        (f"{VM}/dirty_bytes",),
        Range(8192, 1 << 50),
        resets=(f"{VM}/dirty_ratio",),
    ),
    FileSetting(
        "vm.dirty_background_ratio",
        "percentage of dirty memory at which background write-back starts",
        (f"{VM}/dirty_background_ratio",),
        Range(0, 100),
        resets=(f"{VM}/dirty_background_bytes",),
    ),
    FileSetting(
        "vm.dirty_background_bytes",
        "bytes of dirty memory at which background write-back starts",
        (f"{VM}/dirty_background_bytes",),
        Range(1, 1 << 50),
        resets=(f"{VM}/dirty_background_ratio",),
    ),
    FileSetting(
        "vm.dirty_expire",
        "age in centiseconds at which dirty data is written back",
        (f"{VM}/dirty_expire_centisecs",),
        Range(0, 1 << 31),
    ),
    FileSetting(
        "vm.dirty_writeback",
        "centiseconds between two rounds of write-back; 0: none",
        (f"{VM}/dirty_writeback_centisecs",),
        Range(0, 1 << 31),
    ),
    FileSetting(
        "vm.zone_reclaim",
        "reclaim of a node's own cache before remote allocation: a bit mask",
        (f"{VM}/zone_reclaim_mode",),
        Range(0, 7),
        remedy="The kernel needs CONFIG_NUMA.",
    ),
    FileSetting(
        "vm.compaction",
        "intensity of background memory compaction: 0 to 100",
        (f"{VM}/compaction_proactiveness",),
        Range(0, 100),
        remedy="It needs Linux 5.9 and CONFIG_COMPACTION.",
    ),
    FileSetting(
        "vm.stat_interval",
        "seconds between two updates of memory counters, on every CPU",
        (f"{VM}/stat_interval",),
        Range(1, 3600),
    ),
    FileSetting(
        "ksm",
        "merging of identical pages: 0 stopped, 1 running, 2 stopped and unmerged",
        (f"{KSM}/run",),
        Choices((0, 1, 2)),
        note="pages merged meanwhile remain merged when it is reset to 0",
        remedy="The kernel needs CONFIG_KSM.",
    ),
)


def setting_of_size(name: str) -> FileSetting | None:
    """Return ``vm.thp.64k``, ``vm.hugepages.2m`` or ``vm.hugepages.2m.node0``, for any size."""
    if match := re.fullmatch(rf"vm\.thp\.{_SIZE}", name, re.ASCII):
        folder = f"hugepages-{_kb(match)}kB"
        return FileSetting(
            name,
            "transparent huge pages of one size: always, inherit, madvise, never",
            (f"{THP}/{folder}/enabled",),
            Choices(("always", "inherit", *_MODES[1:])),
            note=_NEW_MAPPINGS_NOTE,
            remedy="It needs Linux 6.8, and a size that the processor's page tables support.",
        )
    if match := re.fullmatch(rf"vm\.hugepages\.{_SIZE}(?:\.node([0-9]+))?", name, re.ASCII):
        folder = f"hugepages-{_kb(match)}kB"
        place = HUGETLB if match[3] is None else f"{NODES}/node{int(match[3])}/hugepages"
        scope = "over all nodes" if match[3] is None else "of one node"
        return FileSetting(
            name,
            f"pool of huge pages of one size, {scope}: number of pages",
            (f"{place}/{folder}/nr_hugepages",),
            Range(0, _MAX_PAGES),
            parts=None if match[3] else f"{NODES}/node#/hugepages/{folder}/nr_hugepages",
            note=_POOL_NOTE,
            remedy="`ls /sys/kernel/mm/hugepages` shows the supported sizes.",
        )
    return None


def _kb(match: re.Match[str]) -> int:
    return int(match[1]) * _BYTES[match[2]]
