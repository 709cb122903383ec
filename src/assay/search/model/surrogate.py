"""Surrogate: a Gaussian process model of the log objective, from single noisy launches.

The logarithm of a launch is a constant, plus a linear part, plus a smooth part (Matern 5/2 with a
length scale for each column), plus a configuration effect, plus a block effect,
plus noise (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, ch. 2 and 5):

- the linear part finds the direction among many irrelevant columns, from few launches;
- the configuration effect lets two neighbours differ by more than noise, so that replicates
  outweigh the neighbourhood;
- the block effect is drift of the machine, shared by all launches of a block;
- the total noise is estimated from replicates, and only its division into block and launch is
  fitted: a fitted total noise is easily confused with structure.

Results of earlier studies are launches of separate tasks (Bonilla, Chai and Williams, NeurIPS
2007): everything except noise is correlated with this study to a fitted degree, so that an
unrelated study has little influence.

All other parameters have maximum posterior density under weak priors; without priors an
undetermined length scale diverges. scikit-learn's process has neither priors nor these parts (it
was half as good on one of six recorded spaces, and equal on the others); those of BoTorch and
Optuna require torch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
    Places = npt.NDArray[np.intp]

LEVEL_DEVIATION = 1.0
"""Prior standard deviation of the level of an earlier study, in standardised values: it launched
different configurations."""
MAX_ITERATIONS = 40
"""Maximum number of iterations of the optimiser; later ones have no relevant effect."""
JITTER = 1e-8
ROOT5 = math.sqrt(5.0)

Prior = tuple[float, float]
"""Mean and standard deviation of a normal prior."""


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
class TrainingData:
    """Launches that the surrogate is fitted to.

    Attributes:
        rows: features, configurations x columns.
        which: row of each launch.
        block: block of each launch.
        values: logarithm of the objective of each launch.
        noise: variance of a launch about the mean of its configuration.
        task: study of each launch: 0 for this study, from 1 on for earlier ones; 0 if absent.
        counts: number of launches averaged in each value, below 1 for a shorter launch; 1 if
            absent.
    """

    rows: Array
    which: Places
    block: Places
    values: Array
    noise: float
    task: Places | None = None
    counts: Array | None = None


@dataclass(frozen=True)
class _Parts:
    """Hyperparameters in the order of the optimiser's vector."""

    lengths: Array
    amplitude: float
    own: float
    linear: float
    share: float
    correlations: Array

    @classmethod
    def of(cls, vector: Array, columns: int) -> _Parts:
        import numpy as np

        amplitude, own, linear, odds = vector[columns : columns + 4]
        return cls(
            np.exp(vector[:columns]),
            math.exp(amplitude),
            math.exp(own),
            math.exp(linear),
            1.0 / (1.0 + math.exp(-odds)),
            1.0 / (1.0 + np.exp(-vector[columns + 4 :])),
        )


class _Tasks:
    """Assignment of launches to tasks: this study and earlier ones.

    The correlation of two tasks is the product of their correlations with this study, so the
    covariance of tasks is always positive definite.

    Args:
        data: at least two configurations of this study.
    """

    def __init__(self, data: TrainingData) -> None:
        import numpy as np

        task = np.zeros(len(data.values), dtype=np.intp) if data.task is None else data.task
        self._task = task
        self.earlier = int(task.max())
        self._same = task[:, None] == task[None, :]
        self._offset = LEVEL_DEVIATION * (self._same & (task > 0)[:, None])

    def standardised(self, data: TrainingData) -> tuple[float, float, Array]:
        """Return the mean of this study, the common scale, and values about task means."""
        import numpy as np

        values, means, levels = data.values.astype(np.float64), [], []
        for task in range(self.earlier + 1):
            of_task = self._task == task
            count = np.bincount(data.which[of_task])
            sums = np.bincount(data.which[of_task], weights=data.values[of_task])
            means.append(sums[count > 0] / count[count > 0])
            levels.append(float(means[-1].mean()))
            means[-1] = means[-1] - levels[-1]
            values[of_task] -= levels[-1]
        scale = max(float(np.concatenate(means).std()), 1e-6)
        return levels[0], scale, values / scale

    def launch_correlations(self, correlations: Array) -> Array:
        """Return the correlation of the task of each launch with this study."""
        import numpy as np

        return np.concatenate(([1.0], correlations))[self._task]

    def scaled(self, covariance: Array, correlations: Array) -> Array:
        """Return a covariance with entries between tasks multiplied by their correlation."""
        import numpy as np

        if not self.earlier:
            return covariance
        degrees = self.launch_correlations(correlations)
        return covariance * np.where(self._same, 1.0, np.outer(degrees, degrees))

    def with_level_variance(self, covariance: Array, correlations: Array) -> Array:
        """Return the scaled covariance plus the level variance of earlier studies."""
        return self.scaled(covariance, correlations) + self._offset if self.earlier else covariance

    def correlation_gradient(self, pulls: Array, correlations: Array) -> list[float]:
        """Return the derivatives of a sum of ``scaled`` entries by the log odds of correlations."""
        import numpy as np

        across = np.where(self._same, 0.0, pulls) @ self.launch_correlations(correlations)
        found = [2.0 * float(across[self._task == k + 1].sum()) for k in range(self.earlier)]
        return [f * a * (1.0 - a) for f, a in zip(found, correlations, strict=True)]


