"""Roofs: what the machine can do at most with data of a size, by probes of the catalogue itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.errors import NotPossibleError
from assay.records.codec import Record
from assay.workloads.kernels import Kernel, Timed, Variant, find_kernel, timed

_PEAK, _BANDWIDTH = "peak", "bandwidth"
_OPERATIONS = (0, 1, 2)
"""Reading, copying, combining two arrays: which is fastest differs between machines and levels."""
_EACH_S = "0.1"


class Roofs(Record, frozen=True, kw_only=True):
    """What the cores and the memory do at most.

    Attributes:
        gflop_per_s: additions and multiplications, of floats or of doubles as the kernel has them.
        gb_per_s: between the cores and the level that the data lie in, as the program moves them.
    """

    gflop_per_s: float
    gb_per_s: float

    def higher(self, other: Roofs) -> Roofs:
        """Of each figure the higher one: others on the machine only lower it."""
        return Roofs(
            gflop_per_s=max(self.gflop_per_s, other.gflop_per_s),
            gb_per_s=max(self.gb_per_s, other.gb_per_s),
        )

    def bound_s(self, variant: Variant) -> float:
        """How long one repetition takes at least (roofline: Williams, Waterman, Patterson 2009).

        Special functions are not in it.
        """
        return max(
            variant.flops / (1e9 * self.gflop_per_s), variant.moved_bytes / (1e9 * self.gb_per_s)
        )


def measured_roofs(kernel: Kernel, threads: Sequence[str], env: Mapping[str, str]) -> Roofs:
    """Measure them.

    Args:
        kernel: that they are for, with its data.
        threads: words that say how many, for the probes.
        env: of this process.

    Raises:
        NotPossibleError: a probe fails.
    """
    usual = ("--variant", "all", "--seconds", _EACH_S, *threads)
    size = ("--size", str(max(int(kernel.bytes), 1024)))
    peaks = timed(find_kernel(_PEAK, env), (*usual, "--single", str(int(kernel.single))))
    program = find_kernel(_BANDWIDTH, env)
    moved = [
        one
        for operation in _OPERATIONS
        for one in timed(program, (*usual, *size, "--operation", str(operation)))
    ]
    roofs = Roofs(
        gflop_per_s=max((1e-9 * one.flops / one.best_s for one in _right(peaks)), default=0.0),
        gb_per_s=max((1e-9 * one.moved_bytes / one.best_s for one in _right(moved)), default=0.0),
    )
    if not roofs.gflop_per_s or not roofs.gb_per_s:
        raise NotPossibleError("The probes of the machine's roofs do not run here.", _BY_HAND)
    return roofs


def _right(found: Sequence[Timed]) -> list[Timed]:
    """Those that count: the best of their samples, since a roof is what is possible."""
    return [one for one in found if one.status == "ok" and one.best_s > 0]


_BY_HAND = "Try `assay case run peak` and `assay case run bandwidth`."
