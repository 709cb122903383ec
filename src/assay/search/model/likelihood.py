"""Likelihood: covariance of the launches, and the posterior density of hyperparameters.

The hyperparameters have maximum posterior density under weak priors; without priors an
undetermined length scale diverges. scikit-learn's process has neither priors nor these parts (it
was half as good on one of six recorded spaces, and equal on the others); those of BoTorch and
Optuna require torch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.search.model.hyperparameters import Hyperparameters, PriorDensity, Priors
from assay.search.model.kernels import (
    inner_products,
    length_gradient,
    matern_with_slope,
    squared_distances,
)
from assay.search.model.tasks import Tasks, TrainingData

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

MAX_ITERATIONS = 40
"""Maximum number of iterations of the optimiser; later ones have no relevant effect."""
JITTER = 1e-8
IMPOSSIBLE = 1e10
"""Loss of hyperparameters whose covariance is not positive definite."""


@dataclass(frozen=True)
class LaunchCovariance:
    """Covariance of the launches with its parts.

    Attributes:
        whole: covariance of the launches, launches x launches.
        rows: covariance of the configurations without noise.
        smooth: the smooth part of ``rows``.
        slope: derivative of the smooth part by the squared scaled distances.
    """

    whole: Array
    rows: Array
    smooth: Array
    slope: Array


class Likelihood:
    """Density of launches and hyperparameters.

    Args:
        data: at least two configurations.
        priors: priors of the hyperparameters.
    """

    def __init__(self, data: TrainingData, priors: Priors | None = None) -> None:
        import numpy as np
        from scipy.sparse import csr_array

        launches = len(data.values)
        self.rows = data.rows
        self.which = data.which
        self.tasks = Tasks(data)
        self.mean, self.scale, self.values = self.tasks.standardised(data)
        self.noise = max(data.noise / self.scale**2, 1e-6)
        self.density = PriorDensity.of(priors or Priors(), data.rows.shape[1], self.tasks.earlier)
        ones = np.ones(launches)
        self.member: Any = csr_array(
            (ones, (np.arange(launches), data.which)), shape=(launches, len(data.rows))
        )
        shares = ones if data.counts is None else 1.0 / data.counts
        self._alone = shares
        averaged = np.sqrt(np.minimum(shares, 1.0))  # a short launch has a whole block effect
        self._together = np.outer(averaged, averaged)
        self._together *= data.block[:, None] == data.block[None, :]
        self._above = np.triu(np.ones((launches, launches), dtype=bool), 1)

    def fitted(
        self, start: Array | None = None, max_iterations: int = MAX_ITERATIONS
    ) -> Hyperparameters:
        """Return the hyperparameters with maximum posterior density.

        Args:
            start: vector from which the optimiser begins; the centre of the priors if absent.
            max_iterations: maximum number of iterations of the optimiser.
        """
        import numpy as np
        from scipy.optimize import minimize

        found = minimize(
            self.loss,
            self.density.centre if start is None else start,
            jac=True,
            method="L-BFGS-B",
            bounds=self.density.bounds,
            options={"maxiter": max_iterations},
        )
        return Hyperparameters.of(np.asarray(found.x), self.rows.shape[1])

    def covariance(self, parts: Hyperparameters) -> LaunchCovariance:
        """Return the covariance of the launches."""
        import numpy as np

        squares = squared_distances(self.rows, self.rows, parts.lengths)
        np.fill_diagonal(squares, 0.0)  # exact, so that the variance is the same for each row
        smooth, slope = matern_with_slope(squares, parts.amplitude)
        rows = parts.linear * inner_products(self.rows, self.rows)
        rows += smooth
        rows[np.diag_indices(len(rows))] += parts.own
        whole = rows[self.which[:, None], self.which[None, :]]
        whole = self.tasks.with_level_variance(whole, parts.correlations)
        whole += self.noise * parts.share * self._together
        alone = self.noise * (1.0 - parts.share) * self._alone
        whole[np.diag_indices(len(whole))] += alone + JITTER
        return LaunchCovariance(whole, rows, smooth, slope)

    def precision(self, whole: Array) -> tuple[Array, float] | None:
        """Return the inverse of a covariance of launches, and the log of its determinant.

        ``None`` if it is not positive definite. The covariance is overwritten.
        """
        import numpy as np
        from scipy.linalg import lapack

        factor, failed = lapack.dpotrf(whole.T, lower=1, clean=0, overwrite_a=1)
        if failed:
            return None
        log_det = 2.0 * float(np.log(np.diag(factor)).sum())
        inverse = lapack.dpotri(factor, lower=1, overwrite_c=1)[0]
        np.copyto(inverse, inverse.T, where=self._above)
        return inverse, log_det

    def loss(self, vector: Array) -> tuple[float, Array]:
        """Return the negative log posterior and its gradient (Rasmussen and Williams, eq. 5.9)."""
        import numpy as np

        columns = self.rows.shape[1]
        parts = Hyperparameters.of(vector, columns)
        covariance = self.covariance(parts)
        inverted = self.precision(covariance.whole)
        if inverted is None:
            return IMPOSSIBLE, np.zeros_like(vector)
        inverse, log_det = inverted
        weights = inverse @ self.values
        loss = 0.5 * float(self.values @ weights) + 0.5 * log_det
        slopes = inverse
        slopes -= np.outer(weights, weights)
        slopes *= 0.5
        gradient = np.concatenate(
            (
                self._row_gradient(slopes, covariance, parts),
                [self._share_gradient(slopes, parts)],
                self._correlation_gradient(slopes, covariance, parts),
            )
        )
        return loss - self.density.log_density(vector), gradient - self.density.gradient(vector)

    def _row_gradient(
        self, slopes: Array, covariance: LaunchCovariance, parts: Hyperparameters
    ) -> list[float]:
        """Return the derivatives by lengths, amplitude, configuration effect and linear part."""
        import numpy as np

        scaled = self.tasks.scaled(slopes, parts.correlations)
        by_row = self.member.T @ (scaled @ self.member)
        lengths = length_gradient(self.rows, by_row * covariance.slope, parts.lengths)
        smooth = float(np.einsum("ij,ij->", by_row, covariance.smooth))
        own = float(np.trace(by_row)) * parts.own
        linear = float(np.einsum("ij,ij->", by_row, covariance.rows)) - smooth - own
        return [*lengths, smooth, own, linear]

    def _share_gradient(self, slopes: Array, parts: Hyperparameters) -> float:
        """Return the derivative by the log odds of the share of the block."""
        import numpy as np

        moved = self.noise * parts.share * (1.0 - parts.share)
        alone = float(np.diag(slopes) @ self._alone)
        return moved * (float(np.einsum("ij,ij->", slopes, self._together)) - alone)

    def _correlation_gradient(
        self, slopes: Array, covariance: LaunchCovariance, parts: Hyperparameters
    ) -> list[float]:
        if not self.tasks.earlier:
            return []
        pulls = slopes * covariance.rows[self.which[:, None], self.which[None, :]]
        return self.tasks.correlation_gradient(pulls, parts.correlations)
