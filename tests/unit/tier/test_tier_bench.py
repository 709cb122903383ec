"""Rounds of workloads with and without the tier, and the resulting cells."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from assay.errors import NotPossibleError
from assay.tier.bench import Progress, TierBenchmark, fitting_sizes, read_free_bytes
from assay.tier.efficiency import DEGREES, DRAM_MULTIPLES, OTHER_WORKS, POLYNOMIALS, Device, Work

MIB = 1 << 20
DEVICE = Device(read=2 << 30, write=1 << 30)
OF_A_SIZE = len(POLYNOMIALS) * len(DEGREES) + len(OTHER_WORKS)
"""Cells with small data and one number of threads."""


@dataclass
class Told:
    """Output of a kernel."""

    status: str
    reason: str
    median_s: float
    bytes: float
    flops: float


@dataclass
class Catalogue:
    """Simulated kernels: half as fast under the tier.

    Attributes:
        filled: allocated share of the requested bytes.
        wrong: whether the results in memory and with the tier are wrong.
        lacks: missing variants.
        launches: arguments and DRAM of each launch.
    """

    filled: float = 1.0
    wrong: tuple[bool, bool] = (False, False)
    lacks: tuple[str, ...] = ()
    launches: list[tuple[str, Sequence[str], int | None]] = field(default_factory=list)

    def available_variants(self, kernel: str) -> set[str]:
        every = {one for work in (*POLYNOMIALS, *OTHER_WORKS) for one in work.variants}
        return every - set(self.lacks)

    def run(self, kernel: str, words: Sequence[str], dram_bytes: int | None) -> Told:
        self.launches.append((kernel, words, dram_bytes))
        under = dram_bytes is not None
        return Told(
            status="rejected" if self.wrong[under] else "ok",
            reason="",
            median_s=0.2 if under else 0.1,
            bytes=self.filled * float(value(words, "--size")),
            flops=1e9,
        )

    @property
    def drams(self) -> set[int]:
        return {dram for _, _, dram in self.launches if dram is not None}


def value(words: Sequence[str], name: str) -> str:
    return words[words.index(name) + 1]


def seconds() -> Callable[[], float]:
    """Clock that advances by one at each reading: twice for each cell."""
    return itertools.count(0.0).__next__


def measured(
    bench: TierBenchmark, for_s: float, told: Callable[[Progress], None] = lambda _: None
) -> TierBenchmark:
    bench.measure(for_s, told, seconds())
    return bench


def test_first_round_runs_cells_by_size() -> None:
    kernels = Catalogue()
    of_twice = OF_A_SIZE - sum(one.of_dram < 2.0 for one in OTHER_WORKS)
    bench = TierBenchmark(kernels, 16 * MIB, (0.5, 2.0), (3,))
    cells = measured(bench, 2.0 * (OF_A_SIZE + of_twice)).cells(DEVICE)
    assert [one.dram_ratio for one in cells] == [0.5] * OF_A_SIZE + [2.0] * of_twice
    assert {one.efficiency for one in cells} == {0.5}
    assert {(len(one.memory_s), len(one.tier_s)) for one in cells} == {(1, 1)}
    ways = [dram is not None for _, _, dram in kernels.launches]
    assert ways == [False, True] * len(cells)
    assert all(words[-2:] == ("--threads", "3") for _, words, _ in kernels.launches)


def test_later_rounds_are_shuffled() -> None:
    kernels = Catalogue()
    bench = measured(TierBenchmark(kernels, 16 * MIB, (0.5,), (1,)), 2.0 * 8 * OF_A_SIZE)
    assert {len(one.tier_s) for one in bench.cells(DEVICE)} == {8}
    rounds = [
        kernels.launches[2 * start : 2 * (start + OF_A_SIZE)]
        for start in range(0, 8 * OF_A_SIZE, OF_A_SIZE)
    ]
    assert len({tuple(kernel for kernel, _, _ in one) for one in rounds}) > 1
    first, later = ({dram is None for _, _, dram in one[::2]} for one in (rounds[0], rounds[1]))
    assert (first, later) == ({True}, {False, True})


def test_bench_stops_at_time_limit() -> None:
    bench = measured(TierBenchmark(Catalogue(), 16 * MIB, DRAM_MULTIPLES, (1, 2)), 10.0)
    cells = bench.cells(DEVICE)
    assert [one.dram_ratio for one in cells] == [0.5] * 5
    assert bench.missing > 100


def test_progress_is_reported_for_each_cell() -> None:
    told: list[Progress] = []
    measured(TierBenchmark(Catalogue(), 16 * MIB, (0.5,), (2,)), 2.0 * (OF_A_SIZE + 1), told.append)
    assert told[0] == Progress(
        round=1,
        work=POLYNOMIALS[0],
        threads=2,
        of_dram=0.5,
        done=1,
        cells=OF_A_SIZE,
        left_s=2.0 * OF_A_SIZE,
    )
    assert [(one.round, one.done) for one in told[-2:]] == [(1, OF_A_SIZE), (2, 1)]
    assert told[-1].left_s == 0.0


@pytest.mark.parametrize(("filled", "dram"), [(1 - 1e-6, 32), (0.75, 24), (0.1, 16)])
def test_smaller_data_get_less_dram(filled: float, dram: int) -> None:
    """Whole chunks, and at least the minimum of the tier."""
    kernels = Catalogue(filled=filled)
    measured(TierBenchmark(kernels, 32 * MIB, DRAM_MULTIPLES, (1,)), 1000.0)
    assert kernels.drams == {dram * MIB}


def test_cell_distance_from_balance_is_computed() -> None:
    bench = measured(TierBenchmark(Catalogue(), 16 * MIB, (1.0, 2.0), (1,)), 1000.0)
    cells = bench.cells(DEVICE)
    assert {one.balance_ratio for one in cells if one.dram_ratio <= 1} == {None}
    (one,) = (c for c in cells if (c.work, c.dram_ratio) == ("forwards", 2.0))
    # 32 MiB are read at 2 GiB/s, while the computation takes 0.1 s.
    assert one.balance_ratio == pytest.approx(0.1 * 64)
    assert one.model == 1.0


def variants_of(kernels: Catalogue, work: Work) -> set[str]:
    measured(TierBenchmark(kernels, 16 * MIB, (0.5,), (1,)), 2.0 * OF_A_SIZE)
    return {value(words, "--variant") for name, words, _ in kernels.launches if name == work.kernel}


def test_preferred_variant_is_chosen() -> None:
    work = POLYNOMIALS[0]
    best, second, *_ = work.variants
    assert variants_of(Catalogue(), work) == {best}
    assert variants_of(Catalogue(lacks=(best,)), work) == {second}
    with pytest.raises(NotPossibleError, match="No variant of horner for `tier bench`"):
        variants_of(Catalogue(lacks=work.variants), work)


@pytest.mark.parametrize(
    ("wrong", "how"), [((True, False), "without the tier"), ((False, True), "with the tier")]
)
def test_wrong_result_ends_bench(wrong: tuple[bool, bool], how: str) -> None:
    bench = TierBenchmark(Catalogue(wrong=wrong), 16 * MIB, (0.5,), (1,))
    with pytest.raises(NotPossibleError, match=rf"Incorrect result of .* {how}: rejected"):
        measured(bench, 1000.0)


def test_sizes_fit_into_memory() -> None:
    assert fitting_sizes(16 * MIB, 128 * MIB) == DRAM_MULTIPLES
    assert fitting_sizes(16 * MIB, 50 * MIB) == (0.5, 1.0, 1.5, 2.0)
    assert fitting_sizes(16 * MIB, 7 * MIB) == ()


def test_free_memory_is_available_memory(tmp_path: Path) -> None:
    text = "MemTotal:       32000000 kB\nMemFree:         1000 kB\nMemAvailable:    2048 kB\n"
    (tmp_path / "meminfo").write_text(text)
    assert read_free_bytes(tmp_path) == 2 * MIB
