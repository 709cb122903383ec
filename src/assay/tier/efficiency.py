"""Efficiency: speed of a program with a backing store, relative to memory alone.

The evaluation of Intel Memory Drive Technology used two parameters: data size over DRAM, and
operations per byte of the data (V. Mironov et al., Evaluation of Intel Memory Drive Technology
performance for scientific applications, MCHPC 2018). Transfers are either hidden behind the
computation, or they limit the speed.
"""

from __future__ import annotations

import statistics

from assay.records.codec import Record


class Work(Record, frozen=True, kw_only=True):
    """Workload of the catalogue with data of nearly any size.

    Attributes:
        name: displayed name.
        kernel: kernel of the catalogue.
        variants: variants of the kernel, preferred one first.
        words: arguments that select the workload.
        written: share of the data that a pass modifies.
        items: share of the data that operations are counted for.
        touched: share of the data that these variants access; other variants need the rest.
        of_dram: maximum data size relative to DRAM; slow workloads have a small one.
    """

    name: str
    kernel: str
    variants: tuple[str, ...]
    words: tuple[str, ...] = ()
    written: float = 0.0
    items: float = 1.0
    touched: float = 1.0
    of_dram: float = float("inf")


class Device(Record, frozen=True, kw_only=True):
    """Total bandwidth of the paths for large transfers.

    Attributes:
        read: bandwidth of reads, in bytes per second.
        write: bandwidth of writes, in bytes per second.
    """

    read: float
    write: float

    def pass_s(self, size_bytes: float, written: float) -> float:
        """Return the time to fetch all data and write back the modified share, in seconds."""
        return size_bytes * (1.0 / self.read + written / self.write)


class Cell(Record, frozen=True, kw_only=True):
    """Workload with a data size and a number of threads, with its results.

    Attributes:
        work: name of the workload.
        threads: number of threads.
        dram_ratio: data size relative to DRAM.
        intensity: operations per byte of the data items: 2 * degree / 8 of a polynomial, whether
            its values are stored or summed.
        memory_s: times of a pass in memory alone, in seconds.
        tier_s: times of a pass with a backing store, in seconds, each from the same round.
        balance_ratio: I / I*, the intensity relative to the one with equal computation and transfer
            times; absent if the data fit into DRAM.
    """

    work: str
    threads: int
    dram_ratio: float
    intensity: float
    memory_s: tuple[float, ...]
    tier_s: tuple[float, ...]
    balance_ratio: float | None = None

    @property
    def model(self) -> float:
        """Return the efficiency with a perfect overlap of work and transfers: min(1, I / I*).

        Data that fit into DRAM are fetched only once.
        """
        return 1.0 if self.balance_ratio is None else min(1.0, self.balance_ratio)

    @property
    def efficiency(self) -> float:
        """Return the median efficiency over the rounds; 1 is the speed in memory."""
        pairs = zip(self.memory_s, self.tier_s, strict=True)
        return statistics.median(memory / tier for memory, tier in pairs)


def balance(
    work: Work, of_dram: float, memory_s: float, size_bytes: float, dev: Device
) -> float | None:
    """Return I / I*, computation time over transfer time; ``None`` if the data fit into DRAM.

    With F operations per second and I operations per byte, a pass over W bytes computes for I W / F
    seconds. So I* is F over the bandwidth, of reading alone or of reading and writing in turn.
    """
    if of_dram <= 1.0:
        return None
    return memory_s / dev.pass_s(size_bytes, work.written)


POLYNOMIALS = tuple(
    Work(
        name=f"polynomial, {how}",
        kernel="horner",
        variants=("threads-avx512", "threads-avx2", "horner"),
        words=("--write", write),
        written=written,
        items=1.0 - written,
    )
    # One array is read, and another of the same size is written.
    for how, write, written in (("read", "0", 0.0), ("read and written", "1", 0.5))
)
DEGREES = (1, 4, 16, 64, 256, 1024)

OTHER_WORKS = (
    Work(
        name="STREAM triad",
        kernel="bandwidth",
        variants=("threads-avx512", "threads"),
        words=("--operation", "2"),
        written=1 / 3,
    ),
    *(
        Work(name=name, kernel="traversal", variants=(variant,))
        for name, variant in (
            ("forwards", "forward"),
            ("backwards", "backward"),
            ("all threads", "threads"),
            ("tiles of 2 MiB", "tiles"),
            ("rows of 64 KiB", "rows"),
        )
    ),
    *(
        Work(name=name, kernel="traversal", variants=(variant,), of_dram=2.0)
        for name, variant in (("1 KiB of each 72 KiB", "records"), ("random pages", "pages"))
    ),
    # The tiled storage is as large as the matrix, but no variant here uses it.
    *(
        Work(name=name, kernel="lu", variants=variants, written=1.0, touched=0.5, of_dram=2.0)
        for name, variants in (
            ("LU by halves", ("threads-avx512", "threads-avx2")),
            ("LU by tiles", ("tasks-avx512", "tasks-avx2")),
            ("LU from the left", ("left-avx512", "left-avx2")),
        )
    ),
    # 24 of the 48 bytes per particle and 16 / 13 bytes per cell are the force.
    *(
        Work(
            name=name,
            kernel="cell-list",
            variants=variants,
            words=("--sorted", along),
            written=0.49,
            of_dram=of_dram,
        )
        for name, variants, along, of_dram in (
            ("molecular dynamics", ("threads-avx512", "threads-avx2", "rows"), "0", 4.0),
            (
                "molecular dynamics, curve",
                ("threads-curve-avx512", "threads-curve-avx2", "curve"),
                "1",
                2.0,
            ),
        )
    ),
    Work(
        name="integrals in tiles",
        kernel="integral-tiles",
        variants=("threads-avx512", "threads-avx2", "tiles"),
    ),
    Work(name="integrals by index", kernel="integral-tiles", variants=("indices",), of_dram=2.0),
    # One of two grids is read, the other one is written.
    *(
        Work(
            name=name,
            kernel="hyperbolic",
            variants=variants,
            words=("--steps", steps),
            written=0.5,
        )
        for name, variants, steps in (
            ("conservation laws, one step", ("threads-avx512", "threads-avx2", "once"), "1"),
            ("conservation laws, four steps", ("steps-avx512", "steps-avx2", "once"), "4"),
        )
    ),
    # All data except the description of the matrix are the factor and intermediate results.
    *(
        Work(name=name, kernel="sparse-factor", variants=variants, written=0.95, of_dram=2.0)
        for name, variants in (
            ("sparse factor by fronts", ("threads-avx512", "threads-avx2", "fronts")),
            ("sparse factor to the left", ("threads-left-avx512", "threads-left-avx2", "left")),
        )
    ),
    *(
        Work(name=name, kernel="state-vector", variants=variants, written=1.0, of_dram=of_dram)
        for name, variants, of_dram in (
            ("quantum gates in groups", ("threads-avx512", "threads-avx2", "groups"), 2.0),
            (
                "quantum gates, each a pass",
                ("threads-gates-avx512", "threads-gates-avx2", "gates"),
                1.5,
            ),
        )
    ),
)
WORKS = (*POLYNOMIALS, *OTHER_WORKS)
DRAM_MULTIPLES = (0.5, 1.0, 1.5, 2.0, 4.0, 8.0)
