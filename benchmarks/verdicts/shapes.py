"""Arms of equal mean and unequal shape, whose estimated quantity is equal."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from assay.records import Claim
from assay.records.workload import WALL
from assay.search.claims.claims import claim_from_blocks
from assay.stats.paired import Observation
from assay.stats.peeking import simulate_studies
from assay.stats.verdict import DEFAULT_MARGIN

from .identical import generator
from .noise import SPREAD, Array
from .tally import ALPHA, Share

FLAGGED_BLOCKS = 40
"""Number of blocks after which a difference of shape should be found."""

Arm = Callable[[np.random.Generator, int, int], Array]
Arms = tuple[Arm, Arm]


def _gaussian(sd: float) -> Arm:
    return lambda rng, studies, blocks: sd * rng.standard_normal((studies, blocks))


def _rare(share: float) -> Arm:
    """Return a noise with a mode that is 20 % slower; the mean of the logarithm is 0."""

    def arm(rng: np.random.Generator, studies: int, blocks: int) -> Array:
        slow = rng.random((studies, blocks)) < share
        return _gaussian(0.5 * SPREAD)(rng, studies, blocks) + 0.2 * (slow - share)

    return arm


def _skewed(rng: np.random.Generator, studies: int, blocks: int) -> Array:
    """Return exponential noise with the mean and the deviation of the Gaussian arm."""
    return SPREAD * (rng.exponential(1.0, (studies, blocks)) - 1.0)


SHAPES: dict[str, Arms] = {
    "Gaussian; a mode 20 % slower in 1/20": (_gaussian(SPREAD), _rare(0.05)),
    "Gaussian; a mode 20 % slower in 1/5": (_gaussian(SPREAD), _rare(0.2)),
    "Gaussian; a mode 20 % slower in 1/2": (_gaussian(SPREAD), _rare(0.5)),
    "Gaussian 1 %; Gaussian 3 %": (_gaussian(SPREAD), _gaussian(3 * SPREAD)),
    "Gaussian; exponential of the same spread": (_gaussian(SPREAD), _skewed),
}


@dataclass(frozen=True)
class Shape:
    """Results for arms of equal means and unequal shapes.

    Attributes:
        name: shapes of both arms.
        differs: studies with *faster* or *slower* first.
        flagged: share of those that are *unstable* at that analysis.
        flagged_later: share of those that are *unstable* after ``FLAGGED_BLOCKS`` blocks.
        flagged_all: share of all studies that are *unstable* after ``FLAGGED_BLOCKS`` blocks.
        blocks: median number of blocks at *faster* or *slower*.
    """

    name: str
    differs: Share
    flagged: Share
    flagged_later: Share
    flagged_all: Share
    blocks: float


def shape(name: str, studies: int, blocks: int, seed: int) -> Shape:
    """Return the results for one pair of shapes."""
    rng = generator(seed, name)
    a, b = (arm(rng, studies, blocks) for arm in SHAPES[name])
    endings = simulate_studies(a, b, coverage=False)
    differing = [i for i, ending in enumerate(endings) if ending.differs]
    at = [endings[i].blocks for i in differing]
    later = [_claim(a[i], b[i], FLAGGED_BLOCKS).unstable for i in range(studies)]
    return Shape(
        name,
        Share(len(differing), studies),
        Share(
            sum(_claim(a[i], b[i], n).unstable for i, n in zip(differing, at, strict=True)),
            len(differing),
        ),
        Share(sum(later[i] for i in differing), len(differing)),
        Share(sum(later), studies),
        float(np.median(at)) if at else math.nan,
    )


def _claim(a: Array, b: Array, blocks: int) -> Claim:
    """Return the verdict of a study after a number of blocks."""
    left, right = ([Observation(math.exp(v)) for v in arm[:blocks].tolist()] for arm in (a, b))
    found = claim_from_blocks(("A", "B"), left, right, WALL, alpha=ALPHA, margin=DEFAULT_MARGIN)
    assert found is not None
    return found
