"""Planned analysis: narrower for short studies, with a total error rate of 5 %."""

from __future__ import annotations

import math
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.stats.confidence_sequence import mean_sequence
from assay.stats.interval import UNBOUNDED
from assay.stats.paired import Observation, effect
from assay.stats.planned_analysis import PLANNED_SHARE, Analysis, min_planned_values, planned_mean
from cases import cases

sys.path.append(str(Path(__file__).parents[3]))
from benchmarks.verdicts import noise, tally

ALPHA = 0.05
STUDIES = 600


def ever_wrong(a: noise.Array, b: noise.Array, planned: int) -> bool:
    """Return whether a study with a planned analysis ever excludes equal arms."""
    arms = [[Observation(value) for value in np.exp(arm)] for arm in (a, b)]
    for n in range(6, len(a) + 1):
        analysis = Analysis.PLANNED if n == planned else Analysis.OTHER
        found = effect(arms[0][:n], arms[1][:n], alpha=ALPHA, analysis=analysis)
        if not found.lo <= 1.0 <= found.hi:
            return True
    return False


@pytest.mark.parametrize("planned", cases([6], slow=[12]))
@pytest.mark.parametrize("name", noise.NOISES)
def test_identical_arms_differ_in_at_most_five_per_cent(name: str, planned: int) -> None:
    rng = np.random.default_rng([planned, zlib.crc32(name.encode())])
    drawn = noise.stream(name, rng, STUDIES, 2 * (planned + 1))
    a, b = noise.dealt(drawn.launches, rng)
    wrong = sum(ever_wrong(x, y, planned) for x, y in zip(a, b, strict=True))
    assert wrong / STUDIES <= tally.limit(STUDIES)


def test_the_check_can_fail() -> None:
    """The interval of the planned analysis, taken at every interim analysis, does not pass."""
    rng = np.random.default_rng(1)
    a, b = noise.dealt(noise.gaussian(rng, STUDIES, 60), rng)
    wrong = sum(
        any(planned_mean(list(row[:n]), ALPHA).lo > 0.0 for n in range(6, 31)) for row in abs(b - a)
    )
    assert wrong / STUDIES > 2 * tally.limit(STUDIES)


@given(st.lists(st.floats(-1.0, 1.0), min_size=6, max_size=24))
def test_planned_interval_is_narrower_than_sequence(values: list[float]) -> None:
    one, every = planned_mean(values, ALPHA), mean_sequence(values, ALPHA)
    assert every == UNBOUNDED or (every.lo <= one.lo and one.hi <= every.hi)


def test_planned_interval_is_students_at_its_share() -> None:
    values = [1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 21.0, 30.0]
    found = planned_mean(values, 0.05)
    mean, sd = float(np.mean(values)), float(np.std(values, ddof=1))
    quantile = 2.516752  # of Student's t with 7 degrees of freedom at 0.98
    assert found.lo == pytest.approx(mean - quantile * sd / math.sqrt(8), rel=1e-5)
    assert PLANNED_SHARE == 0.8


def test_too_few_values_exclude_nothing() -> None:
    fewest = min_planned_values(ALPHA)
    assert planned_mean([0.1 * k + 1.0 for k in range(fewest - 1)], ALPHA) == UNBOUNDED
    assert planned_mean([0.1 * k + 1.0 for k in range(fewest)], ALPHA) != UNBOUNDED
    assert 2.0 ** (1 - fewest) <= PLANNED_SHARE * ALPHA < 2.0 ** (2 - fewest)


def test_values_without_a_spread_bound_nothing() -> None:
    assert planned_mean([1.0] * 10, ALPHA) == UNBOUNDED


def test_non_finite_values_are_rejected() -> None:
    with pytest.raises(ValueError, match="finite"):
        planned_mean([math.inf] * 8, ALPHA)


def test_censored_values_are_left_to_the_median() -> None:
    """Only its share counts: the planned interval is Student's, without censoring."""
    a = [Observation(1.0 + 0.01 * k) for k in range(20)]
    b = [Observation(2.0 + 0.01 * k, censored=k == 3) for k in range(20)]
    planned, every = (
        effect(a, b, analysis=analysis) for analysis in (Analysis.PLANNED, Analysis.ANY)
    )
    assert planned.method == "median"
    assert planned.lo <= every.lo
