"""Variance of means of autocorrelated values.

The steps of a launch are correlated, so the variance of their mean is the long-run variance
divided by their number. It is estimated from means of batches (Flegal and Jones 2010, Annals of
Statistics 38:1034), whose remaining correlation r between neighbours is corrected by the factor
(1 + r) / (1 - r) of a first-order autoregression.
"""

from __future__ import annotations

import math

from assay.stats.progress.reports import Array

MIN_BATCHES = 4
"""Smallest number of batches with an estimate."""
_MAX_CORRELATION = 0.7
"""Limit of the estimated correlation; above it the factor is mostly noise."""


def long_run_variance(values: Array) -> float | None:
    """Return the long-run variance of one value; absent for fewer than four batches.

    The variance of the mean of n values is this one divided by n. Batches have sqrt(n) values.

    Args:
        values: values at equal distances, without trend.
    """
    size = max(1, round(math.sqrt(len(values))))
    batches = len(values) // size
    if batches < MIN_BATCHES:
        return None
    means = values[len(values) - batches * size :].reshape(batches, size).mean(axis=1)
    return size * variance_of_batch(means)


def variance_of_batch(means: Array) -> float:
    """Return the variance of the mean of one batch, corrected for the correlation of neighbours.

    Args:
        means: means of two or more neighbouring batches of one length.
    """
    n = len(means)
    centred = means - means.mean()
    total = float(centred @ centred)
    if total <= 0.0:
        return 0.0
    # The correlation of n values about their own mean is too low by about 1 / n.
    r = float(centred[1:] @ centred[:-1]) / total + 1.0 / n
    r = min(max(r, 0.0), _MAX_CORRELATION) if n >= 2 * MIN_BATCHES else 0.0
    return total / (n - 1) * (1.0 + r) / (1.0 - r)
