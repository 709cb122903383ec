"""Digits of quantities."""

from __future__ import annotations

import pytest

from assay.units import show_exactly, show_level, significant


@pytest.mark.parametrize(
    ("value", "shown"),
    [(9.9996, "10.0"), (10.0, "10.0"), (99.96, "100"), (9.994, "9.99"), (0.09999, "0.100")],
)
def test_rounded_up_value_has_no_additional_digit(value: float, shown: str) -> None:
    assert significant(value) == shown


@pytest.mark.parametrize(
    ("alpha", "shown"),
    [(0.05, "95 %"), (0.0125, "98.75 %"), (0.05 / 11, "99.54 %"), (0.05 / 3, "98.33 %")],
)
def test_level_is_rounded_down(alpha: float, shown: str) -> None:
    assert show_level(alpha) == shown


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [(320.0, "1/s", "320 1/s"), (0.25, "", "0.25"), (1234567.0, "tokens/s", "1234567 tokens/s")],
)
def test_constant_value_has_its_own_digits(value: float, unit: str, shown: str) -> None:
    assert show_exactly(value, unit) == shown
