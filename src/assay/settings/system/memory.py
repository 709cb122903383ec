"""Memory: transparent huge pages, pools of huge pages, paging and dirty pages.

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
_RUNNING = "what is mapped already keeps its pages"
_MOST_PAGES = 1 << 24
_POOL_NOTE = "memory for them is looked for when it is set, and may be too scattered for all"
_BYTES = {"k": 1, "m": 1 << 10, "g": 1 << 20}
"""In kB, of which the kernel's names are."""
_SIZE = r"([0-9]{1,7})([kmg])"

_SCAN = (
    ("defrag", Choices((0, 1)), "khugepaged may compact memory to make huge pages: 0, 1"),
    ("pages_to_scan", Range(1, 1 << 31), "pages that khugepaged looks at in one round"),
    ("scan_sleep_millisecs", Range(0, 1 << 31), "milliseconds between two rounds of khugepaged"),
    ("alloc_sleep_millisecs", Range(0, 1 << 31), "how long khugepaged waits after a failure"),
    ("max_ptes_none", Range(0, 511), "unused small pages that a huge page may be made of"),
    ("max_ptes_swap", Range(0, 511), "swapped small pages that a huge page may be made of"),
    ("max_ptes_shared", Range(0, 511), "shared small pages that a huge page may be made of"),
)

KNOBS: tuple[FileSetting, ...] = (
    FileSetting(
        "vm.thp",
        "transparent huge pages for all programs: always, madvise, never",
        (f"{THP}/enabled",),
        Choices(_MODES),
        note=_RUNNING,
        absent=_NO_THP,
    ),
    FileSetting(
        "vm.thp.defrag",
        "whether a page fault waits for memory to be compacted",
        (f"{THP}/defrag",),
        Choices(("always", "defer", "defer+madvise", "madvise", "never")),
        absent=_NO_THP,
    ),
    FileSetting(
        "vm.thp.shmem",
        "huge pages in shared memory and tmpfs",
        (f"{THP}/shmem_enabled",),
        Choices(("always", "within_size", "advise", "never", "deny", "force")),
        note=_RUNNING,
        absent=_NO_THP,
    ),
    *(
        FileSetting(f"vm.khugepaged.{name}", summary, (f"{THP}/khugepaged/{name}",), domain)
        for name, domain, summary in _SCAN
    ),
    FileSetting(
        "vm.hugepages",
        "pool of huge pages of the usual size, over all nodes: a count",
        (f"{VM}/nr_hugepages",),
        Range(0, _MOST_PAGES),
        # Of every size: which is the usual one no file of the table says.
        parts=f"{NODES}/node#/hugepages/hugepages-#kB/nr_hugepages",
        note=_POOL_NOTE,
        absent="The kernel needs CONFIG_HUGETLBFS.",
    ),
    FileSetting(
        "vm.swappiness",
        "how readily anonymous memory is swapped instead of dropping files",
        (f"{VM}/swappiness",),
        Range(0, 200),
        absent="The kernel needs CONFIG_SWAP.",
    ),
    FileSetting(
        "vm.dirty_ratio",
        "share of memory, in per cent, from which on writers wait for the disk",
        (f"{VM}/dirty_ratio",),
        Range(0, 100),
        resets=(f"{VM}/dirty_bytes",),
    ),
    FileSetting(
        "vm.dirty_bytes",
        "bytes of written data from which on writers wait for the disk",
        (f"{VM}/dirty_bytes",),
        Range(8192, 1 << 50),
        resets=(f"{VM}/dirty_ratio",),
    ),
    FileSetting(
        "vm.dirty_background_ratio",
        "share of memory, in per cent, from which on the kernel writes out",
        (f"{VM}/dirty_background_ratio",),
        Range(0, 100),
        resets=(f"{VM}/dirty_background_bytes",),
    ),
    FileSetting(
        "vm.dirty_background_bytes",
        "bytes of written data from which on the kernel writes out",
        (f"{VM}/dirty_background_bytes",),
        Range(1, 1 << 50),
        resets=(f"{VM}/dirty_background_ratio",),
    ),
    FileSetting(
        "vm.dirty_expire",
        "age in centiseconds at which written data is due for the disk",
        (f"{VM}/dirty_expire_centisecs",),
        Range(0, 1 << 31),
    ),
    FileSetting(
        "vm.dirty_writeback",
        "centiseconds between two rounds of writing out; 0: none",
        (f"{VM}/dirty_writeback_centisecs",),
        Range(0, 1 << 31),
    ),
    FileSetting(
        "vm.zone_reclaim",
        "whether a node drops its own cache before memory is taken afar: bits",
        (f"{VM}/zone_reclaim_mode",),
        Range(0, 7),
        absent="The kernel needs CONFIG_NUMA.",
    ),
    FileSetting(
        "vm.compaction",
        "how eagerly memory is compacted in the background: 0 to 100",
        (f"{VM}/compaction_proactiveness",),
        Range(0, 100),
        absent="Linux 5.9 has it, with CONFIG_COMPACTION.",
    ),
    FileSetting(
        "vm.stat_interval",
        "seconds between two updates of memory counters, on every CPU",
        (f"{VM}/stat_interval",),
        Range(1, 3600),
    ),
    FileSetting(
        "ksm",
        "merging of equal pages: 0 stopped, 1 running, 2 stopped and unmerged",
        (f"{KSM}/run",),
        Choices((0, 1, 2)),
        note="pages that were merged meanwhile stay so when it is put back to 0",
        absent="The kernel needs CONFIG_KSM.",
    ),
)


def setting_of_size(name: str) -> FileSetting | None:
    """``vm.thp.64k``, ``vm.hugepages.2m`` and ``vm.hugepages.2m.node0``, of any size."""
    if match := re.fullmatch(rf"vm\.thp\.{_SIZE}", name, re.ASCII):
        folder = f"hugepages-{_kb(match)}kB"
        return FileSetting(
            name,
            "transparent huge pages of one size: always, inherit, madvise, never",
            (f"{THP}/{folder}/enabled",),
            Choices(("always", "inherit", *_MODES[1:])),
            note=_RUNNING,
            absent="Linux 6.8 has them, of sizes that the processor's page tables allow.",
        )
    if match := re.fullmatch(rf"vm\.hugepages\.{_SIZE}(?:\.node([0-9]+))?", name, re.ASCII):
        folder = f"hugepages-{_kb(match)}kB"
        place = HUGETLB if match[3] is None else f"{NODES}/node{int(match[3])}/hugepages"
        where = "over all nodes" if match[3] is None else "of one node"
        return FileSetting(
            name,
            f"pool of huge pages of one size, {where}: a count",
            (f"{place}/{folder}/nr_hugepages",),
            Range(0, _MOST_PAGES),
            parts=None if match[3] else f"{NODES}/node#/hugepages/{folder}/nr_hugepages",
            note=_POOL_NOTE,
            absent="`ls /sys/kernel/mm/hugepages` shows the sizes that there are.",
        )
    return None


def _kb(match: re.Match[str]) -> int:
    return int(match[1]) * _BYTES[match[2]]
