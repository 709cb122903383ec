"""Shares of launches: error rates at every interim analysis."""

from __future__ import annotations

import math
import random

import pytest
from scipy.integrate import quad

from assay.stats.share import (
    evidence_above,
    launches_to_show,
    share_interval,
    shows_above,
    shows_below,
)


@pytest.mark.parametrize(("done", "launches", "share"), [(0, 5, 0.5), (7, 9, 0.5), (30, 40, 0.9)])
def test_evidence_equals_mixture_integral(done: int, launches: int, share: float) -> None:
    def likelihood(x: float) -> float:
        return float((x / share) ** done * ((1 - x) / (1 - share)) ** (launches - done))

    mixed = quad(likelihood, share, 1.0)[0] / (1.0 - share)
    assert evidence_above(done, launches, share) == pytest.approx(math.log(mixed / 2.0))


def test_all_launches_count_half_for_always() -> None:
    assert evidence_above(8, 8, 0.5) > math.log(0.5 * 2**8)
    assert shows_above(8, 8, 0.5, 0.0125)
    assert not shows_above(7, 7, 0.5, 0.0125)
    assert not shows_above(8, 9, 0.5, 0.0125)


@pytest.mark.parametrize(("share", "alpha"), [(0.5, 0.0125), (0.9, 0.05), (0.99, 0.025)])
def test_launches_to_show_is_minimal(share: float, alpha: float) -> None:
    count = launches_to_show(share, alpha)
    assert shows_above(count, count, share, alpha)
    assert not shows_above(count - 1, count - 1, share, alpha)


def test_both_sides_are_symmetric() -> None:
    assert shows_below(0, 8, 0.5, 0.0125)
    assert not shows_below(1, 9, 0.5, 0.0125)
    assert shows_below(5, 10, 0.99, 0.05)


def test_interval_contains_values_that_are_not_excluded() -> None:
    found = share_interval(20, 22, 24, 0.05)
    assert 0.4 < found.lo < 20 / 24
    assert 22 / 24 < found.hi < 1.0
    assert shows_above(20, 24, found.lo - 1e-6, 0.05)
    assert not shows_above(20, 24, found.lo + 1e-6, 0.05)
    assert share_interval(0, 0, 0, 0.05).lo == 0.0
    assert share_interval(0, 0, 0, 0.05).hi == 1.0


def test_no_underflow_far_from_the_bound() -> None:
    assert evidence_above(1, 20_000, 0.99) < -1000.0
    assert evidence_above(19_990, 20_000, 0.5) > 1000.0


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_false_verdicts_at_every_interim_analysis(share: float) -> None:
    """The true share is the very one that is to be exceeded: the worst that can be."""
    alpha, studies, most = 0.1, 1500, 80
    above = {n: [shows_above(k, n, share, alpha) for k in range(n + 1)] for n in range(1, most + 1)}
    below = {n: [shows_below(k, n, share, alpha) for k in range(n + 1)] for n in range(1, most + 1)}
    rng = random.Random(1)
    over = under = 0
    for _ in range(studies):
        done, told = 0, [False, False]
        for n in range(1, most + 1):
            done += rng.random() < share
            told = [told[0] or above[n][done], told[1] or below[n][done]]
        over += told[0]
        under += told[1]
    limit = alpha + 2.0 * math.sqrt(alpha * (1 - alpha) / studies)
    assert over / studies <= limit
    assert under / studies <= limit
    assert over > 0, "a rule that never speaks proves nothing"


def test_out_of_range_arguments_are_rejected() -> None:
    with pytest.raises(ValueError, match="invalid share"):
        evidence_above(3, 2, 0.5)
    with pytest.raises(ValueError, match="invalid share"):
        evidence_above(1, 2, 1.0)
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        shows_above(1, 2, 0.5, 0.0)
