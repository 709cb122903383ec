"""Kernels of the surrogate: prior covariances of configurations from their encoded columns.

Squared distances come from one product of matrices instead of an array of configurations x
configurations x columns: of 1,000 configurations with 200 columns the array takes 1.6 GB.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

ROOT5 = math.sqrt(5.0)


def squared_distances(a: Array, b: Array, lengths: Array) -> Array:
    """Return squared distances of rows, with each column divided by its length scale.

    Args:
        a, b: configurations x columns, each from 0 to 1.
        lengths: length scale of each column.
    """
    import numpy as np

    # About the middle of the cube, so that the difference of large numbers loses few digits.
    a, b = (a - 0.5) / lengths, (b - 0.5) / lengths
    found = a @ b.T
    found *= -2.0
    found += np.einsum("ij,ij->i", a, a)[:, None]
    found += np.einsum("ij,ij->i", b, b)[None, :]
    return np.maximum(found, 0.0, out=found)


def matern(squares: Array, amplitude: float) -> Array:
    """Return Matern 5/2 of squared scaled distances (Rasmussen and Williams, 2006, eq. 4.17)."""
    distance, decay = _scaled_decay(squares, amplitude)
    return _with_polynomial(distance, squares, decay)


def matern_with_slope(squares: Array, amplitude: float) -> tuple[Array, Array]:
    """Return Matern 5/2 of squared scaled distances, and its derivative in them."""
    distance, decay = _scaled_decay(squares, amplitude)
    slope = distance * decay
    slope *= -(5.0 / 6.0)
    return _with_polynomial(distance, squares, decay), slope


def _scaled_decay(squares: Array, amplitude: float) -> tuple[Array, Array]:
    """Return 1 plus the distances times the root of 5, and their scaled exponential.

    Arrays of 1,000 x 1,000 configurations take 8 MB, so that each is computed in place.
    """
    import numpy as np

    distance = np.maximum(squares, 1e-12)
    np.sqrt(distance, out=distance)
    distance *= ROOT5
    decay = np.negative(distance)
    np.exp(decay, out=decay)
    decay *= amplitude
    distance += 1.0
    return distance, decay


def _with_polynomial(distance: Array, squares: Array, decay: Array) -> Array:
    """Return the kernel, in the memory of ``distance``."""
    distance += (5.0 / 3.0) * squares
    distance *= decay
    return distance


def length_gradient(rows: Array, pulls: Array, lengths: Array) -> Array:
    """Return the derivatives of a sum over a kernel by the logarithms of the length scales.

    The sum of ``pulls[i, j] * (rows[i, k] - rows[j, k])**2`` is expanded, so that it takes a
    product of matrices for all columns together.

    Args:
        rows: configurations x columns.
        pulls: symmetric derivatives of the sum by the squared scaled distances.
        lengths: length scale of each column.
    """
    import numpy as np

    centred = rows - 0.5
    own = pulls.sum(axis=1) @ centred**2
    across = np.einsum("ij,ij->j", centred, pulls @ centred)
    return np.asarray((own - across) * (-4.0 / lengths**2))


def inner_products(a: Array, b: Array) -> Array:
    """Return inner products about the middle of the cube, scaled to 1 at a corner with itself."""
    found: Array = (a - 0.5) @ (b - 0.5).T
    found *= 4.0 / max(a.shape[1], 1)
    return found


def squared_norms(rows: Array) -> Array:
    """Return the inner product of each row with itself."""
    found: Array = ((rows - 0.5) ** 2).sum(axis=1) * (4.0 / max(rows.shape[1], 1))
    return found
