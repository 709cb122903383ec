"""Benchmark of workloads with a backing store, compared with memory alone.

Each cell, a workload with a data size and a number of threads, is launched both ways in every round
until the time limit. The caller supplies the kernels and receives the progress.
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
"""Minimum duration of a launch in addition to uncounted passes, in seconds."""


class KernelTiming(Protocol):
    """Result of one variant of a kernel."""

    @property
    def status(self) -> str:
        """Return ``ok`` for a correct result."""
        ...

    @property
    def reason(self) -> str:
        """Return the reason of an incorrect result."""
        ...

    @property
    def median_s(self) -> float:
        """Return the median time of a pass, in seconds."""
        ...

    @property
    def bytes(self) -> float:
        """Return the data size in bytes."""
        ...

    @property
    def flops(self) -> float:
        """Return the number of operations of a pass."""
        ...


class KernelRunner(Protocol):
    """Runner of the kernels of the catalogue, by name."""

    def available_variants(self, kernel: str) -> Collection[str]:
        """Return the available variants of a kernel with correct results."""
        ...

    def run(self, kernel: str, words: Sequence[str], dram_bytes: int | None) -> KernelTiming:
        """Run one launch with a DRAM size, or in memory alone if it is ``None``.

        Raises:
            NotPossibleError: the kernel fails.
        """
        ...


class Progress(NamedTuple):
    """Progress after both launches of a cell.

    Attributes:
        round: number of the round, from 1.
        work, threads, of_dram: the cell.
        done: finished cells of the round.
        cells: total number of cells of the round.
        left_s: remaining time, in seconds.
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
    """Cell with its results so far."""

    work: Work
    threads: int
    of_dram: float
    degree: int | None
    memory: list[KernelTiming] = field(default_factory=list)
    tier: list[KernelTiming] = field(default_factory=list)

    @property
    def data_bytes(self) -> float:
        """Return the size of the accessed data, from the first launch in memory."""
        return self.memory[0].bytes * self.work.touched

    @property
    def words(self) -> tuple[str, ...]:
        degree = () if self.degree is None else ("--degree", str(self.degree))
        return (*self.work.words, *degree, "--threads", str(self.threads))


class TierBenchmark:
    """Cells of the benchmark with their results.

    Args:
        kernels: runner of the kernels.
        dram_bytes: DRAM size, unit of data sizes.
        sizes: data sizes, relative to DRAM.
        threads: numbers of threads.
        works: workloads, as returned by ``find_works``.

    Raises:
        InvalidInputError: no workload runs with these sizes; slow ones are limited to smaller
            sizes.
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
                f"These programs run with data of at most {most:g} times DRAM.",
                "Specify smaller sizes, or other programs.",
            )

    def measure(
        self,
        for_s: float,
        report: Callable[[Progress], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Run rounds until the time limit, the first one in order of size.

        Args:
            for_s: time limit in seconds; a running cell is finished.
            report: callback after each cell.
            clock: clock in seconds.

        Raises:
            NotPossibleError: a kernel fails or returns an incorrect result.
        """
        end = clock() + for_s
        rng = random.Random(0)
        order = list(self._points)
        for number in itertools.count(1):
            for done, point in enumerate(order, 1):
                if clock() >= end:
                    return
                self._launch_both(point, rng)
                report(
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
        """Return the measured cells with the model of a device."""
        return [_cell(point, device) for point in self._points if point.tier]

    @property
    def missing(self) -> int:
        """Return the number of cells that were not measured within the time limit."""
        return sum(not point.tier for point in self._points)

    def _launch_both(self, point: _Point, rng: random.Random) -> None:
        """Run both launches of a cell, in random order from the second round on."""
        ways = [False, True]
        if point.memory:
            rng.shuffle(ways)
        for tier in ways:
            kept = point.tier if tier else point.memory
            kept.append(self._timed(point, tier=tier))

    def _timed(self, point: _Point, *, tier: bool) -> KernelTiming:
        """Run one launch.

        Raises:
            NotPossibleError: a kernel fails or returns an incorrect result.
        """
        size = int(point.of_dram * self._dram_bytes / point.work.touched)
        data = ("--variant", self._variant(point.work), "--size", str(size), "--seconds", SAMPLE_S)
        dram_bytes = _dram_bytes(point) if tier else None
        seen = self._kernels.run(point.work.kernel, (*data, *point.words), dram_bytes)
        if seen.status != "ok":
            raise NotPossibleError(
                f"Incorrect result of {point.work.name} {'with' if tier else 'without'} the tier: "
                f"{seen.reason or seen.status}.",
                "Run it again, and report a repeated failure.",
            )
        return seen

    def _variant(self, work: Work) -> str:
        """Return the preferred available variant.

        Raises:
            NotPossibleError: no variant is available.
        """
        available = self._kernels.available_variants(work.kernel)
        found = next((variant for variant in work.variants if variant in available), None)
        if found is None:
            raise NotPossibleError(
                f"No variant of {work.kernel} for `tier bench` is available on this machine.",
                f"`assay case show {work.kernel}` shows the reason.",
            )
        return found


def fitting_sizes(dram_bytes: int, free_bytes: int) -> tuple[float, ...]:
    """Return the data sizes relative to DRAM that fit into memory, for the comparison."""
    return tuple(multiple for multiple in DRAM_MULTIPLES if multiple * dram_bytes <= free_bytes)


def read_free_bytes(proc: Path = Path("/proc")) -> int:
    """Return the memory available without swapping, in bytes."""
    lines = (proc / "meminfo").read_text().splitlines()  # proc_meminfo(5): in KiB
    available = next(line for line in lines if line.startswith("MemAvailable:"))
    return int(available.split()[1]) << 10


def find_works(words: Sequence[str]) -> tuple[Work, ...]:
    """Return the workloads whose names contain one of the words, ignoring case; all without words.

    Raises:
        InvalidInputError: no workload contains a word.
    """
    if not words:
        return WORKS
    found: list[Work] = []
    for word in words:
        having = [work for work in WORKS if word.casefold() in work.name.casefold()]
        if not having:
            names = ", ".join(repr(work.name) for work in WORKS)
            raise InvalidInputError(
                f"No program of the benchmark contains {word!r}.", f"Programs: {names}."
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
    """Return the DRAM size in whole chunks, reduced if the data are smaller than requested."""
    chunks = round(point.data_bytes / point.of_dram / CHUNK_BYTES)
    return max(chunks * CHUNK_BYTES, MIN_DRAM_BYTES)


def _cell(point: _Point, device: Device) -> Cell:
    one = point.memory[0]
    memory_s = tuple(seen.median_s for seen in point.memory)
    middle_s = sorted(memory_s)[len(memory_s) // 2]
    return Cell(
        work=point.work.name,
        threads=point.threads,
        dram_ratio=point.of_dram,
        intensity=one.flops / (point.data_bytes * point.work.items),
        memory_s=memory_s,
        tier_s=tuple(seen.median_s for seen in point.tier),
        balance_ratio=balance(point.work, point.of_dram, middle_s, point.data_bytes, device),
    )
