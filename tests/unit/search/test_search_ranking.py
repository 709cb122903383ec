from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest

from assay.search.ranking import due, leader, scores, settled, worse
from assay.stats import eliminate


def matrix(seed: int, blocks: int, arms: int, missing: float) -> np.ndarray:
    """A drifting session; arm 0 ran in every block, so that all are linked."""
    rng = random.Random(seed)
    effects = [rng.gauss(0, 0.1) for _ in range(arms)]
    return np.array(
        [
            [
                math.nan
                if arm and rng.random() < missing
                else 0.05 * block + effects[arm] + rng.gauss(0, 0.02)
                for arm in range(arms)
            ]
            for block in range(blocks)
        ]
    )


@pytest.mark.parametrize("missing", [0.0, 0.3, 0.8])
@pytest.mark.parametrize("shape", [(1, 3), (4, 2), (6, 9), (40, 12)])
def test_the_same_standing_as_the_full_fit(shape: tuple[int, int], missing: float) -> None:
    values = matrix(3, *shape, missing)
    expected = eliminate.scores(values)
    assert scores(values) == pytest.approx(expected, abs=1e-7, nan_ok=True)
    assert leader(values) == eliminate.leader(values)
    assert sorted(worse(values)) == eliminate.worse(values)


def test_nothing_ran() -> None:
    assert all(math.isnan(v) for v in scores(np.full((2, 3), math.nan)))
    assert leader(np.full((2, 3), math.nan)) is None
    assert leader(np.full((0, 3), math.nan)) is None
    assert worse(np.full((0, 3), math.nan)) == set()
    assert not settled(np.full((0, 3), math.nan), 0.01)


def test_of_equals_the_first_leads_however_many_there_are() -> None:
    assert leader(np.zeros((3, 400))) == 0
    assert leader(np.full((3, 400), math.log(0.5))) == 0


def test_a_race_is_settled_when_nobody_can_be_better() -> None:
    rng = np.random.default_rng(1)
    apart = np.stack([rng.normal(0.0, 0.01, 30), rng.normal(0.2, 0.01, 30)], axis=1)
    assert settled(apart, 0.01)
    alike = np.stack([rng.normal(0.0, 0.1, 6), rng.normal(0.0, 0.1, 6)], axis=1)
    assert not settled(alike, 0.01)


def test_looks_come_often_at_first_and_never_stop() -> None:
    assert all(due(n) for n in range(80))
    looks = [n for n in range(10_000) if due(n)]
    assert len(looks) < 500
    gaps = [b / a for a, b in itertools.pairwise(looks[80:])]
    assert max(gaps) < 1.05