class Surrogate:
    """A Gaussian process fitted to launches.

    Args:
        data: at least two configurations.
        priors: priors of the hyperparameters.
    """

    def __init__(self, data: TrainingData, priors: Priors | None = None) -> None:
        import numpy as np

        self._priors = priors or Priors()
        self._rows = data.rows
        self._which = data.which
        self._tasks = _Tasks(data)
        self._mean, self._scale, self._values = self._tasks.standardised(data)
        self._noise = max(data.noise / self._scale**2, 1e-6)
        self._member = np.zeros((len(data.values), len(data.rows)))
        self._member[np.arange(len(data.values)), data.which] = 1.0
        shares = np.ones(len(data.values)) if data.counts is None else 1.0 / data.counts
        self._alone = shares
        averaged = np.minimum(shares, 1.0)  # a short launch has the block effect of a whole one
        self._together = np.sqrt(np.outer(averaged, averaged))
        self._together *= data.block[:, None] == data.block[None, :]
        self._squares = ((data.rows[:, None, :] - data.rows[None, :, :]) ** 2).transpose(2, 0, 1)
        self._products = _products(data.rows, data.rows)
        self._parts = self._fitted()
        self._condition()

    # --- as one of several models ---

    @property
    def log_prior(self) -> float:
        """Log prior density of the hyperparameters relative to its maximum."""
        off = (self._vector - self._centre) / self._width
        return -0.5 * float(off @ off)

    def relative_covariance(self) -> Array:
        """Return the prior covariance of the launches, in multiples of the variance of a launch."""
        return self._covariance(self._parts)[0] / self._noise

    def relative_prior(self, rows: Array, known: Places) -> tuple[Array, Array]:
        """Return the prior covariances of configurations with launches, and with each other.

        Both in multiples of the variance of a launch; the arguments are those of ``predict``.
        """
        import numpy as np

        parts = self._parts
        across = self._across(rows, known)[self._which]
        among = _matern(_distances(rows, rows, parts.lengths), parts.amplitude)[0]
        among += parts.linear * _products(rows, rows)
        among[np.diag_indices(len(rows))] += parts.own
        return across / self._noise, among / self._noise

    # --- fitting ---

    def _fitted(self) -> _Parts:
        import numpy as np
        from scipy.optimize import minimize

        columns, earlier = self._rows.shape[1], self._tasks.earlier
        priors = self._priors
        length = priors.length[0] + 0.5 * math.log(max(columns, 1))
        others = [priors.amplitude, priors.own, priors.linear, priors.share]
        others += [priors.correlation] * earlier
        self._centre = np.array([*[length] * columns, *(mean for mean, _ in others)])
        self._width = np.array([*[priors.length[1]] * columns, *(width for _, width in others)])
        bounds = [(-4.0, 5.0)] * columns + [(-6.0, 4.0), (-12.0, 1.0), (-8.0, 4.0), (-6.0, 6.0)]
        bounds += [(-6.0, 6.0)] * earlier
        found = minimize(
            self._loss,
            self._centre,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"maxiter": MAX_ITERATIONS},
        )
        self._vector = np.asarray(found.x)
        return _Parts.of(self._vector, columns)

    def _covariance(self, parts: _Parts) -> tuple[Array, Array, Array, Array]:
        """Return the covariances of the launches and of the rows: smooth, its slope, and linear."""
        import numpy as np

        squares = np.tensordot(1.0 / parts.lengths**2, self._squares, 1)
        smooth, slope = _matern(squares, parts.amplitude)
        linear = parts.linear * self._products
        rows = smooth + linear
        rows[np.diag_indices(len(rows))] += parts.own
        whole = rows[np.ix_(self._which, self._which)]
        whole = (
            self._tasks.with_level_variance(whole, parts.correlations)
            + self._noise * parts.share * self._together
        )
        alone = self._noise * (1.0 - parts.share) * self._alone
        whole[np.diag_indices(len(whole))] += alone + JITTER
        return whole, smooth, slope, linear

    def _loss(self, vector: Array) -> tuple[float, Array]:
        """Return the negative log posterior and its gradient (Rasmussen and Williams, eq. 5.9)."""
        import numpy as np
        from scipy.linalg import LinAlgError, cholesky, lapack

        columns = self._rows.shape[1]
        parts = _Parts.of(vector, columns)
        whole, smooth, slope, linear = self._covariance(parts)
        off = (vector - self._centre) / self._width
        try:
            factor = cholesky(whole, lower=True, check_finite=False)
        except LinAlgError:
            return 1e10, np.zeros_like(vector)
        inverse = lapack.dpotri(factor, lower=1)[0]
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        weights = inverse @ self._values
        loss = 0.5 * float(self._values @ weights) + float(np.log(np.diag(factor)).sum())
        slopes = 0.5 * (inverse - np.outer(weights, weights))
        by_row = self._member.T @ self._tasks.scaled(slopes, parts.correlations) @ self._member
        gradient = np.empty_like(vector)
        pull = np.tensordot(self._squares, by_row * slope, ([1, 2], [0, 1]))
        gradient[:columns] = pull * (-2.0 / parts.lengths**2)
        gradient[columns] = (by_row * smooth).sum()
        gradient[columns + 1] = np.trace(by_row) * parts.own
        gradient[columns + 2] = (by_row * linear).sum()
        moved = self._noise * parts.share * (1.0 - parts.share)
        alone = float(np.diag(slopes) @ self._alone)
        gradient[columns + 3] = moved * ((slopes * self._together).sum() - alone)
        if self._tasks.earlier:
            rows = smooth + linear
            rows[np.diag_indices(len(rows))] += parts.own
            pulls = slopes * rows[np.ix_(self._which, self._which)]
            gradient[columns + 4 :] = self._tasks.correlation_gradient(pulls, parts.correlations)
        return loss + 0.5 * float(off @ off), gradient + off / self._width

    def _condition(self) -> None:
        """Compute the precision and the weights of the rows, for predictions."""
        import numpy as np
        from scipy.linalg import cho_factor, cho_solve

        whole = self._covariance(self._parts)[0]
        factor = cho_factor(whole, lower=True)
        # Predictions are for this study; earlier studies contribute by their correlation.
        member = self._member * self._tasks.launch_correlations(self._parts.correlations)[:, None]
        self._weights = member.T @ cho_solve(factor, self._values)
        self._precision = member.T @ cho_solve(factor, member)
        # Exactly symmetric, so that predictions do not depend on the order of a product.
        self._precision = 0.5 * (self._precision + self._precision.T)
        self._own = self._parts.own
        assert np.isfinite(self._weights).all()

    # --- predicting ---

    def _across(self, rows: Array, known: Places) -> Array:
        """Return the covariance of the data's rows with ``rows`` (indices ``known``, or -1)."""
        import numpy as np

        parts = self._parts
        found = _matern(_distances(self._rows, rows, parts.lengths), parts.amplitude)[0]
        found += parts.linear * _products(self._rows, rows)
        launched = np.flatnonzero(known >= 0)
        found[known[launched], launched] += parts.own
        return found

    def predict(self, rows: Array, known: Places) -> tuple[Array, Array]:
        """Return the mean and standard deviation of the log objective, with configuration effects.

        Args:
            rows: configurations x columns.
            known: row of each configuration in the data; -1 for none.
        """
        import numpy as np

        across = self._across(rows, known)
        mean = across.T @ self._weights
        parts = self._parts
        alone = parts.amplitude + parts.own + parts.linear * _squared(rows)
        variance = alone - np.einsum("ij,ij->j", self._precision @ across, across)
        deviation = np.sqrt(np.maximum(variance, 1e-12))
        return self._mean + self._scale * mean, self._scale * deviation

    def covariance(self, rows: Array, known: Places) -> Array:
        """Return the posterior covariance of the log objective of configurations."""
        import numpy as np

        parts = self._parts
        across = self._across(rows, known)
        among = _matern(_distances(rows, rows, parts.lengths), parts.amplitude)[0]
        among += parts.linear * _products(rows, rows)
        among[np.diag_indices(len(rows))] += parts.own
        found = among - across.T @ self._precision @ across
        return np.asarray(0.5 * (found + found.T) * self._scale**2)

    @property
    def correlations(self) -> list[float]:
        """Correlation of each earlier study with this one, by number."""
        return [float(degree) for degree in self._parts.correlations]

    @property
    def launch_variance(self) -> float:
        """Variance of one more launch in a new block."""
        return self._noise * self._scale**2


def _matern(squares: Array, amplitude: float) -> tuple[Array, Array]:
    """Return Matern 5/2 of squared scaled distances, and its derivative in them."""
    import numpy as np

    distance = ROOT5 * np.sqrt(np.maximum(squares, 1e-12))
    decay = amplitude * np.exp(-distance)
    return (1.0 + distance + (5.0 / 3.0) * squares) * decay, -(5.0 / 6.0) * (1.0 + distance) * decay


def _distances(a: Array, b: Array, lengths: Array) -> Array:
    """Return squared distances with each column divided by its length scale."""
    import numpy as np

    a, b = a / lengths, b / lengths
    both = (a * a).sum(axis=1)[:, None] + (b * b).sum(axis=1)[None, :] - 2.0 * (a @ b.T)
    return np.asarray(np.maximum(both, 0.0))


def _products(a: Array, b: Array) -> Array:
    """Return inner products about the middle of the cube, scaled to 1 at a corner with itself."""
    found: Array = (a - 0.5) @ (b - 0.5).T * (4.0 / max(a.shape[1], 1))
    return found


def _squared(rows: Array) -> Array:
    found: Array = ((rows - 0.5) ** 2).sum(axis=1) * (4.0 / max(rows.shape[1], 1))
    return found
