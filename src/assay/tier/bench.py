"""Bench: works of the catalogue with storage behind memory, beside memory alone.

Each cell, a work with data of one size and so many threads, is launched both ways in every round,
until the time is over. How a kernel is run, and who is told, is said from outside.
"""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from assay.errors import InvalidInputError, NotPossibleError
from assay.settings.tier import CHUNK_BYTES, MIN_DRAM_BYTES
from assay.tier.efficiency import (
    DEGREES,
    DRAM_MULTIPLES,
    POLYNOMIALS,
    WORKS,
    Cell,
    Device,
    Work,
    balance,
)

SAMPLE_S = "0.3"
"""A launch goes on so long, beside the passes that it does not count."""


class KernelTiming(Protocol):
    """What a kernel says of a variant that it has run."""

    @property
    def status(self) -> str:
        """``ok`` where its result was right."""
        ...

    @property
    def reason(self) -> str:
        """Why it was not."""
        ...

    @property
    def median_s(self) -> float:
        """Time of a pass."""
        ...

    @property
    def bytes(self) -> float:
        """Of its data."""
        ...

    @property
    def flops(self) -> float:
        """Operations of a pass."""
        ...


class KernelRunner(Protocol):
    """The kernels of the catalogue, by name."""

    def able(self, kernel: str) -> Collection[str]:
        """Its variants that are right and can be had here."""
        ...

    def timed(self, kernel: str, words: Sequence[str], dram_bytes: int | None) -> KernelTiming:
        """One launch, with storage behind so much DRAM; in memory alone where none is named.

        Raises:
            NotPossibleError: it fails.
        """
        ...


class Progress(NamedTuple):
    """A cell has been launched both ways.

    Attributes:
        round: from 1 on.
        work, threads, of_dram: of the cell.
        done: cells that the round has had.
        cells: that it is to have.
        left_s: of the time.
    """

    round: int
    work: Work
    threads: int
    of_dram: float
    done: int
    cells: int
    left_s: float


@dataclass
class _Point:
    """A cell on its way."""

    work: Work
    threads: int
    of_dram: float
    degree: int | None
    memory: list[KernelTiming] = field(default_factory=list)
    tier: list[KernelTiming] = field(default_factory=list)

    @property
    def data_bytes(self) -> float:
        """What it touches, as the first launch in memory told."""
        return self.memory[0].bytes * self.work.touched

    @property
    def words(self) -> tuple[str, ...]:
        degree = () if self.degree is None else ("--degree", str(self.degree))
        return (*self.work.words, *degree, "--threads", str(self.threads))


