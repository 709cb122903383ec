"""Critical values of Student's t."""

from __future__ import annotations

import functools
import math

import numpy as np

from .noise import Array

MAX_TABULATED = 60
"""Degrees of freedom up to which critical values are tabulated; later ones hardly differ."""


@functools.lru_cache(maxsize=4096)
def critical(degrees: int, alpha: float = 0.05) -> float:
    """Return the t whose absolute value is exceeded with probability ``alpha``."""
    low, high = 0.0, 1000.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if 1.0 - within(middle, degrees) > alpha else (low, middle)
    return high


def within(t: float, degrees: int) -> float:
    """Return P(|T| < t) for integer degrees of freedom (Abramowitz and Stegun 26.7.3, 26.7.4)."""
    angle = math.atan(t / math.sqrt(degrees))
    cosine, sine = math.cos(angle), math.sin(angle)
    odd = degrees % 2 == 1
    term = cosine if odd else 1.0
    total = term if degrees > 1 else 0.0
    for k in range(3 if odd else 2, degrees - 1, 2):
        term *= cosine * cosine * (k - 1) / k
        total += term
    return 2.0 / math.pi * (angle + sine * total) if odd else sine * total


def critical_between(degrees: Array, alpha: float = 0.05) -> Array:
    """Return critical values for any degrees of freedom, interpolated over their reciprocals."""
    table = [(1.0 / n, critical(n, alpha)) for n in range(MAX_TABULATED, 0, -1)]
    reciprocals, values = zip(*table, strict=True)
    found: Array = np.interp(1.0 / np.clip(degrees, 1.0, MAX_TABULATED), reciprocals, values)
    return found
