"""Ways to run a program whose data exceed its memory."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from assay.native_programs import native_folder

from .disks import Disks
from .host import memory_group, page_cluster, swap


@dataclass(frozen=True)
class Way:
    """A way to store the data of a program.

    Attributes:
        cluster: number of pages that swap reads at once, as a power of two; absent without swap.
        tier: share of the control group's memory for the tier; the program has the rest.
        advisor: the same for the advisor; the rest includes pages in transfer to and from swap.
        replayed: true if the tier prefetches from a recorded trace of an earlier run.
        advised: true if the program itself announces its accesses to the kernel.
        file: true if large allocations are a mapped file.
        limited: true if the memory is smaller than the data.
        disks: indices of the disks with the tier's paths; empty for the folder itself.
        alone: true if the device alone reads this amount, without a program.
        repeats: least number of runs per round; more for short passes.
    """

    name: str
    cluster: int | None = None
    tier: float | None = None
    advisor: float | None = None
    replayed: bool = False
    advised: bool = False
    file: bool = False
    limited: bool = True
    disks: tuple[int, ...] = ()
    alone: bool = False
    repeats: int = 1


DEVICE = Way("device", limited=False, alone=True, repeats=3)
MEMORY = Way("memory", limited=False)
TIER = Way("tier", tier=0.95, repeats=3)
REPLAYED = Way("tier, replayed", tier=0.9, replayed=True)
SWAP = Way("swap", cluster=3)
SWAPS = (
    Way("swap, page-cluster 0", cluster=0),
    SWAP,
    Way("swap, page-cluster 5", cluster=5),
    Way("swap, page-cluster 8", cluster=8),
)
PROGRAM_ADVISED = Way("swap, advised by the program", cluster=3, advised=True)
ADVISOR = Way("swap, advised by the tier", cluster=3, advisor=0.8)
MAPPED = Way("mapped file", file=True)

DISK_RATES = (200_000_000, 200_000_000, 400_000_000)
"""Throughput of each disk in bytes per second, small enough that the host is not the limit."""
ONE_DISK = Way("one disk", tier=0.9, limited=False, disks=(0,))
TWO_DISKS = Way("two disks", tier=0.9, limited=False, disks=(0, 1))
UNEQUAL = Way("two disks, one twice as fast", tier=0.9, limited=False, disks=(0, 2))
UNEQUAL_TWICE = Way(
    "two disks, one twice as fast and listed twice", tier=0.9, limited=False, disks=(0, 2, 2)
)


@dataclass(frozen=True)
class Place:
    """State shared by the ways.

    Attributes:
        folder: folder on the measured disk.
        dram_bytes: memory of a program.
        data_bytes: largest size of its data.
        filemap: library that maps files.
        disks: disks with the rates in `DISK_RATES`; absent if they are not available.
    """

    folder: Path
    dram_bytes: int
    data_bytes: int
    filemap: Path
    disks: Disks | None = None

    def paths(self, way: Way) -> tuple[Path, ...]:
        """Return the folders of the tier's files."""
        if self.disks is None or not way.disks:
            return (self.folder,)
        return tuple(self.disks.paths[number] for number in way.disks)

    @property
    def report(self) -> Path:
        """File for the counts of the tier."""
        return self.folder / "report"

    @property
    def touches(self) -> Path:
        """Folder for recorded accesses of a program."""
        return self.folder / "touches"


def environment(way: Way, place: Place) -> dict[str, str]:
    """Return the environment variables that a way adds."""
    library = native_folder(os.environ) / "libassay-tier.so"
    if way.advisor is not None:
        return {
            "LD_PRELOAD": str(library),
            "ASSAY_TIER_HOW": "advisor",
            "ASSAY_TIER_DRAM": str(int(way.advisor * place.dram_bytes)),
        }
    if way.tier is not None:
        replay = {"ASSAY_TIER_REPLAY": str(place.touches)} if way.replayed else {}
        return {
            "LD_PRELOAD": str(library),
            "ASSAY_TIER_PATH": ",".join(map(str, place.paths(way))),
            "ASSAY_TIER_DRAM": str(int(way.tier * place.dram_bytes)),
            "ASSAY_TIER_REPORT": str(place.report),
            **replay,
        }
    if way.file:
        return {"LD_PRELOAD": str(place.filemap), "FILEMAP_FOLDER": str(place.folder)}
    return {}


def recording(way: Way, place: Place) -> dict[str, str]:
    """Return the environment of the run that records the trace for a replay."""
    before = environment(replace(way, replayed=False), place)
    return {**before, "ASSAY_TIER_TRACE": str(place.touches)}


@contextlib.contextmanager
def prepared(way: Way, place: Place) -> Iterator[Path | None]:
    """Prepare the host for a way; yield the file that takes members of the control group."""
    with contextlib.ExitStack() as stack:
        if way.cluster is not None:
            stack.enter_context(swap(place.folder, 2 * place.data_bytes))
            stack.enter_context(page_cluster(way.cluster))
        if way.disks and place.disks is not None:
            yield place.disks.members
        else:
            yield stack.enter_context(memory_group(place.dram_bytes)) if way.limited else None
