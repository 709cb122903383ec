"""Interim analyses of many simulated studies at once."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from assay.stats.confidence_sequence import MIN_CLAIM_VALUES, half_width, mean_sequence

from .jobs import Array

ALPHA = 0.05
MARGIN = 0.01
EXACT = 200
"""Blocks above which the plain interval replaces the exact one, which is slow there."""


@dataclass(frozen=True)
class Ends:
    """Results of the interim analyses, one entry for each study.

    Attributes:
        width: blocks until the interval is +-1 %; ``blocks + 1`` if never.
        verdict: blocks until the interval excludes no effect; likewise.
        covered: whether the interval contained the truth at every analysis.
    """

    width: Array
    verdict: Array
    covered: Array


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
        return Ends(_first(narrow), _first(differs), ~misses.any(axis=1))

    def confirmed(flags: Array, row: int, kind: str) -> int:
        for k in np.flatnonzero(flags[row]):
            if k + 1 > EXACT:
                return int(k) + 1
            found = mean_sequence(logs[row, : k + 1].tolist(), ALPHA)
            if kind == "width" and (found.hi - found.lo) / 2 <= math.log1p(MARGIN):
                return int(k) + 1
            if kind == "verdict" and (found.lo > 0 or found.hi < 0):
                return int(k) + 1
            if kind == "miss" and (found.lo > truth or found.hi < truth):
                return int(k) + 1
        return blocks + 1

    rows = range(studies)
    return Ends(
        np.array([confirmed(narrow, row, "width") for row in rows]),
        np.array([confirmed(differs, row, "verdict") for row in rows]),
        np.array([confirmed(misses, row, "miss") > blocks for row in rows]),
    )


def _first(flags: Array) -> Array:
    """Return the number of blocks at the first set flag; one more than there are, if none."""
    return np.asarray(np.where(flags.any(axis=1), flags.argmax(axis=1) + 1, flags.shape[1] + 1))
