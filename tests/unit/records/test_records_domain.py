from __future__ import annotations

import pytest

from assay.records import Range


@pytest.mark.parametrize(
    ("domain", "values"),
    [
        (Range(1, 4, step=1), (1, 2, 3, 4)),
        (Range(-4, -1, step=1), (-4, -3, -2, -1)),
        (Range(-2, 0, step=2), (-2, 0)),
        (Range(1, 8, step=2, log=True), (1, 2, 4, 8)),
        (Range(1, 4, step=2), (1, 3)),
    ],
)
def test_values_of_range_include_both_ends(domain: Range, values: tuple[int, ...]) -> None:
    assert domain.values() == values
    assert all(value in domain for value in values)


@pytest.mark.parametrize(
    "domain",
    [
        Range(0.0, 0.3, step=0.1, integer=False),
        Range(-0.3, 0.0, step=0.1, integer=False),
        Range(-0.7, -0.1, step=0.1, integer=False),
    ],
)
def test_rounding_errors_exclude_no_value_of_range(domain: Range) -> None:
    values = domain.values() or ()
    assert len(values) == round((domain.high - domain.low) / 0.1) + 1
    assert values[-1] == pytest.approx(domain.high)
    assert all(value in domain for value in values)


@pytest.mark.parametrize(("low", "high"), [(1e-6, 1e-2), (1e-5, 1.0), (0.1, 0.7)])
@pytest.mark.parametrize("log", [True, False])
def test_ends_of_a_range_are_its_extreme_values(low: float, high: float, log: bool) -> None:
    domain = Range(low, high, log=log, integer=False)
    assert (domain.at(0.0), domain.at(1.0)) == (low, high)
