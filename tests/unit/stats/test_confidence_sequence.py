"""Confidence sequences: the formula against its definition, and exact error rates."""

import itertools
import math

import numpy as np
import pytest

from assay.stats.confidence_sequence import (
    MIN_CLAIM_VALUES,
    critical,
    half_width,
    level,
    mean_sequence,
    min_values,
    moments,
)
from assay.stats.interval import UNBOUNDED, Interval


def marginal_ratio(y: np.ndarray, g: float) -> float:
    """E_n by its definition: both marginal likelihoods integrated on a grid over log s."""
    n = len(y)
    covariance = np.eye(n) + g * np.ones((n, n))
    s = np.exp(np.linspace(-12.0, 12.0, 20001))

    def marginal(quadratic: float, determinant: float) -> float:
        return float(np.sum(s**-n * np.exp(-quadratic / (2 * s * s)))) / math.sqrt(determinant)

    inverse = np.linalg.inv(covariance)
    return marginal(y @ inverse @ y, np.linalg.det(covariance)) / marginal(y @ y, 1.0)


@pytest.mark.parametrize("g", [0.5, 1.0, 4.0])
@pytest.mark.parametrize(("n", "at"), [(4, 0.4), (6, 0.0865), (11, 0.01)])
def test_critical_is_where_the_ratio_of_marginal_likelihoods_reaches_its_limit(
    n: int, at: float, g: float
) -> None:
    t = critical(n, at, g)
    y = np.random.default_rng(n).standard_normal(n)
    y = (y - y.mean()) / y.std(ddof=1) + t / math.sqrt(n)
    assert marginal_ratio(y, g) == pytest.approx(1.0 / at, rel=1e-6)


@pytest.mark.parametrize("n", [6, 7, 12, 100, 2000])
@pytest.mark.parametrize("at", [0.09, 0.01])
def test_critical_is_where_the_formula_of_the_module_reaches_its_limit(n: int, at: float) -> None:
    k, r = 1.0 + 4.0 * n, critical(n, at, 4.0) ** 2 / (n - 1)
    log_e = -0.5 * math.log(k) + 0.5 * n * (math.log1p(r) - math.log1p(r / k))
    assert log_e == pytest.approx(-math.log(at))


def test_the_formula_has_mean_one_under_no_effect() -> None:
    """So it is an e-value; ``critical`` is its inverse, by the tests above."""
    y = np.random.default_rng(3).standard_normal((200_000, 6))
    t = np.abs(y.mean(axis=1) * math.sqrt(6) / y.std(axis=1, ddof=1))
    # The mean of E is the integral of P(E >= 1 / at) / at^2 over at; E is never below 1/5 here.
    levels = np.geomspace(1e-4, 5.0, 400)
    shares = np.array([float(np.mean(t >= critical(6, float(at)))) for at in levels])
    mean = 1 / 5 + float(np.trapezoid(shares / levels**2, levels))
    assert mean == pytest.approx(1.0, abs=0.05)


def test_no_bound_while_even_infinite_t_is_too_little_evidence() -> None:
    assert critical(1, 0.5) == math.inf
    assert critical(2, 0.05) == math.inf
    assert critical(3, 0.05) == math.inf
    assert math.isfinite(critical(4, 0.05))


def test_min_values_bounds_one_sided_chance() -> None:
    assert [min_values(a) for a in (0.2, 0.05, 0.025, 0.01)] == [4, 6, 7, 9]
    for alpha in (0.3, 0.05, 0.001):
        assert 2.0 ** (1 - min_values(alpha)) <= 0.63 * alpha


def test_level_rises_with_alpha_and_never_falls_below_it() -> None:
    alphas = np.geomspace(1e-6, 0.9, 400)
    levels = [level(float(a)) for a in alphas]
    assert all(x <= y for x, y in itertools.pairwise(levels))
    assert all(at >= a for at, a in zip(levels, alphas, strict=True))
    assert level(0.05) == pytest.approx(0.0865)
    assert level(0.05, start=5) == 0.05


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.1, math.nan])
def test_alpha_out_of_range_is_rejected(alpha: float) -> None:
    for call in (min_values, level):
        with pytest.raises(ValueError, match="alpha"):
            call(alpha)


