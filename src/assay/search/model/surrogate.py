"""Surrogate: a Gaussian process of what configurations take, from single noisy launches.

The logarithm of a launch is a constant, plus a linear part, plus a smooth part (Matern 5/2 with a
length scale for each column), plus what is this configuration's own, plus what was its block's own,
plus noise (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, ch. 2 and 5):

- the linear part finds the direction among many columns that do nothing, from few launches;
- what is a configuration's own lets two neighbours differ by more than noise, so that replicates
  are believed over the neighbourhood;
- the block's own is drift of the machine, shared by all that ran together;
- how much launches vary is read off replicates, and only how that divides into block and launch is
  fitted: a noise that is fitted as a whole is easily taken for structure, or structure for it.

What earlier studies saw is told as launches of tasks of their own (Bonilla, Chai and Williams,
NeurIPS 2007): all but noise is correlated with this study's to a degree that is fitted, so that a
study that was of something else is learnt to mean little.

Everything else is fitted by the largest posterior density under weak priors, without which a length
scale that no launch speaks of runs off to an end. scikit-learn's process has neither priors nor
these parts (it did half as well on one of six recorded spaces, and alike on the others); BoTorch
and Optuna's bring torch.
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
"""Variance, of the standardised values, of how much higher an earlier study lies as a whole: it
launched other configurations."""
MAX_ITERATIONS = 40
"""Of the optimiser; later ones move nothing that matters."""
JITTER = 1e-8
ROOT5 = math.sqrt(5.0)

Prior = tuple[float, float]
"""Mean and standard deviation of a normal prior."""


@dataclass(frozen=True)
class Priors:
    """What is believed of the parts before any launch.

    Attributes:
        length: of the logarithm of a length scale of one column; of d columns the mean grows by
            log(d) / 2, since distances do (Hvarfner et al., ICML 2024).
        amplitude, own, linear: of the logarithms of the variances of those parts, of the
            standardised values.
        share: of the log odds that the noise of a launch is its block's.
        alike: of the log odds of the correlation of an earlier study with this one.
    """

    length: Prior = (math.log(0.5), 1.0)
    amplitude: Prior = (0.0, 1.0)
    own: Prior = (math.log(0.03), 1.5)
    linear: Prior = (math.log(0.5), 1.5)
    share: Prior = (-1.5, 1.5)
    alike: Prior = (1.5, 1.5)


@dataclass(frozen=True)
class TrainingData:
    """Launches of configurations.

    Attributes:
        rows: configurations x columns.
        which: for each launch, the row that ran.
        block: for each launch, which block it ran in.
        values: for each launch, the logarithm of what it took.
        noise: variance of a launch about the mean of its configuration.
        task: for each launch, whose it is: 0 for this study, from 1 on for earlier ones; all are
            of this study if absent.
        counts: for each value, of how many launches it is the mean; of 1 if absent.
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
    """Hyperparameters, as the optimiser moves them."""

    lengths: Array
    amplitude: float
    own: float
    linear: float
    share: float
    alike: Array

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
    """Whose the launches of some data are.

    Two tasks are correlated as much as both are with this study, so that the covariance of tasks is
    positive definite whatever the degrees.

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
        """Mean of this study, the scale of all, and values about the means of their tasks."""
        import numpy as np

        values, means, levels = data.values.astype(np.float64), [], []
        for task in range(self.earlier + 1):
            mine = self._task == task
            count = np.bincount(data.which[mine])
            sums = np.bincount(data.which[mine], weights=data.values[mine])
            means.append(sums[count > 0] / count[count > 0])
            levels.append(float(means[-1].mean()))
            means[-1] = means[-1] - levels[-1]
            values[mine] -= levels[-1]
        scale = max(float(np.concatenate(means).std()), 1e-6)
        return levels[0], scale, values / scale

    def degrees(self, alike: Array) -> Array:
        """For each launch the correlation of its task with this study."""
        import numpy as np

        return np.concatenate(([1.0], alike))[self._task]

    def scaled(self, covariance: Array, alike: Array) -> Array:
        """Entries between launches of different tasks, as far as those are alike."""
        import numpy as np

        if not self.earlier:
            return covariance
        degrees = self.degrees(alike)
        return covariance * np.where(self._same, 1.0, np.outer(degrees, degrees))

    def apart(self, covariance: Array, alike: Array) -> Array:
        """The same, with how much higher each earlier study lies as a whole."""
        return self.scaled(covariance, alike) + self._offset if self.earlier else covariance

    def pull(self, pulls: Array, alike: Array) -> list[float]:
        """Derivatives of a sum of ``scaled`` entries in the log odds of each degree."""
        import numpy as np

        across = np.where(self._same, 0.0, pulls) @ self.degrees(alike)
        found = [2.0 * float(across[self._task == k + 1].sum()) for k in range(self.earlier)]
        return [f * a * (1.0 - a) for f, a in zip(found, alike, strict=True)]


class Surrogate:
    """A process fitted to data.

    Args:
        data: at least two configurations.
        priors: of the parts.
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
        self._together = np.sqrt(np.outer(shares, shares))
        self._together *= data.block[:, None] == data.block[None, :]
        self._squares = ((data.rows[:, None, :] - data.rows[None, :, :]) ** 2).transpose(2, 0, 1)
        self._products = _products(data.rows, data.rows)
        self._parts = self._fitted()
        self._condition()

    # --- as one of several models ---

    @property
    def log_prior(self) -> float:
        """Logarithm of the prior density of the hyperparameters over its largest value."""
        off = (self._vector - self._centre) / self._width
        return -0.5 * float(off @ off)

    def relative_covariance(self) -> Array:
        """Prior covariance of the launches, in multiples of the variance of a launch."""
        return self._covariance(self._parts)[0] / self._noise

    def relative_prior(self, rows: Array, known: Places) -> tuple[Array, Array]:
        """Prior covariance of the launches with configurations, and of those among each other.

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
        others += [priors.alike] * earlier
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
        """That of the launches, and of the rows: smooth, its slope in the squares, linear."""
        import numpy as np

        squares = np.tensordot(1.0 / parts.lengths**2, self._squares, 1)
        smooth, slope = _matern(squares, parts.amplitude)
        linear = parts.linear * self._products
        rows = smooth + linear
        rows[np.diag_indices(len(rows))] += parts.own
        whole = rows[np.ix_(self._which, self._which)]
        whole = self._tasks.apart(whole, parts.alike) + self._noise * parts.share * self._together
        alone = self._noise * (1.0 - parts.share) * self._alone
        whole[np.diag_indices(len(whole))] += alone + JITTER
        return whole, smooth, slope, linear

    def _loss(self, vector: Array) -> tuple[float, Array]:
        """Negative log posterior density and its gradient (Rasmussen and Williams, eq. 5.9)."""
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
        by_row = self._member.T @ self._tasks.scaled(slopes, parts.alike) @ self._member
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
            gradient[columns + 4 :] = self._tasks.pull(pulls, parts.alike)
        return loss + 0.5 * float(off @ off), gradient + off / self._width

    def _condition(self) -> None:
        """What predictions take: the precision of the rows, and their weights."""
        import numpy as np
        from scipy.linalg import cho_factor, cho_solve

        whole = self._covariance(self._parts)[0]
        factor = cho_factor(whole, lower=True)
        # What is predicted is of this study: of an earlier one as far as it is alike.
        member = self._member * self._tasks.degrees(self._parts.alike)[:, None]
        self._weights = member.T @ cho_solve(factor, self._values)
        self._precision = member.T @ cho_solve(factor, member)
        # Symmetric to the last digit, so that predictions do not hang on the order of a product.
        self._precision = 0.5 * (self._precision + self._precision.T)
        self._own = self._parts.own
        assert np.isfinite(self._weights).all()

    # --- predicting ---

    def _across(self, rows: Array, known: Places) -> Array:
        """Covariance of the data's rows with others; ``known``: which of them they are, or -1."""
        import numpy as np

        parts = self._parts
        found = _matern(_distances(self._rows, rows, parts.lengths), parts.amplitude)[0]
        found += parts.linear * _products(self._rows, rows)
        seen = np.flatnonzero(known >= 0)
        found[known[seen], seen] += parts.own
        return found

    def predict(self, rows: Array, known: Places) -> tuple[Array, Array]:
        """Mean and standard deviation of the logarithm, of what is this configuration's own too.

        Args:
            rows: configurations x columns.
            known: for each, the row of the data that it is; -1 for none.
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
        """Posterior covariance of configurations among each other, of their logarithms."""
        import numpy as np

        parts = self._parts
        across = self._across(rows, known)
        among = _matern(_distances(rows, rows, parts.lengths), parts.amplitude)[0]
        among += parts.linear * _products(rows, rows)
        among[np.diag_indices(len(rows))] += parts.own
        found = among - across.T @ self._precision @ across
        return np.asarray(0.5 * (found + found.T) * self._scale**2)

    @property
    def alike(self) -> list[float]:
        """Of each earlier study the correlation with this one, by number."""
        return [float(degree) for degree in self._parts.alike]

    @property
    def launch_variance(self) -> float:
        """Of one more launch in a block of its own."""
        return self._noise * self._scale**2


def _matern(squares: Array, amplitude: float) -> tuple[Array, Array]:
    """Matern 5/2 of squared scaled distances, and its derivative in them."""
    import numpy as np

    distance = ROOT5 * np.sqrt(np.maximum(squares, 1e-12))
    decay = amplitude * np.exp(-distance)
    return (1.0 + distance + (5.0 / 3.0) * squares) * decay, -(5.0 / 6.0) * (1.0 + distance) * decay


def _distances(a: Array, b: Array, lengths: Array) -> Array:
    """Squared, each column by its length scale."""
    import numpy as np

    a, b = a / lengths, b / lengths
    both = (a * a).sum(axis=1)[:, None] + (b * b).sum(axis=1)[None, :] - 2.0 * (a @ b.T)
    return np.asarray(np.maximum(both, 0.0))


def _products(a: Array, b: Array) -> Array:
    """Inner products about the middle of the cube, 1 at a corner with itself."""
    found: Array = (a - 0.5) @ (b - 0.5).T * (4.0 / max(a.shape[1], 1))
    return found


def _squared(rows: Array) -> Array:
    found: Array = ((rows - 0.5) ** 2).sum(axis=1) * (4.0 / max(rows.shape[1], 1))
    return found
