"""Summaries, quantiles, shifts."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest

from assay.stats.quantile import quantile, quantile_of_sorted
from assay.stats.shift import shifts, spread_ratio
from assay.stats.summary import summarise

TALK = list(csv.DictReader((Path(__file__).parent / "mos_runs.csv").open()))

MISPRINTED = {("2.17", "0.39"): 2.12}
"""Printed sd that does not fit the printed sem of the same row; the other slide prints this."""


def sample(n: int, mean: float, population_sd: float) -> list[float]:
    """n values with exactly this mean and population standard deviation."""
    raw = np.random.default_rng(n).standard_normal(n)
    raw = (raw - raw.mean()) / raw.std()
    return [float(v) for v in mean + population_sd * raw]


def population_sd(values: list[float]) -> float:
    """Return the standard deviation with divisor n, as in the tables of the talk."""
    return float(np.std(values))


@pytest.mark.parametrize("row", TALK, ids=lambda row: f"{row['workload']}-{row['setting']}")
def test_tables_of_the_talk_are_reproduced(row: dict[str, str]) -> None:
    n, sem = int(row["n"]), row["sem"]
    sd = MISPRINTED.get((row["sd"], sem), float(row["sd"]))
    values = sample(n, float(row["mean"]), sd)
    digits = len(row["sd"].partition(".")[2])
    found = summarise(values)
    assert round(population_sd(values), digits) == pytest.approx(sd)
    slack = 0.5 * 10.0 ** -len(sem.partition(".")[2])  # both figures are rounded
    slack += 0.5 * 10.0**-digits / math.sqrt(n - 1)
    assert found.sem == pytest.approx(float(sem), abs=slack * (1 + 1e-9))


def test_the_printed_sem_needs_the_divisor_n_minus_one() -> None:
    """0.418 of 15 values: 0.112 is printed; sd / sqrt(n) would be 0.108."""
    values = sample(15, 27.989, 0.418)
    assert round(summarise(values).sem or 0.0, 3) == 0.112
    assert round(population_sd(values) / math.sqrt(15), 3) == 0.108


def test_summary_agrees_with_numpy() -> None:
    values = [float(v) for v in np.random.default_rng(1).lognormal(size=41)]
    found = summarise(values)
    assert [found.min, found.q1, found.median, found.q3, found.max] == pytest.approx(
        list(np.quantile(values, [0, 0.25, 0.5, 0.75, 1]))
    )
    assert found.mean == pytest.approx(np.mean(values))
    assert found.sd == pytest.approx(np.std(values, ddof=1))
    assert found.sem == pytest.approx(np.std(values, ddof=1) / math.sqrt(41))
    assert found.ci is not None
    assert found.ci[0] < found.mean < found.ci[1]


def test_five_number_summary() -> None:
    found = summarise([4.0, 1.0, 2.0, 3.0])
    assert (found.min, found.q1, found.median, found.q3, found.max) == (1.0, 1.75, 2.5, 3.25, 4.0)
    assert found.sd == pytest.approx(1.2909944487)
    assert found.sem == pytest.approx(1.2909944487 / 2)


def test_the_interval_of_a_duration_is_cut_off_at_zero() -> None:
    values = [0.12, 0.16, 0.14, 0.63]
    signed, positive = summarise(values), summarise(values, floor=0.0)
    assert signed.ci is not None
    assert signed.ci[0] < 0.0
    assert positive.ci == (0.0, signed.ci[1])
    assert positive.mean == signed.mean
    narrow = [10.0 + 0.01 * i for i in range(12)]
    assert summarise(narrow, floor=0.0).ci == summarise(narrow).ci
    with pytest.raises(ValueError, match="below the lower bound"):
        summarise([-1.0, 1.0], floor=0.0)


def test_cutting_off_an_interval_keeps_its_coverage() -> None:
    """Means of exponential times are above 0, so nothing true is cut off."""
    random = np.random.default_rng(3)
    for _ in range(300):
        values = [float(v) for v in random.exponential(size=5)]
        whole, cut = summarise(values).ci, summarise(values, floor=0.0).ci
        assert whole is not None
        assert cut is not None
        assert (whole[0] <= 1.0 <= whole[1]) == (cut[0] <= 1.0 <= cut[1])


def test_missing_resolution_is_not_zero() -> None:
    one = summarise([3.0])
    assert (one.n, one.sd, one.sem, one.ci) == (1, None, None, None)
    assert summarise([3.0, 3.1]).ci is None
    assert summarise([3.0] * 10).ci == (2.0, 4.0)
    assert summarise([3.0] * 10).sd == 0.0
    assert summarise([3.0] * 10, resolution=0.1).ci is not None
    for bad in ([], [math.nan], [math.inf]):
        with pytest.raises(ValueError, match="at least one value"):
            summarise(bad)


def test_quantiles_with_censored_values() -> None:
    assert quantile([1.0, 2.0, 3.0, math.inf], 0.5) == 2.5
    assert quantile([1.0, 2.0, 3.0, math.inf], 0.9) == math.inf
    assert quantile([1.0, math.inf, math.inf], 1.0) == math.inf
    for values, p in (([], 0.5), ([math.nan], 0.5), ([1.0], 1.5)):
        with pytest.raises(ValueError):
            quantile(values, p)


def test_quantile_of_sorted_equals_quantile() -> None:
    assert quantile_of_sorted([3.0], 0.5) == 3.0
    assert quantile_of_sorted([1.0, 2.0, 4.0, 8.0], 0.5) == 3.0
    assert quantile([8.0, 1.0, 4.0, 2.0], 0.5) == 3.0
    assert quantile_of_sorted([-math.inf, math.inf], 0.5) == -math.inf


def test_shifts_and_spread() -> None:
    a = [float(v) for v in range(1, 12)]
    b = [2.0 * v for v in a]
    assert [s.ratio for s in shifts(a, b)] == [2.0, 2.0, 2.0]
    assert [s.p for s in shifts(a, b)] == [0.1, 0.5, 0.9]
    assert spread_ratio(a, b) == 2.0
    assert spread_ratio([1.0, 1.0], b) is None
    assert spread_ratio(a, [*a, math.inf, math.inf]) is None
    assert shifts(a, [*a, *[math.inf] * 3])[2].ratio is None
    assert shifts([0.0, 0.0], a)[1].ratio is None
