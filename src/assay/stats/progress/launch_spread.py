"""Standard deviation between launches: prior and posterior.

The plug-in estimate from a few blocks is noise, and often negative. So the standard deviation has a
log-normal prior, on a grid. The differences of the arms within blocks give the likelihood, with the
effects of the arms integrated out under a flat prior.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.stats.progress.reports import Array

_GRID = np.geomspace(2e-4, 6e-2, 28)
_BISECTIONS = 30


@dataclass(frozen=True, slots=True)
class SpreadPrior:
    """Prior of the standard deviation between launches: log-normal.

    Attributes:
        median: median relative to the mean, such as the stored noise floor of the machine.
        log_sd: standard deviation of its logarithm; ln 1.5 suits a noise floor.
    """

    median: float = 0.007
    log_sd: float = math.log(2.5)

    def log_density(self) -> Array:
        """Return the logarithm of the density on the grid, up to a constant."""
        return np.asarray(-0.5 * (np.log(_GRID / self.median) / self.log_sd) ** 2)


@dataclass(frozen=True, slots=True)
class BlockValues:
    """Finished block.

    Attributes:
        logs: logarithm of the value of each arm, in the order of the arms.
        steady_steps: steady steps of each of its launches.
    """

    logs: tuple[float, ...]
    steady_steps: float


@dataclass(frozen=True, slots=True)
class RepeatedValues:
    """Launches of one configuration, outside of blocks.

    Attributes:
        logs: logarithm of the value of each launch.
        steady_steps: steady steps of each launch.
    """

    logs: tuple[float, ...]
    steady_steps: tuple[float, ...]


def spread_grid() -> Array:
    """Return the standard deviations between launches that are considered, relative."""
    return _GRID.copy()


def spread_posterior(
    blocks: Sequence[BlockValues],
    step_variance: float,
    prior: SpreadPrior | None = None,
    repeats: Sequence[RepeatedValues] = (),
) -> Array:
    """Return the probability of each value of ``spread_grid()``.

    Args:
        blocks: complete blocks with the same arms.
        step_variance: long-run variance of a step relative to the mean.
        prior: prior of the standard deviation; the default one if absent.
        repeats: further launches that were repeated outside of blocks, as in a search.

    Returns:
        Probabilities, with sum 1.
    """
    log_weights = (prior or SpreadPrior()).log_density()
    if len(blocks) > 1:
        log_weights = log_weights + _log_likelihood(blocks, step_variance)
    for one in repeats:
        if len(one.logs) > 1:
            log_weights = log_weights + _log_likelihood_of_repeats(one, step_variance)
    weights = np.exp(log_weights - log_weights.max())
    return np.asarray(weights / weights.sum())


def expected_spread(posterior: Array) -> float:
    """Return the estimated standard deviation between launches, relative to the mean.

    Args:
        posterior: probabilities on the grid (see ``spread_posterior``).
    """
    return math.sqrt(float(posterior @ np.square(_GRID)))


def predictive_spread(posterior: Array, deviations: float) -> float:
    """Return a standard deviation between launches that allows for its own uncertainty.

    A launch exceeds this value times ``deviations`` as rarely as a Gaussian one with a known
    standard deviation would: the mean of the probabilities over the posterior equals that one.

    Args:
        posterior: probabilities on the grid (see ``spread_posterior``).
        deviations: limit in standard deviations.
    """
    rate = math.erfc(deviations / math.sqrt(2.0))
    low, high = float(_GRID[0]), float(_GRID[-1])
    for _ in range(_BISECTIONS):
        middle = math.sqrt(low * high)
        beyond = sum(
            weight * math.erfc(deviations * middle / (sd * math.sqrt(2.0)))
            for weight, sd in zip(posterior.tolist(), _GRID.tolist(), strict=True)
        )
        low, high = (middle, high) if beyond > rate else (low, middle)
    return high


def _log_likelihood(blocks: Sequence[BlockValues], step_variance: float) -> Array:
    """Return the restricted log-likelihood of the values within blocks on the grid."""
    logs = np.array([block.logs for block in blocks])
    lengths = np.array([block.steady_steps for block in blocks])
    arms = logs.shape[1]
    centred = logs - logs.mean(axis=1, keepdims=True)
    variances = np.square(_GRID)[:, np.newaxis] + step_variance / lengths
    precision = 1.0 / variances
    effects = precision @ centred / precision.sum(axis=1, keepdims=True)
    squares = np.square(centred[np.newaxis] - effects[:, np.newaxis]).sum(axis=2)
    determinant = np.log(variances).sum(axis=1) + np.log(precision.sum(axis=1))
    return np.asarray(-0.5 * ((arms - 1) * determinant + (precision * squares).sum(axis=1)))


def _log_likelihood_of_repeats(launches: RepeatedValues, step_variance: float) -> Array:
    """Return the restricted log-likelihood of launches of one configuration on the grid."""
    logs, lengths = np.array(launches.logs), np.array(launches.steady_steps)
    variances = np.square(_GRID)[:, np.newaxis] + step_variance / lengths
    precision = 1.0 / variances
    means = (precision @ logs) / precision.sum(axis=1)
    squares = (precision * np.square(logs - means[:, np.newaxis])).sum(axis=1)
    determinant = np.log(variances).sum(axis=1) + np.log(precision.sum(axis=1))
    return np.asarray(-0.5 * (determinant + squares))
