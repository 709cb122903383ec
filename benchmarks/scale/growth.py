"""Growth of a figure with size."""

from __future__ import annotations

import math
from collections.abc import Mapping


def exponent(figures: Mapping[int, float]) -> float | None:
    """Return the exponent of growth between the two largest sizes.

    It is the slope of the logarithm of the figure over that of the size. The largest sizes count,
    as constant costs, such as the start of Python, matter least there.

    Args:
        figures: figure by size.

    Returns:
        The exponent; ``None`` with fewer than two sizes or without positive figures.
    """
    sizes = sorted(size for size, figure in figures.items() if figure > 0)[-2:]
    if len(sizes) < 2:
        return None
    small, large = sizes
    return math.log(figures[large] / figures[small]) / math.log(large / small)


def cost_between(readings: list[tuple[int, float]], low: float, high: float) -> float | None:
    """Return the CPU time of a unit of work between two counts, in seconds.

    Args:
        readings: counts and CPU times, in order.
        low: count to begin at.
        high: count to end at.

    Returns:
        The CPU time; ``None`` if the readings are too few.
    """
    first = dict(reversed(readings))  # work at the end of a command does not change the count
    inside = sorted((count, cpu_s) for count, cpu_s in first.items() if low <= count <= high)
    if len(inside) < 2 or inside[-1][0] == inside[0][0]:
        return None
    return (inside[-1][1] - inside[0][1]) / (inside[-1][0] - inside[0][0])
