"""Correlation of the load of other processes with the arms of a study.

A load that is independent of the random order within a block takes the same share of the CPUs from
both arms on average. So the difference of the two shares, block by block, has mean 0, and an
interval of that mean which holds at every interim analysis excludes 0 with probability at most
``alpha``.

An arm that uses more CPUs itself leaves less to other processes. Then their share falls during its
launches although the load is independent. So the test also requires a difference in the same
direction of their share in the remaining CPU time: that share rises where a launch displaces other
processes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assay.stats.confidence_sequence import mean_sequence

SharePairs = Sequence[tuple[float, float]]
"""Share of the CPUs during each of the two arms, one pair for each block."""


def is_correlated(
    of_all: SharePairs, of_rest: SharePairs, alpha: float, *, resolution: float = 0.0
) -> bool:
    """Return whether other processes used more CPU time during the launches of one arm.

    Args:
        of_all: share of the CPUs used by other processes during the launches of each arm, one pair
            for each block.
        of_rest: their share of the CPU time not used by those launches.
        alpha: accepted probability of ever reporting an independent load.
        resolution: step of such a share, from the step of the kernel's counter.

    Returns:
        Whether both differences exclude 0 on the same side.
    """
    sides = {_side((b - a for a, b in pairs), alpha, resolution) for pairs in (of_all, of_rest)}
    return sides in ({-1}, {1})


def _side(differences: Iterable[float], alpha: float, resolution: float) -> int:
    """Return the sign of the mean; 0 while the interval contains 0."""
    found = mean_sequence(list(differences), alpha, resolution=resolution)
    return (found.lo > 0.0) - (found.hi < 0.0)
