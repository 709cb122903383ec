"""Follow: whether a load follows the arms.

A load that knows nothing of the random order within a block takes the same share of the CPUs from
both arms on average. So the difference of the two shares, block by block, has mean 0, and an
interval of that mean which holds at every look excludes 0 with at most ``alpha``.

An arm that uses more CPUs itself leaves less to others. Then their share falls in its launches
though the load follows nothing. So the same must be found, in the same direction, of their share
in what the launches left: that one rises where a launch crowds others out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assay.stats.confidence_sequence import mean_sequence

SharePairs = Sequence[tuple[float, float]]
"""For each block, the share of either arm."""


def is_correlated(
    of_all: SharePairs, of_rest: SharePairs, alpha: float, *, resolution: float = 0.0
) -> bool:
    """Tell whether others took more during the launches of one arm, beyond chance.

    Args:
        of_all: share of the CPUs that others took during the launches of each arm, one pair a
            block.
        of_rest: share that they took of what those launches left.
        alpha: accepted chance that this is ever found of a load that follows nothing.
        resolution: step of such a share, by the step of the kernel's count.

    Returns:
        Whether both differences exclude 0 on the same side.
    """
    sides = {_side((b - a for a, b in pairs), alpha, resolution) for pairs in (of_all, of_rest)}
    return sides in ({-1}, {1})


def _side(differences: Iterable[float], alpha: float, resolution: float) -> int:
    """Return the side of 0 on which the mean lies; 0 where that is open."""
    found = mean_sequence(list(differences), alpha, resolution=resolution)
    return (found.lo > 0.0) - (found.hi < 0.0)
