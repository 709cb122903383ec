"""Dense model: the surrogate as one of several models, in which every setting may matter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.search.model.launch_precision import LEVEL_VARIANCE

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from assay.search.model.surrogate import Surrogate

    Array = npt.NDArray[np.float64]
    Places = npt.NDArray[np.intp]


class DenseModel:
    """A surrogate conditioned on launches with noise of unknown size.

    Args:
        surrogate: a process fitted to these launches and possibly others.
        launches: index of each launch in the data of the surrogate.
        centred: values of the launches about their median.
    """

    def __init__(self, surrogate: Surrogate, launches: Places, centred: Array) -> None:
        import numpy as np
        from scipy.linalg import cho_solve, cholesky

        self._surrogate = surrogate
        self._launches = launches
        whole = surrogate.relative_covariance(launches) + LEVEL_VARIANCE
        self._factor = cholesky(whole, lower=True, overwrite_a=True, check_finite=False)
        self._pull = cho_solve((self._factor, True), centred)
        self.quadratic = float(centred @ self._pull)
        self.log_det = 2.0 * float(np.log(np.diag(self._factor)).sum())
        self.log_prior = surrogate.log_prior

    def contrasts(self, rows: Array, known: Places, weights: Any) -> tuple[Array, Array]:
        """Return means, and variances in multiples of the noise, of weighted sums.

        Args:
            rows, known: as for ``Surrogate.predict``.
            weights: sparse weights, sums x configurations.
        """
        import numpy as np
        from scipy.linalg import solve_triangular

        across, among = self._surrogate.relative_prior(rows, known, self._launches)
        turned = weights @ across.T
        held = solve_triangular(self._factor, turned.T, lower=True, check_finite=False)
        prior = quadratic_forms(weights, among)
        return turned @ self._pull, np.maximum(prior - np.einsum("ij,ij->j", held, held), 0.0)


def quadratic_forms(weights: Any, covariance: Array) -> Array:
    """Return the variance of each weighted sum.

    Args:
        weights: sparse weights, sums x configurations.
        covariance: covariance of the configurations.
    """
    import numpy as np

    return np.asarray(weights.multiply(weights @ covariance).sum(axis=1)).reshape(-1)