class TierBenchmark:
    """Cells, and what was measured of them.

    Args:
        kernels: that do the works.
        dram_bytes: that sizes of data are multiples of.
        sizes: of data, over DRAM.
        threads: numbers of them.
        works: those that are run, as `named` gives them.

    Raises:
        InvalidInputError: no work is run with data of these sizes; what takes long ends with smaller ones.
    """

    def __init__(
        self,
        kernels: KernelRunner,
        dram_bytes: int,
        sizes: Sequence[float],
        threads: Sequence[int],
        works: Sequence[Work] = WORKS,
    ) -> None:
        self._kernels = kernels
        self._dram_bytes = dram_bytes
        self._points = list(_points(sizes, threads, works))
        if not self._points:
            most = max(work.of_dram for work in works)
            raise InvalidInputError(
                f"Programs of these names are run with data of at most {most:g} times DRAM.",
                "Name less, or other programs.",
            )

    def measure(
        self,
        for_s: float,
        told: Callable[[Progress], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Round by round, the first in order of size, so that a short time has the small ones.

        Args:
            for_s: so long; what has begun is ended.
            told: is told of each cell.
            clock: in seconds.

        Raises:
            NotPossibleError: a kernel fails, or its result is wrong.
        """
        end = clock() + for_s
        rng = random.Random(0)
        order = list(self._points)
        for number in itertools.count(1):
            for done, point in enumerate(order, 1):
                if clock() >= end:
                    return
                self._launch_both(point, rng)
                told(
                    Progress(
                        round=number,
                        work=point.work,
                        threads=point.threads,
                        of_dram=point.of_dram,
                        done=done,
                        cells=len(order),
                        left_s=max(0.0, end - clock()),
                    )
                )
            rng.shuffle(order)

    def cells(self, device: Device) -> list[Cell]:
        """Those that were measured, with the model of a device beside them."""
        return [_cell(point, device) for point in self._points if point.tier]

    @property
    def missing(self) -> int:
        """Cells that the time was too short for."""
        return sum(not point.tier for point in self._points)

    def _launch_both(self, point: _Point, rng: random.Random) -> None:
        """In memory and with the tier, in any order from the second round on."""
        ways = [False, True]
        if point.memory:
            rng.shuffle(ways)
        for tier in ways:
            kept = point.tier if tier else point.memory
            kept.append(self._timed(point, tier=tier))

    def _timed(self, point: _Point, *, tier: bool) -> KernelTiming:
        """One launch.

        Raises:
            NotPossibleError: a kernel fails, or its result is wrong.
        """
        size = int(point.of_dram * self._dram_bytes / point.work.touched)
        data = ("--variant", self._variant(point.work), "--size", str(size), "--seconds", SAMPLE_S)
        dram_bytes = _dram_bytes(point) if tier else None
        seen = self._kernels.timed(point.work.kernel, (*data, *point.words), dram_bytes)
        if seen.status != "ok":
            raise NotPossibleError(
                f"{point.work.name} gave a wrong result {'with' if tier else 'without'} the tier: "
                f"{seen.reason or seen.status}.",
                "Run it again; if it stays so, report it.",
            )
        return seen

    def _variant(self, work: Work) -> str:
        """The one that is wanted most of those that can be had here.

        Raises:
            NotPossibleError: none can.
        """
        able = self._kernels.able(work.kernel)
        found = next((one for one in work.variants if one in able), None)
        if found is None:
            raise NotPossibleError(
                f"No variant of {work.kernel} that `tier bench` knows can be had here.",
                f"`assay case show {work.kernel}` says why.",
            )
        return found


def fitting_sizes(dram_bytes: int, free_bytes: int) -> tuple[float, ...]:
    """Data over DRAM, of those that fit into so much memory: that is what is compared with."""
    return tuple(one for one in DRAM_MULTIPLES if one * dram_bytes <= free_bytes)


def read_free_bytes(proc: Path = Path("/proc")) -> int:
    """Memory that programs can have without swap."""
    lines = (proc / "meminfo").read_text().splitlines()  # proc_meminfo(5): in KiB
    told = next(line for line in lines if line.startswith("MemAvailable:"))
    return int(told.split()[1]) << 10


def find_works(words: Sequence[str]) -> tuple[Work, ...]:
    """Works with one of the words in their names, in any case of letters; all where there is none.

    Raises:
        InvalidInputError: no work has one of them.
    """
    if not words:
        return WORKS
    found: list[Work] = []
    for word in words:
        having = [work for work in WORKS if word.casefold() in work.name.casefold()]
        if not having:
            names = ", ".join(repr(work.name) for work in WORKS)
            raise InvalidInputError(
                f"No program of the bench has {word!r} in its name.", f"Those: {names}."
            )
        found += having
    return tuple(work for work in WORKS if work in found)


def _points(
    sizes: Sequence[float], threads: Sequence[int], works: Sequence[Work]
) -> Iterator[_Point]:
    for of_dram in sizes:
        for count in threads:
            for work in works:
                if of_dram <= work.of_dram:
                    for degree in DEGREES if work in POLYNOMIALS else (None,):
                        yield _Point(work, count, of_dram, degree)


def _dram_bytes(point: _Point) -> int:
    """In chunks; less where data are less than was asked for, as those that are 2^n bytes."""
    chunks = round(point.data_bytes / point.of_dram / CHUNK_BYTES)
    return max(chunks * CHUNK_BYTES, MIN_DRAM_BYTES)


def _cell(point: _Point, device: Device) -> Cell:
    one = point.memory[0]
    memory_s = tuple(seen.median_s for seen in point.memory)
    middle_s = sorted(memory_s)[len(memory_s) // 2]
    return Cell(
        work=point.work.name,
        threads=point.threads,
        of_dram=point.of_dram,
        intensity=one.flops / (point.data_bytes * point.work.items),
        memory_s=memory_s,
        tier_s=tuple(seen.median_s for seen in point.tier),
        of_balance=balance(point.work, point.of_dram, middle_s, point.data_bytes, device),
    )
