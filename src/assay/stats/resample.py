"""Resampling of studies from one recording, in contiguous runs.

The moving block bootstrap (Kuensch 1989, Annals of Statistics 17:1217): runs of neighbours are
drawn whole, so that the resampled studies keep drift and correlation up to the length of a run. The
arms are assigned again, in the order that a study uses (see :mod:`assay.stats.block_order`).

The result depends on the seed alone, on any version of Python and NumPy: a verdict document can be
recomputed.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.stats.block_order import BLOCKS_PER_GROUP, swapped_blocks

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Matrix = npt.NDArray[np.float64]
    Integers = npt.NDArray[np.int64]

BYTES_PER_NUMBER = 4
"""Bytes of one drawn number."""


def run_length(blocks: int) -> int:
    """Return the number of blocks drawn together, for a number of recorded blocks.

    The square root: longer than the cube root that is best for the error of a mean (Hall, Horowitz
    and Jing 1995, Biometrika 82:561), since the aim is to reproduce the drift of a machine.
    """
    return max(1, round(math.sqrt(blocks)))


def resample(
    recording: Sequence[tuple[float, float]], studies: int, blocks: int, seed: int
) -> tuple[Matrix, Matrix]:
    """Return studies of two arms, resampled from a recording of one arm.

    Args:
        recording: two values for each block, in the order in which they were measured.
        studies: number of studies.
        blocks: number of blocks of each study.
        seed: seed of the random draws.

    Returns:
        Values of both arms, studies x blocks.

    Raises:
        ValueError: the recording is empty.
    """
    import numpy as np

    if not recording:
        raise ValueError("the recording is empty")
    recorded = np.asarray(recording, dtype=np.float64)
    length = run_length(len(recorded))
    runs = math.ceil(blocks / length)
    draw = random.Random(seed)
    starts = _drawn(draw, studies, runs)[..., np.newaxis] % (len(recorded) - length + 1)
    places = (starts + np.arange(length)).reshape(studies, runs * length)[:, :blocks]
    swap = swapped_blocks(_drawn(draw, studies, math.ceil(blocks / BLOCKS_PER_GROUP)), blocks)
    first, second = recorded[places, 0], recorded[places, 1]
    return np.where(swap, second, first), np.where(swap, first, second)


def _drawn(draw: random.Random, studies: int, numbers: int) -> Integers:
    """Return random integers below 2^32, studies x numbers."""
    import numpy as np

    drawn = np.frombuffer(draw.randbytes(BYTES_PER_NUMBER * studies * numbers), dtype="<u4")
    return drawn.astype(np.int64).reshape(studies, numbers)
