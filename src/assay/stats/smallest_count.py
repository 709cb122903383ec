"""Smallest number of observations that meets a condition."""

from __future__ import annotations

from collections.abc import Callable

MAX_COUNT = 1_000_000
"""Numbers beyond this one count as unknown."""


def smallest_count(is_enough: Callable[[int], bool], start: int) -> int | None:
    """Return the smallest number that is enough, from ``start`` on.

    The search doubles the number until it is enough, then bisects the last interval.

    Args:
        is_enough: condition; it holds for all larger numbers as well.
        start: smallest number to consider, at least 1.

    Returns:
        The number; ``None`` if it is beyond ``MAX_COUNT``.
    """
    low = high = start
    while not is_enough(high):
        low, high = high, 2 * high
        if high > MAX_COUNT:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high
