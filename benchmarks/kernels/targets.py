"""Targets of the catalogue's own variants, and verdicts on the measured figures."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.units import significant
from assay.workloads.kernels import Kernel, Variant
from assay.workloads.roofs import Roofs
from benchmarks.overhead.reading import Key, Table

from .comparison import compared, rounds_of
from .pieces import BANDWIDTH, ONE_THREAD_US, PEAK, REPETITION_US, ROOF
from .python_peers import PythonPeer

Kernels = Mapping[tuple[str, str], Kernel]

LIBRARIES: tuple[tuple[str, str, str, float], ...] = (
    ("xor-parity", "L2", "isal", 1.0),
    ("xor-parity", "DRAM", "isal", 1.0),
    ("erasure-code", "L2", "isal", 1.0),
    ("erasure-code", "DRAM", "isal", 1.0),
    ("dgemm", "L2", "openblas", 0.85),
    ("dgemm", "DRAM", "openblas", 0.85),
    ("lu", "L2", "openblas", 0.8),
    ("lu", "DRAM", "openblas", 0.8),
    ("masked-exp", "L2", "", 1.0),
    ("masked-exp", "DRAM", "", 1.0),
    ("hash", "L2, SHA-256", "ipsec", 1.0),
    ("hash", "L2, SHA-1", "ipsec", 1.0),
    ("hash", "L2, SHA-512", "ipsec", 1.0),
    ("hash", "L2, SHA-256", "openssl", 2.0),
    ("hash", "L2, SHA-1", "openssl", 3.0),
    ("hash", "L2, SHA-512", "openssl", 3.0),
)
"""Kernel, case, part of the library's name (empty for any library), and least speed relative to it,
thread for thread."""
TITLES = {
    "": "the best library",
    "isal": "ISA-L",
    "openblas": "OpenBLAS",
    "ipsec": "intel-ipsec-mb",
    "openssl": "OpenSSL",
}
PYTHON: dict[str, tuple[float, str]] = {
    "kmeans": (2.0, "scikit-learn"),
    "pca": (1.0, "scikit-learn or scikit-learn-intelex"),
}
"""Least speed relative to the fastest of these libraries for Python, and their names. For ``pca``,
only libraries with data before standardisation count."""
SHARES: tuple[tuple[str, str, str, float], ...] = (
    ("horner", "L2, read, degree 256", "peak rate", 0.9),
    ("horner", "DRAM, read, degree 2", "bandwidth", 0.9),
    ("xor-parity", "DRAM", "bandwidth", 0.9),
    ("log-product", "DRAM", "bandwidth", 0.9),
    ("acoustic", "DRAM", "bandwidth", 0.8),
)
"""Kernel, case, limit, and least share of the roof of the fastest variant."""
MAX_BLOCKED_GAIN = 8 / 3
"""Ratio of the moved data: the modified Gram-Schmidt method moves 8 words per element, the blocked
one 3."""


@dataclass(frozen=True)
class Target:
    """Target and measured figure.

    Attributes:
        kernel, case: piece of work.
        subject: description of the comparison.
        least: least figure that meets the target.
        figure: measured figure.
        unit: ``times`` or ``of the roof``.
        detail: names of the variants.
    """

    kernel: str
    case: str
    subject: str
    least: float
    figure: float
    unit: str
    detail: str

    @property
    def met(self) -> bool:
        """Return whether the figure reaches the target, both rounded to two digits."""
        return round(self.figure, 2) >= round(self.least, 2)

    def cells(self, remark: str, reason: str) -> tuple[str, ...]:
        """Return the target as a row of a table.

        Args:
            remark: text after the verdict.
            reason: reason of a miss.
        """
        status, reason = ("*met*", "") if self.met else ("*missed*", reason)
        shown = (
            (f"{100 * self.least:.0f} %", f"{100 * self.figure:.0f} %")
            if self.unit == "of the roof"
            else (f"{self.least:.2f} times", f"{significant(self.figure)} times")
        )
        return (
            self.subject,
            f"at least {shown[0]}",
            shown[1],
            self.detail,
            f"{status}{remark}",
            "" if self.met else reason,
        )


def targets(
    table: Table, kernels: Kernels, peers: Sequence[PythonPeer], threads: int
) -> list[Target]:
    """Return all targets whose figures were measured.

    Args:
        table: all readings.
        kernels: kernels by name and case.
        peers: times of libraries for Python.
        threads: number of all threads.
    """
    counts = (1, threads) if threads > 1 else (1,)
    return [
        *_libraries(table, kernels, counts),
        *_python(kernels, peers),
        *_shares(table, kernels),
        *_gram_schmidt(table, kernels),
    ]


def _libraries(table: Table, kernels: Kernels, counts: Sequence[int]) -> Iterator[Target]:
    for name, case, word, least in LIBRARIES:
        for count in counts:
            kernel = kernels.get((name, case))
            found = kernel and compared(table, kernel, case, count, _contains(word))
            if found:
                yield Target(
                    name,
                    case,
                    f"`{name}`, {case}: speed relative to {TITLES[word]}, {_threads(count)}",
                    least,
                    found.ratio,
                    "times",
                    f"`{found.own}`, `{found.library}`",
                )


def _contains(word: str) -> Callable[[str], bool]:
    return lambda name: word in name


def _threads(count: int) -> str:
    return "1 thread" if count == 1 else f"{count} threads"


def _python(kernels: Kernels, peers: Sequence[PythonPeer]) -> Iterator[Target]:
    for peer in peers:
        if peer.kernel not in PYTHON or (peer.kernel, peer.case) not in kernels:
            continue
        least, words = PYTHON[peer.kernel]
        kernel = kernels[peer.kernel, peer.case]
        libraries = [
            name
            for name in peer.libraries(kernel)
            if name.startswith(("scikit-learn", "daal4py")[: 1 if peer.kernel == "kmeans" else 2])
            and "on scores" not in name
        ]
        if libraries:
            own, library = peer.own(kernel), min(libraries, key=peer.median_s)
            yield Target(
                peer.kernel,
                peer.case,
                f"`{peer.kernel}`, {peer.case}: speed relative to {words}, "
                f"{_threads(peer.threads)}",
                least,
                peer.ratio(library, own),
                "times",
                f"`{own}`, {library}",
            )


def _shares(table: Table, kernels: Kernels) -> Iterator[Target]:
    for name, case, limit, least in SHARES:
        kernel = kernels.get((name, case))
        if kernel is None:
            continue
        found = [
            (share, one.variant)
            for one in kernel.available
            if not one.library and (share := share_of_roof(table, name, case, one)) is not None
        ]
        if found:
            share, variant = max(found)
            yield Target(
                name,
                case,
                f"`{name}`, {case}: share of the {limit}",
                least,
                share,
                "of the roof",
                f"`{variant}`",
            )


def share_of_roof(table: Table, name: str, case: str, one: Variant) -> float | None:
    """Return the shortest possible time divided by the measured one, as the median over rounds."""
    found = rounds_of(table, Key(name, case, one.variant, REPETITION_US))
    peaks = rounds_of(table, Key(name, case, ROOF, PEAK))
    moved = rounds_of(table, Key(name, case, ROOF, BANDWIDTH))
    parts = [
        Roofs(gflop_per_s=peaks[n], gb_per_s=moved[n]).bound_s(one) / (1e-6 * us)
        for n, us in found.items()
        if n in peaks and n in moved
    ]
    return statistics.median(parts) if parts else None


def _gram_schmidt(table: Table, kernels: Kernels) -> Iterator[Target]:
    kernel = kernels.get(("gram-schmidt", "DRAM"))
    if kernel is None:
        return
    base = rounds_of(table, Key(kernel.kernel, "DRAM", "modified-avx2", ONE_THREAD_US))
    found = [
        (statistics.median(gains), f"{name}-{isa}")
        for name in ("blocked", "fused", "back", "prefetch")
        for isa in ("avx2", "avx512")
        if (
            gains := [
                base[n] / us
                for n, us in rounds_of(
                    table, Key(kernel.kernel, "DRAM", f"{name}-{isa}", ONE_THREAD_US)
                ).items()
                if n in base
            ]
        )
    ]
    if found:
        gain, name = max(found)
        yield Target(
            kernel.kernel,
            "DRAM",
            "`gram-schmidt`, DRAM: speed of the blocked method relative to the modified one, "
            "1 thread",
            0.9 * MAX_BLOCKED_GAIN,
            gain,
            "times",
            f"`{name}`, `modified-avx2`",
        )
