"""Comparison of the catalogue's own variants with libraries, thread for thread."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from assay.workloads.kernels import Kernel, Variant
from benchmarks.overhead.reading import Key, Table

from .pieces import ONE_THREAD_US, REPETITION_US

Rounds = Mapping[int, float]


@dataclass(frozen=True)
class Comparison:
    """Fastest own variant and fastest library, with the same limit of threads.

    Attributes:
        own: name of the own variant.
        library: name of the library's variant.
        ratios: time of the library divided by time of the own variant, one for each round.
    """

    own: str
    library: str
    ratios: tuple[float, ...]

    @property
    def ratio(self) -> float:
        """Median ratio over the rounds; above 1, the own variant is faster."""
        return statistics.median(self.ratios)


def compared(
    table: Table,
    kernel: Kernel,
    case: str,
    threads: int,
    of_library: Callable[[str], bool] = lambda name: True,
) -> Comparison | None:
    """Compare the fastest own variant with the fastest library.

    With one thread, both sides run with one. With several, each side counts with the faster of its
    times with one thread and with all, since threads slow down small work.

    Args:
        table: of all readings.
        kernel: the kernel.
        case: size and mode.
        threads: 1, or any other number for all threads.
        of_library: whether a variant of a library counts, by name.
    """
    own = _fastest(table, kernel, case, threads, lambda one: not one.library)
    library = _fastest(
        table, kernel, case, threads, lambda one: bool(one.library) and of_library(one.variant)
    )
    if own is None or library is None:
        return None
    ratios = [library[1][n] / own[1][n] for n in own[1] if n in library[1]]
    return Comparison(own[0], library[0], tuple(ratios)) if ratios else None


def rounds_of(table: Table, key: Key) -> dict[int, float]:
    """Return the median of a figure in each round."""
    return {number: statistics.median(values) for number, values in table.rounds(key).items()}


def _fastest(
    table: Table, kernel: Kernel, case: str, threads: int, chosen: Callable[[Variant], bool]
) -> tuple[str, Rounds] | None:
    quantities = (ONE_THREAD_US,) if threads == 1 else (REPETITION_US, ONE_THREAD_US)
    found = [
        (one.variant, rounds)
        for one in kernel.available
        if chosen(one)
        for quantity in quantities
        if (rounds := rounds_of(table, Key(kernel.kernel, case, one.variant, quantity)))
    ]
    return min(found, key=lambda pair: statistics.median(pair[1].values())) if found else None
