"""Variance of a launch from few values, drawn towards a usual one."""

from __future__ import annotations

NOISE_PRIOR = (3.0, 0.03)
"""Prior of the noise of a launch: degrees of freedom, and size (a logarithm)."""


def pooled_variance(squares: float, degrees: float) -> float:
    """Return the variance of a launch by its prior and a pooled sum of squares.

    Args:
        squares: sum of squares of logarithms about the means of their configurations.
        degrees: degrees of freedom of that sum.
    """
    weight, usual = NOISE_PRIOR
    return (weight * usual**2 + squares) / (weight + degrees)
