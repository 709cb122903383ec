"""Effect of B against A where each was measured on separate occasions."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from assay.stats.occasions import (
    OccasionMean,
    between_occasions,
    launch_interval,
    occasion_interval,
    occasion_mean,
    published_mean,
)

STUDIES = 2000
Numbers = npt.NDArray[np.float64]
Scatter = Callable[[np.random.Generator, tuple[int, ...]], Numbers]


def normal(rng: np.random.Generator, shape: tuple[int, ...]) -> Numbers:
    return rng.standard_normal(shape)


def heavy(rng: np.random.Generator, shape: tuple[int, ...]) -> Numbers:
    return np.asarray(rng.standard_t(3, shape) / math.sqrt(3))


def skewed(rng: np.random.Generator, shape: tuple[int, ...]) -> Numbers:
    return rng.exponential(1.0, shape) - 1.0


def uniform(rng: np.random.Generator, shape: tuple[int, ...]) -> Numbers:
    return math.sqrt(3) * rng.uniform(-1, 1, shape)


def test_welch_agrees_with_scipy_on_logarithms() -> None:
    rng = np.random.default_rng(1)
    a = [float(v) for v in rng.lognormal(0.0, 0.05, 30)]
    b = [float(v) for v in rng.lognormal(0.1, 0.20, 12)]
    found, df = launch_interval(occasion_mean(a), occasion_mean(b), 0.05)
    test = stats.ttest_ind(np.log(b), np.log(a), equal_var=False)
    centre = float(np.mean(np.log(b)) - np.mean(np.log(a)))
    half = float(stats.t.ppf(0.975, df)) * centre / float(test.statistic)
    assert (found.lo, found.hi) == pytest.approx((centre - half, centre + half), rel=1e-9)
    p = 2 * float(stats.t.sf(abs(float(test.statistic)), df))
    assert p == pytest.approx(float(test.pvalue), rel=1e-9)


def test_a_published_summary_agrees_with_the_launches_it_is_of() -> None:
    """The delta method agrees to a thousandth of the width for launches that vary by 2 %."""
    rng = np.random.default_rng(2)
    a, b = (rng.normal(mean, 0.02 * mean, 30) for mean in (300.0, 250.0))
    exact, _ = launch_interval(occasion_mean(a.tolist()), occasion_mean(b.tolist()), 0.05)
    left, right = (
        published_mean(float(v.mean()), float(v.std(ddof=1)) / math.sqrt(30), 29) for v in (a, b)
    )
    found, _ = launch_interval(left, right, 0.05)
    assert found.lo == pytest.approx(exact.lo, abs=0.02 * exact.width)
    assert found.hi == pytest.approx(exact.hi, abs=0.02 * exact.width)


def test_mean_of_one_value_is_rejected() -> None:
    with pytest.raises(ValueError, match="two values"):
        occasion_mean([1.0])


def test_the_variance_between_occasions_is_pooled_within_conditions() -> None:
    one = [OccasionMean(m, 1e-6, 29) for m in (0.00, 0.02, 0.04)]
    other = [OccasionMean(m, 3e-6, 29) for m in (5.00, 5.02)]
    alone = [OccasionMean(9.0, 1.0, 29)]
    found = between_occasions([one, other, alone])
    assert found is not None
    assert found.df == 3
    assert found.variance == pytest.approx((2 * 0.02**2 + 0.02**2 / 2) / 3)
    assert found.launches == pytest.approx((3 * 1e-6 + 2 * 3e-6) / 5)
    assert between_occasions([alone, alone]) is None


def test_the_interval_of_occasions_is_students() -> None:
    """Equal occasions: sqrt(2) S times the quantile with the degrees of freedom of S.

    Of alpha three tenths: 1 - 0.3 * 0.05 / 2 is 0.9925.
    """
    between = between_occasions([[OccasionMean(m, 1e-6, 29) for m in (0, 1, 2, 3, 4)]])
    assert between is not None
    a, b = OccasionMean(1.0, 1e-6, 29), OccasionMean(2.0, 1e-6, 29)
    found, df = occasion_interval(a, b, (between, between), 0.05)
    half = stats.t.ppf(0.9925, 4) * math.sqrt(2 * np.var([0, 1, 2, 3, 4], ddof=1))
    assert df == 4
    assert (found.lo, found.hi) == pytest.approx((1.0 - half, 1.0 + half))


def test_fewer_launches_than_the_occasions_had_widen_the_interval() -> None:
    between = between_occasions([[OccasionMean(m, 1e-4, 29) for m in (0, 0.1, 0.2, 0.3, 0.4)]])
    assert between is not None
    usual, few, many = (OccasionMean(0.0, v, 9) for v in (1e-4, 1e-2, 1e-6))
    widths = [occasion_interval(usual, b, (between, between), 0.05)[0].width for b in (usual, few)]
    assert widths[1] > widths[0]
    assert occasion_interval(usual, many, (between, between), 0.05)[0].width == widths[0]


def misses(
    scatter: Scatter, occasions: int, between_sd: float, launches: tuple[int, int], seed: int
) -> float:
    """Return the share of intervals that miss the true value 0."""
    rng = np.random.default_rng(seed)
    missed = 0
    for _ in range(STUDIES):
        means = between_sd * scatter(rng, (occasions + 2,))
        drawn = []
        for at, mean in enumerate(means):
            n = launches[0] if at < 2 else launches[1]
            seen = mean + 0.03 * rng.standard_normal() / math.sqrt(n)
            variance = 0.03**2 * rng.chisquare(n - 1) / (n - 1) / n
            drawn.append(OccasionMean(float(seen), float(variance), n - 1))
        between = between_occasions([drawn[2:]])
        assert between is not None
        found, _ = occasion_interval(drawn[0], drawn[1], (between, between), 0.05)
        missed += 0.0 not in found
    return missed / STUDIES


@pytest.mark.parametrize(
    ("scatter", "launches", "between_sd"),
    [
        (normal, (30, 30), 0.0),
        (normal, (10, 100), 0.01),
        (normal, (100, 10), 0.01),
        (normal, (30, 30), 0.1),
        (uniform, (30, 30), 0.1),
        (heavy, (30, 30), 0.1),
        (skewed, (30, 30), 0.1),
    ],
)
def test_identical_conditions_differ_in_at_most_five_per_cent(
    scatter: Scatter, launches: tuple[int, int], between_sd: float
) -> None:
    slack = 2 * math.sqrt(0.05 * 0.95 / STUDIES)
    assert misses(scatter, 5, between_sd, launches, 1) <= 0.05 + slack


def test_welch_alone_errs_where_occasions_differ() -> None:
    """The reason for the verdict *unproven*: launches alone find a difference most of the time."""
    rng = np.random.default_rng(3)
    found = 0
    for _ in range(400):
        a, b = (
            occasion_mean([float(v) for v in np.exp(shift + rng.normal(0.0, 0.03, 30))])
            for shift in rng.normal(0.0, 0.02, 2)
        )
        found += 0.0 not in launch_interval(a, b, 0.05)[0]
    assert found / 400 > 0.3
