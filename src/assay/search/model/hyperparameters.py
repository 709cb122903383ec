"""Hyperparameters of the surrogate: their priors, and their values for a vector."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

Prior = tuple[float, float]
"""Mean and standard deviation of a normal prior."""
Bounds = tuple[float, float]
LENGTH_BOUNDS: Bounds = (-4.0, 5.0)
"""Smallest and largest logarithm of a length scale."""
OTHER_BOUNDS: tuple[Bounds, ...] = ((-6.0, 4.0), (-12.0, 1.0), (-8.0, 4.0), (-6.0, 6.0))
"""Bounds of amplitude, configuration effect, linear part and share of the block."""
CORRELATION_BOUNDS: Bounds = (-6.0, 6.0)
"""Smallest and largest log odds of the correlation of an earlier study."""


@dataclass(frozen=True)
class Priors:
    """Priors of the hyperparameters.

    Attributes:
        length: prior of the logarithm of the length scale of one column; with d columns the mean
            grows by log(d) / 2, as distances do (Hvarfner et al., ICML 2024).
        amplitude, own, linear: priors of the log variances of these parts, for standardised values.
        share: prior of the log odds of the block's share in the noise of a launch.
        correlation: prior of the log odds of the correlation of an earlier study with this one.
    """

    length: Prior = (math.log(0.5), 1.0)
    amplitude: Prior = (0.0, 1.0)
    own: Prior = (math.log(0.03), 1.5)
    linear: Prior = (math.log(0.5), 1.5)
    share: Prior = (-1.5, 1.5)
    correlation: Prior = (1.5, 1.5)


@dataclass(frozen=True)
class PriorDensity:
    """Density of a vector of hyperparameters: independent normal distributions.

    Attributes:
        centre, width: mean and standard deviation of each element.
        bounds: smallest and largest value of each element.
    """

    centre: Array
    width: Array
    bounds: tuple[Bounds, ...]

    @classmethod
    def of(cls, priors: Priors, columns: int, earlier: int) -> PriorDensity:
        """Return the density for a number of columns and of earlier studies."""
        import numpy as np

        length = priors.length[0] + 0.5 * math.log(max(columns, 1))
        others = [priors.amplitude, priors.own, priors.linear, priors.share]
        others += [priors.correlation] * earlier
        return cls(
            centre=np.array([*[length] * columns, *(mean for mean, _ in others)]),
            width=np.array([*[priors.length[1]] * columns, *(width for _, width in others)]),
            bounds=(
                *[LENGTH_BOUNDS] * columns,
                *OTHER_BOUNDS,
                *[CORRELATION_BOUNDS] * earlier,
            ),
        )

    def log_density(self, vector: Array) -> float:
        """Return the logarithm of the density relative to its maximum."""
        off = (vector - self.centre) / self.width
        return -0.5 * float(off @ off)

    def gradient(self, vector: Array) -> Array:
        """Return the derivatives of the logarithm of the density."""
        found: Array = -(vector - self.centre) / self.width**2
        return found


@dataclass(frozen=True)
class Hyperparameters:
    """Hyperparameters, with the vector of the optimiser that they come from.

    Attributes:
        vector: lengths, amplitude, own and linear as logarithms, share and correlations as log
            odds.
        lengths: length scale of each column.
        amplitude, own, linear: variance of these parts, for standardised values.
        share: share of the block in the noise of a launch.
        correlations: correlation of each earlier study with this one.
    """

    vector: Array
    lengths: Array
    amplitude: float
    own: float
    linear: float
    share: float
    correlations: Array

    @classmethod
    def of(cls, vector: Array, columns: int) -> Hyperparameters:
        """Return the hyperparameters of a vector for a number of columns."""
        import numpy as np

        amplitude, own, linear, odds = vector[columns : columns + 4]
        return cls(
            vector=vector,
            lengths=np.exp(vector[:columns]),
            amplitude=math.exp(amplitude),
            own=math.exp(own),
            linear=math.exp(linear),
            share=1.0 / (1.0 + math.exp(-odds)),
            correlations=1.0 / (1.0 + np.exp(-vector[columns + 4 :])),
        )
