"""One sparse model: few settings matter, conditioned on launches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.search.model.launch_precision import LaunchPrecision
from assay.search.model.setting_effects import Effect

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ObservedEffect:
    """An effect with the sums of a precision over the launches with each of its values.

    Attributes:
        effect: the effect.
        precision: precision of the launches.
        between: sums of the precision between values, values x values.
        shared: sums of its factor of low rank, blocks x values.
        pulls: sums of the precision times the values of launches.
    """

    effect: Effect
    precision: LaunchPrecision
    between: Array
    shared: Array
    pulls: Array

    @classmethod
    def of(cls, effect: Effect, precision: LaunchPrecision) -> ObservedEffect:
        """Sum a precision by the values of an effect."""
        shared = (effect.members @ precision.shared.T).T
        return cls(
            effect=effect,
            precision=precision,
            between=effect.cross_table(precision.alone) - shared.T @ shared,
            shared=shared,
            pulls=effect.members @ precision.pulls,
        )

    def evidence(self, amplitudes: Array) -> tuple[Array, Array]:
        """Return the quadratic form and the log determinant of the launches.

        Args:
            amplitudes: prior variances of the effect, in multiples of that of a launch.
        """
        import numpy as np

        root, size = self.effect.root, self.effect.size
        pulled = root.T @ self.pulls
        # With the pulls as a further row, one factorisation yields determinant and quadratic form.
        whole = np.empty((len(amplitudes), size + 1, size + 1))
        whole[:, :size, :size] = amplitudes[:, None, None] * (root.T @ self.between @ root)
        whole[:, range(size), range(size)] += 1.0
        whole[:, size, :size] = whole[:, :size, size] = pulled
        whole[:, size, size] = 1.0 + float(pulled @ pulled)
        factors = np.linalg.cholesky(whole)
        along = factors[:, size, :size]
        diagonals = factors[:, range(size), range(size)]
        quadratics = self.precision.quadratic - amplitudes * (along**2).sum(axis=1)
        log_dets = self.precision.log_det + 2.0 * np.log(diagonals).sum(axis=1)
        return quadratics, log_dets


@dataclass(frozen=True)
class SparseModel:
    """A model in which few settings matter, conditioned on launches.

    Attributes:
        observed: effect of the settings that matter.
        amplitude: prior variance of the effect, in multiples of that of a launch.
        log_weight: logarithm of its prior times its evidence.
        scale: scale of the noise variance.
    """

    observed: ObservedEffect
    amplitude: float
    log_weight: float
    scale: float

    def reduction(self) -> Array:
        """Return the reduction of the precision between values by the effect, values x values.

        With ``P`` the precision and ``M`` the launches of each value, the effect makes it
        ``P - P M reduction M.T P``.
        """
        import numpy as np

        root = self.observed.effect.root
        inner = self.amplitude * (root.T @ self.observed.between @ root)
        inner[np.diag_indices(len(inner))] += 1.0
        found: Array = self.amplitude * (root @ np.linalg.solve(inner, root.T))
        return 0.5 * (found + found.T)

    def held(self) -> tuple[Array, Array]:
        """Return the sums of the precision times values, and of the precision, between values.

        Both are those of the whole covariance, the effect included.
        """
        between, reduction = self.observed.between, self.reduction()
        pulls = self.observed.pulls
        return pulls - between @ (reduction @ pulls), between - between @ reduction @ between