def test_known_interval() -> None:
    values = [1.0, 2.0, 4.0, 3.0, 5.0, 6.0, 9.0]
    mean, sd = moments(values)
    half = critical(7, level(0.05)) * sd / math.sqrt(7)
    assert mean_sequence(values) == Interval(mean - half, mean + half)
    assert critical(7, level(0.05)) == pytest.approx(3.904, abs=0.001)


def test_too_few_values_bound_nothing() -> None:
    assert mean_sequence([]) is UNBOUNDED
    assert mean_sequence([1.0, 1.1, 0.9, 1.0, 1.05]) == UNBOUNDED
    assert mean_sequence([1.0, 1.1, 0.9, 1.0, 1.05, 0.97]).bounded
    assert not mean_sequence([1.0, 1.1, 0.9, 1.0, 1.05, 0.97], alpha=0.01).bounded
    assert mean_sequence([1.0, 1.1, 0.9, 1.0, 1.05], start=2).bounded


def test_constant_values_are_unbounded_without_resolution() -> None:
    """Equal ticks of a coarse clock do not prove a spread of zero."""
    assert mean_sequence([0.1] * 50) == UNBOUNDED
    assert mean_sequence([math.log(1.1 * x / x) for x in (3.3, 1.7, 9.1, 4.4, 2.2, 7.7)]) == (
        UNBOUNDED
    )
    found = mean_sequence([0.1] * 50, resolution=0.01)
    assert found.lo == pytest.approx(0.09)
    assert found.hi == pytest.approx(0.11)
    assert half_width(6, 0.0, 0.01 / 30, resolution=0.01, start=2) == pytest.approx(
        critical(6, 0.01 / 30) * 0.01 / math.sqrt(6) / math.sqrt(6)
    )


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_values_that_are_not_finite_are_rejected(bad: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        mean_sequence([1.0, bad])


def test_two_tight_levels_reach_to_their_middle() -> None:
    """Nine of ten on one side may be chance; the plain t interval would exclude the middle."""
    values = [1.0] * 9 + [-1.0]
    mean, sd = moments(values)
    assert mean - half_width(10, sd, 0.05) > 0.0
    assert 0.0 in mean_sequence(values)
    assert 0.0 not in mean_sequence([1.0] * 29 + [-1.0])


@pytest.mark.parametrize("alpha", [0.2, 0.05, 0.025, 0.01])
def test_two_level_values_are_excluded_with_at_most_alpha(alpha: float) -> None:
    """Exact: all paths of signs, every interim analysis up to 200 (levels with hardly any
    noise)."""
    alive, total = np.ones(1), 0.0
    for n in range(1, 201):
        alive = 0.5 * (np.append(alive, 0.0) + np.append(0.0, alive))
        for k in range(n // 2 + 1):
            if n < MIN_CLAIM_VALUES or alive[k] == 0.0:
                continue
            values = [1.0 + 1e-9 * i for i in range(n - k)] + [-1.0 - 1e-9 * i for i in range(k)]
            if 0.0 not in mean_sequence(values, alpha):
                total += alive[k] + (alive[n - k] if 2 * k < n else 0.0)
                alive[k] = alive[n - k] = 0.0
    assert 0.2 * alpha < total <= alpha


def test_levels_of_thousands_of_values() -> None:
    """2^n overflows a float from 1024 values on."""
    for n in (1023, 1024, 3000):
        even = mean_sequence([1.0, -1.0] * (n // 2))
        assert 0.0 in even
        assert 0.0 not in mean_sequence([1.0] * (n - 100) + [-1.0] * 100)


def test_reversed_interval_is_rejected() -> None:
    with pytest.raises(ValueError, match="lo must be at most hi"):
        Interval(2.0, 1.0)
    assert Interval(0.0, math.inf).width == math.inf
    assert not Interval(0.0, math.inf).bounded
