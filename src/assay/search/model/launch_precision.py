"""Precision of launches: the inverse covariance of noise, by configurations instead of launches.

Noise consists of a part of each launch, of its block, of its configuration, and of the level of all
values. All but the first are shared by many launches, so the inverse is a diagonal matrix less one
of low rank (the matrix inversion lemma; Rasmussen and Williams, 2006, eq. A.9). What a model of
settings needs of it are sums over the launches of each configuration. Its cost grows with launches
x blocks and not with the cube of the launches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
    Places = npt.NDArray[np.intp]

LEVEL_VARIANCE = 1e4
"""Variance of the overall level, in multiples of that of a launch: it is unknown."""


@dataclass(frozen=True)
class Launches:
    """Launches that the models are conditioned on.

    Attributes:
        rows: features, configurations x columns.
        which: row of each launch.
        block: block of each launch.
        values: logarithm of the objective of each launch.
    """

    rows: Array
    which: Places
    block: Places
    values: Array


@dataclass(frozen=True)
class LaunchPrecision:
    """Sums of the precision over the launches of configurations.

    The precision between two configurations is ``diag(alone) - shared.T @ shared``.

    Attributes:
        own: variance specific to a configuration, in multiples of that of a launch.
        alone: sums of the diagonal part, by configuration.
        shared: factor of the part of low rank, blocks x configurations.
        pulls: sums of the precision times the values, by configuration.
        quadratic: the values times the precision times the values.
        log_det: logarithm of the determinant of the covariance.
    """

    own: float
    alone: Array
    shared: Array
    pulls: Array
    quadratic: float
    log_det: float

    @classmethod
    def of(cls, launches: Launches, centred: Array, own: float, block: float) -> LaunchPrecision:
        """Return the sums for variances of a configuration and of a block.

        Args:
            launches: the launches.
            centred: their values about their median.
            own, block: variances of these parts, in multiples of that of a launch.
        """
        import numpy as np
        from scipy.linalg import cholesky, solve_triangular
        from scipy.sparse import csr_array

        rows = len(launches.rows)
        counts = np.bincount(launches.which, minlength=rows).astype(np.float64)
        kept = 1.0 / (1.0 + own * counts)
        blocks, numbers = np.unique(launches.block, return_inverse=True)
        numbers = np.asarray(numbers).reshape(-1)
        ones = np.ones(len(numbers))
        # Launches of each block and configuration, and all launches as a further block.
        table = csr_array((ones, (numbers, launches.which)), shape=(len(blocks), rows)).toarray()
        table *= np.sqrt(block)
        table = np.vstack([table, np.sqrt(LEVEL_VARIANCE) * counts])
        by_block = np.bincount(numbers, minlength=len(blocks)).astype(np.float64)
        inner = _inner(by_block, block) - (table * (own * kept)) @ table.T
        inner[np.diag_indices(len(inner))] += 1.0
        factor = cholesky(inner, lower=True)
        sums = np.bincount(launches.which, centred, minlength=rows)
        block_sums = np.bincount(numbers, centred, minlength=len(blocks))
        whole_sums = np.append(np.sqrt(block) * block_sums, np.sqrt(LEVEL_VARIANCE) * centred.sum())
        shared = solve_triangular(factor, table * kept, lower=True)
        pull = solve_triangular(factor, whole_sums - table @ (own * kept * sums), lower=True)
        quadratic = float(centred @ centred) - float(own * kept @ sums**2) - float(pull @ pull)
        log_det = 2.0 * float(np.log(np.diag(factor)).sum()) - float(np.log(kept).sum())
        return cls(
            own=own,
            alone=counts * kept,
            shared=shared,
            pulls=kept * sums - shared.T @ pull,
            quadratic=quadratic,
            log_det=log_det,
        )


def _inner(by_block: Array, block: float) -> Array:
    """Return the products of the indicators of blocks and of the level, scaled.

    Args:
        by_block: number of launches of each block.
        block: variance of a block.
    """
    import numpy as np

    found = np.diag(np.append(block * by_block, LEVEL_VARIANCE * by_block.sum()))
    found[-1, :-1] = found[:-1, -1] = np.sqrt(block * LEVEL_VARIANCE) * by_block
    return found
