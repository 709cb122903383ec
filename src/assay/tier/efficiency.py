"""Efficiency: how fast a program is with storage behind its memory, beside memory alone.

The evaluation of Intel Memory Drive Technology went by two numbers: data over DRAM, and operations
over the bytes of the data (V. Mironov et al., Evaluation of Intel Memory Drive Technology
performance for scientific applications, MCHPC 2018). What a device must bring while the cores work
either hides behind that work, or is all that counts.
"""

from __future__ import annotations

import statistics

from assay.records.codec import Record


class Work(Record, frozen=True, kw_only=True):
    """A program of the catalogue, with data of nearly any size.

    Attributes:
        name: as it is shown.
        kernel: of the catalogue.
        variants: ways to do the work, the one that is wanted most first.
        words: that choose the work.
        written: of the data, the part that a pass changes.
        items: of the data, the part that operations are counted by.
        touched: of the data, the part that these variants touch; the rest is room for others.
        of_dram: largest data that it is run with, in DRAM; what takes long ends early.
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
    """What the paths give, all together; bytes per second of large transfers."""

    read: float
    write: float

    def pass_s(self, size_bytes: float, written: float) -> float:
        """All data brought once, and what was changed taken back."""
        return size_bytes * (1.0 / self.read + written / self.write)


class Cell(Record, frozen=True, kw_only=True):
    """A work with data of one size, as often as it was run both ways.

    Attributes:
        work: its name.
        threads: that did it.
        of_dram: its data over DRAM.
        intensity: operations over bytes of the data items: 2 * degree / 8 of a polynomial, whether
            its values are stored or summed.
        memory_s: times of a pass in memory alone.
        tier_s: times of a pass with storage behind so much DRAM, each from the same round.
        of_balance: I / I*, its intensity over the one at which work and transfers take equally
            long; absent where data fit in DRAM.
    """

    work: str
    threads: int
    of_dram: float
    intensity: float
    memory_s: tuple[float, ...]
    tier_s: tuple[float, ...]
    of_balance: float | None = None

    @property
    def model(self) -> float:
        """The efficiency that a perfect overlap of work and transfers would have: min(1, I / I*).

        Data that fit are brought once and never again.
        """
        return 1.0 if self.of_balance is None else min(1.0, self.of_balance)

    @property
    def efficiency(self) -> float:
        """Median over the rounds; 1 is as fast as in memory."""
        pairs = zip(self.memory_s, self.tier_s, strict=True)
        return statistics.median(memory / tier for memory, tier in pairs)


def balance(
    work: Work, of_dram: float, memory_s: float, size_bytes: float, dev: Device
) -> float | None:
    """I / I*: the time of the work over that of the transfers; absent where data fit in DRAM.

    With F operations a second and I of them for each byte, a pass over W bytes works for I W / F
    seconds; so I* is F over the bandwidth, of reading alone or of reading and writing in turn.
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
    # As large as the matrix is the room for it in tiles, which no variant here stores it in.
    *(
        Work(name=name, kernel="lu", variants=variants, written=1.0, touched=0.5, of_dram=2.0)
        for name, variants in (
            ("LU by halves", ("threads-avx512", "threads-avx2")),
            ("LU by tiles", ("tasks-avx512", "tasks-avx2")),
            ("LU from the left", ("left-avx512", "left-avx2")),
        )
    ),
    # Of 48 bytes of a particle and 16 / 13 for its cell, 24 are its force.
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
    # Of two grids one is read, and the other written.
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
    # All but what describes the matrix is its factor, and what is on the way to it.
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
