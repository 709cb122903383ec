"""Variance of means of autocorrelated values.

The steps of a launch are correlated, so the variance of their mean is the long-run variance
divided by their number. It is estimated from means of batches (Flegal and Jones 2010, Annals of
Statistics 38:1034), whose remaining correlation r between neighbours is corrected by the factor
(1 + r) / (1 - r) of a first-order autoregression.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.stats.progress.reports import Array

MIN_BATCHES = 4
"""Smallest number of batches with an estimate."""
_MIN_CORRELATION, _MAX_CORRELATION = -0.3, 0.7
"""Limits of the estimated correlation; beyond them the factor is mostly noise."""

_SPLIT_SHARE = 0.25
"""Share of the variance that two levels have to leave at most."""


@dataclass(frozen=True, slots=True)
class LongRun:
    """Long-run variance of autocorrelated values.

    Attributes:
        variance: variance of one value; that of the mean of n values is it divided by n.
        freedom: degrees of freedom of the estimate.
    """

    variance: float
    freedom: int


def long_run_variance(values: Array) -> LongRun | None:
    """Return the long-run variance about a straight line; absent for fewer than four values.

    Args:
        values: values at equal distances; a linear trend is removed.
    """
    size = max(1, min(round(len(values) ** (1 / 3)), len(values) // MIN_BATCHES))
    batches = len(values) // size
    if batches < MIN_BATCHES:
        return None
    means = values[len(values) - batches * size :].reshape(batches, size).mean(axis=1)
    places = np.arange(batches) - (batches - 1) / 2
    level = means - means.mean()
    rest = level - places * float(places @ level) / float(places @ places)
    return LongRun(size * variance_of_batch(rest, removed=2), batches - 2)


def long_run_variance_of_tail(values: Array) -> LongRun | None:
    """Return the long-run variance of values that may contain one change of their level.

    A change would pass for noise, and hide itself. So if two levels leave less than a quarter of
    the variance, that rest counts.

    Args:
        values: values at equal distances.
    """
    found = long_run_variance(values)
    n = len(values)
    if found is None or n < 2 * MIN_BATCHES:
        return found
    sums = np.cumsum(values - values.mean())[1:-2]
    counts = np.arange(2, n - 1)
    at = int(np.argmax(sums * sums * (1.0 / counts + 1.0 / (n - counts)))) + 2
    levels = np.repeat((values[:at].mean(), values[at:].mean()), (at, n - at))
    split = long_run_variance(values - levels)
    return split if split and split.variance < _SPLIT_SHARE * found.variance else found


def variance_of_batch(means: Array, removed: int = 1) -> float:
    """Return the variance of the mean of one batch, corrected for the correlation of neighbours.

    Args:
        means: means of two or more neighbouring batches of one length.
        removed: number of parameters that were estimated from them, the mean included.
    """
    n = len(means)
    centred = means - means.mean()
    total = float(centred @ centred)
    if total <= 0.0:
        return 0.0
    # The correlation of n residuals is too low by about 1 / n for each parameter.
    r = float(centred[1:] @ centred[:-1]) / total + removed / n
    r = min(max(r, _MIN_CORRELATION), _MAX_CORRELATION) if n >= 2 * MIN_BATCHES else 0.0
    return total / (n - removed) * (1.0 + r) / (1.0 - r)
