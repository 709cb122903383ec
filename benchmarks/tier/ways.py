"""Ways to run a program that needs more memory than it may hold."""

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
    """One of them.

    Attributes:
        cluster: pages that swap reads at once, as a power of two; absent where there is no swap.
        tier: memory of the tier over what the group allows; the rest is the program's own.
        advisor: the same of the advisor; the rest is also what is on its way to swap and back.
        replayed: whether the tier foresees touches by a record of an earlier run.
        advised: whether the program itself tells the kernel what it will do.
        file: whether large memory is a mapped file.
        limited: whether there is less memory than data.
        disks: those of the place that the tier's paths are on; none for the place itself.
        alone: whether it is the place's disk by itself that reads so much, and no program.
        repeats: times that a round has it at least; more where much hangs on short passes.
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
TOLD = Way("swap, told ahead", cluster=3, advised=True)
ADVISOR = Way("swap, advised by the tier", cluster=3, advisor=0.8)
MAPPED = Way("mapped file", file=True)

DISK_RATES = (200_000_000, 200_000_000, 400_000_000)
"""Bytes per second of each disk: so few that neither this host nor its own disk is the limit."""
ONE_DISK = Way("one disk", tier=0.9, limited=False, disks=(0,))
TWO_DISKS = Way("two disks", tier=0.9, limited=False, disks=(0, 1))
UNEQUAL = Way("and one twice as fast", tier=0.9, limited=False, disks=(0, 2))
UNEQUAL_TWICE = Way("and one twice as fast, named twice", tier=0.9, limited=False, disks=(0, 2, 2))


@dataclass(frozen=True)
class Place:
    """What the ways share.

    Attributes:
        folder: on the disk that is measured.
        dram_bytes: what a program may hold.
        data_bytes: what it works on, at most.
        filemap: library that maps files.
        disks: of the rates that `DISK_RATES` has; absent where there can be none.
    """

    folder: Path
    dram_bytes: int
    data_bytes: int
    filemap: Path
    disks: Disks | None = None

    def paths(self, way: Way) -> tuple[Path, ...]:
        """Where the tier has its files."""
        if self.disks is None or not way.disks:
            return (self.folder,)
        return tuple(self.disks.paths[number] for number in way.disks)

    @property
    def report(self) -> Path:
        """File for the counts of the tier."""
        return self.folder / "report"

    @property
    def touches(self) -> Path:
        """Folder for what a program touched."""
        return self.folder / "touches"


def environment(way: Way, place: Place) -> dict[str, str]:
    """Variables that a way adds."""
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
    """Variables of the run that records what a replayed one foresees."""
    before = environment(replace(way, replayed=False), place)
    return {**before, "ASSAY_TIER_TRACE": str(place.touches)}


@contextlib.contextmanager
def prepared(way: Way, place: Place) -> Iterator[Path | None]:
    """The host as a way needs it; gives the file that takes members of the group."""
    with contextlib.ExitStack() as stack:
        if way.cluster is not None:
            stack.enter_context(swap(place.folder, 2 * place.data_bytes))
            stack.enter_context(page_cluster(way.cluster))
        if way.disks and place.disks is not None:
            yield place.disks.members
        else:
            yield stack.enter_context(memory_group(place.dram_bytes)) if way.limited else None
