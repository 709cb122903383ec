"""Two groups of launches, and figures correlated with them."""

from __future__ import annotations

import random

import pytest

from assay.stats.modes import find_correlated_figure, find_modes


def two(seed: int, n: int, share: float, apart: float = 0.5) -> tuple[list[float], list[bool]]:
    draw = random.Random(seed)
    slow = [draw.random() < share for _ in range(n)]
    return [1.0 + apart * s + draw.gauss(0.0, 0.01) for s in slow], slow


def test_two_modes_are_found_with_their_members() -> None:
    values, slow = two(1, 60, 0.3)
    found = find_modes(values)
    assert found is not None
    assert list(found.in_high) == slow
    assert found.low == pytest.approx(1.0, abs=0.01)
    assert found.high == pytest.approx(1.5, abs=0.01)
    assert found.high_share == pytest.approx(sum(slow) / 60)


@pytest.mark.parametrize("shape", ["gauss", "uniform", "exponential", "lognormal", "pareto"])
def test_one_peak_is_one_mode(shape: str) -> None:
    draw = random.Random(shape)
    make = {
        "gauss": lambda: draw.gauss(1.0, 0.02),
        "uniform": lambda: 1.0 + 0.1 * draw.random(),
        "exponential": lambda: 1.0 + draw.expovariate(20.0),
        "lognormal": lambda: 1.0 + 0.02 * draw.lognormvariate(0.0, 1.0),
        "pareto": lambda: 1.0 + 0.01 * draw.paretovariate(1.0),
    }[shape]
    found = sum(
        find_modes([make() for _ in range(n)]) is not None for n in (12, 40) for _ in range(100)
    )
    assert found <= 12


def test_outlier_is_not_a_mode() -> None:
    values, _ = two(2, 40, 0.0)
    assert find_modes([*values, 9.0]) is None


def test_constant_values_are_one_mode() -> None:
    assert find_modes([2.0] * 50) is None


def test_correlated_figure_is_returned() -> None:
    values, slow = two(3, 40, 0.4)
    draw = random.Random(4)
    found = find_modes(values)
    assert found is not None
    figures = {
        "noise": [draw.random() for _ in values],
        "huge_bytes": [0.0 if s else 4e8 + draw.random() for s in slow],
    }
    told = find_correlated_figure(found, figures)
    assert told is not None
    assert told.name == "huge_bytes"
    assert told.high == 0.0 and told.low > 3e8
    assert told.p_value < 0.001


def test_independent_figure_is_not_returned() -> None:
    named = 0
    for seed in range(60):
        values, _ = two(seed, 40, 0.4)
        draw = random.Random(1000 + seed)
        found = find_modes(values)
        assert found is not None
        figures = {f"f{k}": [draw.random() for _ in values] for k in range(20)}
        named += find_correlated_figure(found, figures) is not None
    assert named <= 8


def test_figure_of_different_length_is_rejected() -> None:
    values, _ = two(5, 40, 0.4)
    found = find_modes(values)
    assert found is not None
    with pytest.raises(ValueError, match="numbers"):
        find_correlated_figure(found, {"x": [1.0]})
