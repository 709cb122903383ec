"""Roofs: limits of the machine for data of a size, measured by probes of the catalogue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.errors import NotPossibleError
from assay.records.codec import Record
from assay.workloads.kernels import Kernel, Variant, VariantTimes, find_kernel, run_variants

_PEAK, _BANDWIDTH = "peak", "bandwidth"
_OPERATIONS = (0, 1, 2)
"""Reading, copying and combining arrays: the fastest differs between machines and levels."""
_EACH_S = "0.1"


class Roofs(Record, frozen=True, kw_only=True):
    """Limits of the cores and of the memory.

    Attributes:
        gflop_per_s: additions and multiplications, in the precision of the kernel.
        gb_per_s: bandwidth between the cores and the memory level that holds the data.
    """

    gflop_per_s: float
    gb_per_s: float

    def higher(self, other: Roofs) -> Roofs:
        """Return the maximum of each figure: other processes only lower it."""
        return Roofs(
            gflop_per_s=max(self.gflop_per_s, other.gflop_per_s),
            gb_per_s=max(self.gb_per_s, other.gb_per_s),
        )

    def bound_s(self, variant: Variant) -> float:
        """Return the least time of one repetition (roofline: Williams, Waterman, Patterson 2009).

        It does not count special functions.
        """
        return max(
            variant.flops / (1e9 * self.gflop_per_s), variant.moved_bytes / (1e9 * self.gb_per_s)
        )


def measure_roofs(kernel: Kernel, threads: Sequence[str], env: Mapping[str, str]) -> Roofs:
    """Measure the roofs of a kernel.

    Args:
        kernel: the kernel, with its data.
        threads: arguments of the probes for the number of threads.
        env: environment of this process.

    Raises:
        NotPossibleError: a probe fails.
    """
    usual = ("--variant", "all", "--seconds", _EACH_S, *threads)
    size = ("--size", str(max(int(kernel.bytes), 1024)))
    peaks = run_variants(find_kernel(_PEAK, env), (*usual, "--single", str(int(kernel.single))))
    program = find_kernel(_BANDWIDTH, env)
    moved = [
        variant
        for operation in _OPERATIONS
        for variant in run_variants(program, (*usual, *size, "--operation", str(operation)))
    ]
    roofs = Roofs(
        gflop_per_s=max(
            (1e-9 * result.flops / result.best_s for result in _right(peaks)), default=0.0
        ),
        gb_per_s=max(
            (1e-9 * result.moved_bytes / result.best_s for result in _right(moved)), default=0.0
        ),
    )
    if not roofs.gflop_per_s or not roofs.gb_per_s:
        raise NotPossibleError("The probes of the roofs do not run here.", _BY_HAND)
    return roofs


def _right(found: Sequence[VariantTimes]) -> list[VariantTimes]:
    """Return the correct results. Their best sample counts, since a roof is a limit."""
    return [result for result in found if result.status == "ok" and result.best_s > 0]


_BY_HAND = "Try `assay case run peak` and `assay case run bandwidth`."
