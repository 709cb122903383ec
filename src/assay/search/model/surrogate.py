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
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.search.model.hyperparameters import Hyperparameters, Priors
from assay.search.model.kernels import inner_products, matern, squared_distances, squared_norms
from assay.search.model.likelihood import Likelihood
from assay.search.model.tasks import TrainingData

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
    Places = npt.NDArray[np.intp]

PREDICTED_TOGETHER = 256
"""Configurations of one prediction: more of them need memory, and fewer need calls."""


class Surrogate:
    """A Gaussian process conditioned on launches.

    Args:
        data: at least two configurations.
        priors: priors of the hyperparameters.
        hyperparameters: hyperparameters fitted to a part of the launches; fitted to all of them if
            absent.
        iterations: iterations of the optimiser that adapt these hyperparameters to all launches.
    """

    def __init__(
        self,
        data: TrainingData,
        priors: Priors | None = None,
        hyperparameters: Hyperparameters | None = None,
        iterations: int = 0,
    ) -> None:
        likelihood = Likelihood(data, priors)
        self._rows = data.rows
        self._which = data.which
        self._mean, self._scale = likelihood.mean, likelihood.scale
        self._noise = likelihood.noise
        if hyperparameters is None:
            hyperparameters = likelihood.fitted()
        elif iterations:
            hyperparameters = likelihood.fitted(hyperparameters.vector, iterations)
        self.hyperparameters = hyperparameters
        self.log_prior = likelihood.density.log_density(self.hyperparameters.vector)
        """Log prior density of the hyperparameters relative to its maximum."""
        self._condition(likelihood)

    def _condition(self, likelihood: Likelihood) -> None:
        """Compute the precision and the weights of the rows, for predictions."""
        import numpy as np

        parts = self.hyperparameters
        self._launch_covariance = likelihood.covariance(parts).whole
        inverted = likelihood.precision(self._launch_covariance.copy())
        assert inverted is not None
        # Predictions are for this study; earlier studies contribute by their correlation.
        degrees = likelihood.tasks.launch_correlations(parts.correlations)
        member = likelihood.member.multiply(degrees[:, None]).tocsr()
        self._weights = member.T @ (inverted[0] @ likelihood.values)
        precision = member.T @ (inverted[0] @ member)
        # Exactly symmetric, so that predictions do not depend on the order of a product.
        self._precision = 0.5 * (precision + precision.T)
        assert np.isfinite(self._weights).all()

    # --- as one of several models ---

    def relative_covariance(self, launches: Places) -> Array:
        """Return the prior covariance of launches, in multiples of the variance of a launch.

        Args:
            launches: indices of the launches.
        """
        found: Array = self._launch_covariance[launches[:, None], launches[None, :]] / self._noise
        return found

    def relative_prior(self, rows: Array, known: Places, launches: Places) -> tuple[Array, Array]:
        """Return the prior covariances of configurations with launches, and with each other.

        Both in multiples of the variance of a launch; the arguments are those of ``predict`` and
        ``relative_covariance``.
        """
        across = self._across(rows, known)[self._which[launches]]
        return across / self._noise, self._among(rows) / self._noise

    # --- predicting ---

    def _across(self, rows: Array, known: Places) -> Array:
        """Return the covariance of the data's rows with ``rows`` (indices ``known``, or -1)."""
        import numpy as np

        parts = self.hyperparameters
        found = matern(squared_distances(self._rows, rows, parts.lengths), parts.amplitude)
        found += parts.linear * inner_products(self._rows, rows)
        launched = np.flatnonzero(known >= 0)
        found[known[launched], launched] += parts.own
        return found

    def _among(self, rows: Array) -> Array:
        """Return the prior covariance of configurations with each other."""
        import numpy as np

        parts = self.hyperparameters
        found = matern(squared_distances(rows, rows, parts.lengths), parts.amplitude)
        found += parts.linear * inner_products(rows, rows)
        found[np.diag_indices(len(rows))] += parts.own
        return found

    def predict(self, rows: Array, known: Places) -> tuple[Array, Array]:
        """Return the mean and standard deviation of the log objective, with configuration effects.

        Args:
            rows: configurations x columns.
            known: row of each configuration in the data; -1 for none.
        """
        import numpy as np

        mean, explained = np.empty(len(rows)), np.empty(len(rows))
        for begin in range(0, len(rows), PREDICTED_TOGETHER):
            part = slice(begin, begin + PREDICTED_TOGETHER)
            across = self._across(rows[part], known[part])
            mean[part] = across.T @ self._weights
            explained[part] = np.einsum("ij,ij->j", self._precision @ across, across)
        parts = self.hyperparameters
        variance = parts.amplitude + parts.own + parts.linear * squared_norms(rows) - explained
        deviation = np.sqrt(np.maximum(variance, 1e-12))
        return self._mean + self._scale * mean, self._scale * deviation

    def covariance(self, rows: Array, known: Places) -> Array:
        """Return the posterior covariance of the log objective of configurations."""
        import numpy as np

        across = self._across(rows, known)
        found = self._among(rows)
        found -= across.T @ (self._precision @ across)
        found = found + found.T
        found *= 0.5 * self._scale**2
        return np.asarray(found)

    @property
    def correlations(self) -> list[float]:
        """Correlation of each earlier study with this one, by number."""
        return [float(degree) for degree in self.hyperparameters.correlations]

    @property
    def launch_variance(self) -> float:
        """Variance of one more launch in a new block."""
        return self._noise * self._scale**2
