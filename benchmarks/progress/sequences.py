"""Interim analyses of many simulated studies at once."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from assay.stats.confidence_sequence import MIN_CLAIM_VALUES, half_width, mean_sequence

from .jobs import Array, Flags, Integers

ALPHA = 0.05
MARGIN = 0.01
EXACT = 200
"""Blocks above which the plain interval replaces the exact one, which is slow there."""


@dataclass(frozen=True)
class Ends:
    """Results of the interim analyses, one entry for each study.

    Attributes:
        width: blocks until the interval is +-1 %; ``blocks + 1`` if never.
        verdict: blocks until the interval excludes no effect; ``blocks + 1`` if never.
        covered: whether the interval contained the truth at every analysis.
    """

    width: Integers
    verdict: Integers
    covered: Flags


def ends(logs: Array, truth: float, exact: bool = True) -> Ends:
    """Return where the studies end.

    Args:
        logs: log-ratios, studies x blocks.
        truth: true log-ratio.
        exact: whether to repeat decisive analyses with the interval of two tight levels.
    """
    studies, blocks = logs.shape
    n = np.arange(1, blocks + 1)
    mean = np.cumsum(logs, axis=1) / n
    squares = np.cumsum(logs * logs, axis=1) - n * mean * mean
    sd = np.sqrt(np.maximum(squares, 0.0) / np.maximum(n - 1, 1))
    unit = np.array([half_width(int(k), 1.0, ALPHA) for k in n])
    half = np.where(n >= MIN_CLAIM_VALUES, unit * np.where(np.isinf(unit), 1.0, sd), np.inf)
    narrow = half <= math.log1p(MARGIN)
    differs = np.abs(mean) > half
    misses = np.abs(mean - truth) > half
    if not exact:
        return Ends(_first(narrow), _first(differs), np.asarray(~misses.any(axis=1)))
    width, verdict, missed = (
        np.array([_confirmed(logs[row], flags[row], holds) for row in range(studies)])
        for flags, holds in (
            (narrow, lambda lo, hi: (hi - lo) / 2 <= math.log1p(MARGIN)),
            (differs, lambda lo, hi: lo > 0 or hi < 0),
            (misses, lambda lo, hi: lo > truth or hi < truth),
        )
    )
    return Ends(width, verdict, missed > blocks)


def _confirmed(logs: Array, flags: Flags, holds: Callable[[float, float], bool]) -> int:
    """Return the blocks at the first flagged analysis whose exact interval holds."""
    for at in np.flatnonzero(flags).tolist():
        if at + 1 > EXACT:
            return int(at) + 1
        found = mean_sequence(logs[: at + 1].tolist(), ALPHA)
        if holds(found.lo, found.hi):
            return int(at) + 1
    return len(logs) + 1


def _first(flags: Flags) -> Integers:
    """Return the number of blocks at the first set flag; one more than there are, if none."""
    return np.asarray(np.where(flags.any(axis=1), flags.argmax(axis=1) + 1, flags.shape[1] + 1))
