"""Swap devices and files: the backing store of the advisor.

The advisor (``native/tier/advisor/advisor.hpp``) replaces the pager without userfaultfd. Interface:
``/proc/swaps`` (proc_swaps(5)) and ``/proc/sys/vm/page-cluster``.
"""

from __future__ import annotations

from pathlib import Path

from assay.machine.swaps import swap_areas
from assay.records.codec import Record


class SwapUsage(Record, frozen=True, kw_only=True):
    """Swap space of the host.

    Attributes:
        size_bytes: total size, in bytes; 0 without swap.
        used_bytes: used size, in bytes.
        page_cluster: read-ahead, as the exponent of a power of two of pages; absent if unknown.
    """

    size_bytes: int = 0
    used_bytes: int = 0
    page_cluster: int | None = None


def read_swap(proc: Path = Path("/proc")) -> SwapUsage:
    """Read the present swap space."""
    areas = swap_areas(_text(proc / "swaps")).values()
    cluster = _text(proc / "sys/vm/page-cluster").strip()
    return SwapUsage(
        size_bytes=sum(area.size_bytes for area in areas),
        used_bytes=sum(area.used_bytes for area in areas),
        page_cluster=int(cluster) if cluster.isdecimal() else None,
    )


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
