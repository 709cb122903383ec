"""A recorded tree of a machine with writable settings."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from assay.records import WriteFile
from assay.testing.recorded_host import Effect, RecordedHost

BOOT = "/proc/sys/kernel/random/boot_id"
THP = "/sys/kernel/mm/transparent_hugepage/enabled"
DEFRAG = "/sys/kernel/mm/transparent_hugepage/defrag"
SWAPPINESS = "/proc/sys/vm/swappiness"
POOL = "/proc/sys/vm/nr_hugepages"
RATIO, BYTES = "/proc/sys/vm/dirty_ratio", "/proc/sys/vm/dirty_bytes"
GOVERNOR = "/sys/devices/system/cpu/cpufreq/policy0/scaling_governor"
NO_TURBO = "/sys/devices/system/cpu/intel_pstate/no_turbo"
IRQ = "/proc/irq/24/smp_affinity_list"

FILES = {
    BOOT: "11111111-2222-3333-4444-555555555555",
    THP: "always [madvise] never",
    DEFRAG: "always defer defer+madvise [madvise] never",
    SWAPPINESS: "60",
    POOL: "0",
    RATIO: "20",
    BYTES: "0",
    GOVERNOR: "powersave",
    NO_TURBO: "0",
    IRQ: "0-1",
}


def plant(base: Path, files: dict[str, str] | None = None) -> None:
    """Write a tree."""
    for path, text in (FILES if files is None else files).items():
        place = base / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text + "\n")


def content(base: Path) -> dict[str, bytes]:
    """Return the content of every file of a tree."""
    return {
        str(place.relative_to(base)): place.read_bytes()
        for place in sorted(base.rglob("*"))
        if place.is_file()
    }


def _of_two(other: str) -> Effect:
    def effect(host: RecordedHost, path: str, text: str) -> str:
        # dirty_bytes takes two pages at least; what is set of the two sets the other to 0.
        if path == BYTES and int(text) < 8192:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)
        host.put(other, "0")
        return text

    return effect


def _governs(host: RecordedHost, path: str, text: str) -> str:
    host.put(NO_TURBO, "0")
    return text


EFFECTS: dict[str, Effect] = {RATIO: _of_two(BYTES), BYTES: _of_two(RATIO), GOVERNOR: _governs}
"""Side effects of a write in the kernel."""

ACTIONS = (
    WriteFile(path=GOVERNOR, value="performance", form="text", resets=(NO_TURBO,)),
    WriteFile(path=NO_TURBO, value="1", form="number"),
    WriteFile(path=THP, value="never", form="choice"),
    WriteFile(path=DEFRAG, value="defer+madvise", form="choice"),
    WriteFile(path=SWAPPINESS, value="10", form="number"),
    WriteFile(path=POOL, value="64", form="number"),
    WriteFile(path=BYTES, value="1048576", form="number", resets=(RATIO,)),
    WriteFile(path=IRQ, value="0", form="cpulist"),
)
