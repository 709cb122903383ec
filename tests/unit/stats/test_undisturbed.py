"""Effect over undisturbed blocks and over all blocks."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.stats.paired import Observation, effect
from assay.stats.undisturbed import ALPHA_SHARE, effect_of_blocks

LOGS = st.lists(st.floats(-0.5, 0.5), min_size=8, max_size=30)


def observed(logs: list[float]) -> list[Observation | None]:
    return [Observation(math.exp(log)) for log in logs]


@given(LOGS)
def test_no_disturbed_blocks_give_plain_effect(logs: list[float]) -> None:
    a, b = observed([0.0] * len(logs)), observed(logs)
    found = effect_of_blocks(a, b, [False] * len(logs))
    assert found.effect == effect(a, b)
    assert found.disturbed == 0


@given(LOGS)
def test_only_disturbed_blocks_give_effect_of_all_at_half_the_rate(
    logs: list[float],
) -> None:
    a, b = observed([0.0] * len(logs)), observed(logs)
    found = effect_of_blocks(a, b, [True] * len(logs))
    assert found.effect == effect(a, b, alpha=ALPHA_SHARE * 0.05)
    assert found.disturbed == len(logs)


def test_narrower_interval_is_shown() -> None:
    rng = random.Random(1)
    out = [at % 2 == 1 for at in range(30)]
    ones = [0.0] * 30
    noisy = [rng.gauss(0.1, 0.5 if lost else 0.01) for lost in out]
    found = effect_of_blocks(observed(ones), observed(noisy), out)
    assert (found.effect.blocks, found.disturbed) == (15, 0)
    even = [rng.gauss(0.1, 0.01) for _ in out]
    found = effect_of_blocks(observed(ones), observed(even), out)
    assert (found.effect.blocks, found.disturbed) == (30, 15)


def test_disturbed_block_without_a_pair_costs_nothing() -> None:
    logs = [0.01 * (-1) ** at for at in range(12)]
    a, b = observed([0.0] * 12), observed(logs)
    a[3] = None
    found = effect_of_blocks(a, b, [at == 3 for at in range(12)])
    assert found.effect.alpha == 0.05


@pytest.mark.parametrize("disturbed", [1, 11])
def test_neither_interval_bounded_shows_all_blocks(disturbed: int) -> None:
    a, b = observed([0.0] * 4), observed([0.1, 0.2, 0.1, 0.15])
    found = effect_of_blocks(a, b, [at < disturbed for at in range(4)])
    assert found.effect.blocks == 4
