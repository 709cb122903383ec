"""Batch means: dependence of successive values."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from assay.stats.batch_means import dependence_of

ERROR = 0.01
TIMES = 1000


def independent(kind: str, rng: np.random.Generator) -> list[float]:
    drawn = {
        "normal": lambda: rng.normal(10.0, 1.0, 300),
        "skewed": lambda: rng.exponential(1.0, 300),
        "outliers": lambda: np.where(rng.random(300) < 0.01, 4.0, 1.0) + rng.normal(0, 0.05, 300),
    }
    return [float(value) for value in drawn[kind]()]


@pytest.mark.parametrize("kind", ["normal", "skewed", "outliers"])
def test_independent_values_have_the_stated_error_rate(kind: str) -> None:
    rng = np.random.default_rng(20_261_128)
    found = [dependence_of(independent(kind, rng)) for _ in range(TIMES)]
    alarms = sum(one is not None and one.error <= ERROR for one in found)
    assert alarms <= stats.binom.ppf(0.999, TIMES, ERROR)


def test_ratio_is_that_of_an_autoregressive_process() -> None:
    """The variance of its mean is (1 + a) / (1 - a) times that of independent values."""
    rng, share, value, values = np.random.default_rng(7), 0.6, 0.0, []
    for noise in rng.normal(0.0, 1.0, 100_000):
        value = share * value + float(noise)
        values.append(value)
    parts = [dependence_of(values[at : at + 5000]) for at in range(0, len(values), 5000)]
    squared = [one.ratio**2 for one in parts if one is not None]
    assert np.mean(squared) == pytest.approx((1 + share) / (1 - share), rel=0.25)
    assert all(one is not None and one.batches == 20 for one in parts)


@pytest.mark.parametrize("scale", [1e-200, -1e-99, 1e99, 1e200, 5e-324])
def test_scale_of_the_values_does_not_matter(scale: float) -> None:
    values = [1.0, 2.0] * 30 + [2.0, 4.0] * 30
    one, other = dependence_of(values), dependence_of([scale * value for value in values])
    assert one is not None and other is not None
    assert other.ratio == pytest.approx(one.ratio)


def test_alternating_values_have_a_small_ratio() -> None:
    found = dependence_of([1.0, 2.0] * 100)
    assert found is not None
    assert found.ratio < 0.1
    assert found.error > 0.99


@pytest.mark.parametrize("values", [[], [1.0] * 99, [1.0] * 400, [0.007] * 320, list(range(99))])
def test_too_few_or_equal_values_give_no_answer(values: list[float]) -> None:
    assert dependence_of(values) is None
