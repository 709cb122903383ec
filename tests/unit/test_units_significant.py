"""Digits of quantities."""

from __future__ import annotations

import pytest

from assay.units import significant


@pytest.mark.parametrize(
    ("value", "shown"),
    [(9.9996, "10.0"), (10.0, "10.0"), (99.96, "100"), (9.994, "9.99"), (0.09999, "0.100")],
)
def test_a_value_that_rounds_up_has_no_digit_more(value: float, shown: str) -> None:
    assert significant(value) == shown
