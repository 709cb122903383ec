"""Multiplicity: p-values when several are read at once.

Each function takes m p-values and returns m adjusted ones in the same order: those at most alpha
are the claims (Bonferroni, Holm: at most alpha chance of any false one, whatever the dependence)
or the finds (Benjamini-Hochberg: at most alpha of them false on average, if independent or
positively dependent). For intervals to show side by side, use alpha / m for each.

Races share alpha out among the intervals that they show, so no verb asks for this yet. It is there
for the p-values of ``paired.p_value``: Holm for claims beyond those shown as intervals,
Benjamini-Hochberg for screens of many settings (docs/statistics.md, "Known limits").
"""

from __future__ import annotations

from collections.abc import Sequence


def bonferroni(p: Sequence[float]) -> list[float]:
    """Adjusted p-values: m p.

    Raises:
        ValueError: a p-value is not between 0 and 1.
    """
    _check(p)
    return [min(1.0, len(p) * value) for value in p]


def holm(p: Sequence[float]) -> list[float]:
    """Step-down adjusted p-values (Holm, Scandinavian Journal of Statistics 6:65, 1979).

    In rising order, the running maximum of (m - rank + 1) p, rank from 1.

    Raises:
        ValueError: a p-value is not between 0 and 1.
    """
    _check(p)
    m = len(p)
    adjusted = [0.0] * m
    running = 0.0
    for rank, index in enumerate(sorted(range(m), key=p.__getitem__)):
        running = max(running, min(1.0, (m - rank) * p[index]))
        adjusted[index] = running
    return adjusted


def benjamini_hochberg(p: Sequence[float]) -> list[float]:
    """Step-up adjusted p-values (Benjamini and Hochberg, JRSS B 57:289, 1995).

    In falling order, the running minimum of m p / rank, rank from 1.

    Raises:
        ValueError: a p-value is not between 0 and 1.
    """
    _check(p)
    m = len(p)
    adjusted = [0.0] * m
    running = 1.0
    order = sorted(range(m), key=p.__getitem__)
    for rank in range(m, 0, -1):
        index = order[rank - 1]
        running = min(running, m * p[index] / rank)
        adjusted[index] = running
    return adjusted


def _check(p: Sequence[float]) -> None:
    if not all(0.0 <= value <= 1.0 for value in p):
        raise ValueError("p-values lie from 0 to 1")
