"""Swap: what the kernel has to put memory that is not used just now.

The advisor (``native/tier/advisor.hpp``) works with it where the pager may not be used. Interface:
``/proc/swaps`` (proc_swaps(5)) and ``/proc/sys/vm/page-cluster``.
"""

from __future__ import annotations

from pathlib import Path

from assay.records.codec import Record

NO_SWAP = "no swap is in use"


class Swap(Record, frozen=True, kw_only=True):
    """All of it.

    Attributes:
        size_bytes: 0 where there is none.
        used_bytes: of them.
        page_cluster: as a power of two, pages that are read at once where nobody asks for more;
            absent where the kernel does not say.
    """

    size_bytes: int = 0
    used_bytes: int = 0
    page_cluster: int | None = None

    @property
    def active(self) -> bool:
        """Whether there is any."""
        return self.size_bytes > 0


def read_swap(proc: Path = Path("/proc")) -> Swap:
    """What there is now."""
    rows = [line.split() for line in _text(proc / "swaps").splitlines()[1:]]
    sizes = [(int(row[-3]), int(row[-2])) for row in rows if len(row) >= 5]
    cluster = _text(proc / "sys/vm/page-cluster").strip()
    return Swap(
        size_bytes=sum(size for size, _ in sizes) << 10,
        used_bytes=sum(used for _, used in sizes) << 10,
        page_cluster=int(cluster) if cluster.isdecimal() else None,
    )


def how_to_swap(folder: str | None) -> str:
    """What root does to have a swap file there."""
    file = f"{(folder or 'DIR').partition(',')[0]}/swap"
    return (
        f"Make one as root: fallocate -l SIZE {file}, chmod 600 {file}, mkswap {file}, "
        f"swapon {file}."
    )


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
