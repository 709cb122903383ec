"""The order within blocks is balanced over groups of four, and depends on seed and block alone."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest

from assay.stats.block_order import BLOCKS_PER_GROUP, launch_order, swapped_blocks

ARMS = ["default", "a", "b", "c", "d"]


def orders(seed: int, groups: int, names: list[str]) -> list[list[str]]:
    return [
        [names[i] for i in launch_order(seed, k, names)] for k in range(BLOCKS_PER_GROUP * groups)
    ]


@pytest.mark.parametrize("names", [ARMS[:2], ARMS[:3], ARMS])
def test_each_of_two_arms_is_first_in_half_of_each_group(names: list[str]) -> None:
    found = orders(3, 50, names)
    for group in _fours(found):
        for one, other in itertools.combinations(names, 2):
            assert sum(o.index(one) < o.index(other) for o in group) == BLOCKS_PER_GROUP // 2


def _fours(found: list[list[str]]) -> list[list[list[str]]]:
    return [found[k : k + BLOCKS_PER_GROUP] for k in range(0, len(found), BLOCKS_PER_GROUP)]


def test_all_orders_are_equally_frequent() -> None:
    counts = Counter(tuple(o) for seed in range(100) for o in orders(seed, 15, ARMS[:3]))
    assert len(counts) == 6
    assert all(count == pytest.approx(1000, rel=0.15) for count in counts.values())


def test_previous_block_does_not_predict_the_next() -> None:
    """Within a group, but for its last block."""
    first = [[o[0] for o in orders(seed, 1, ARMS[:2])] for seed in range(2000)]
    for places in itertools.combinations(range(BLOCKS_PER_GROUP), 2):
        same = sum(f[places[0]] == f[places[1]] for f in first) / len(first)
        assert same == pytest.approx(1 / 3, abs=0.05)


def test_eliminated_arm_keeps_the_others_balanced() -> None:
    for seed in range(50):
        whole = orders(seed, 1, ARMS)
        fewer = orders(seed, 1, [ARMS[0], ARMS[3]])
        assert [[name for name in o if name in (ARMS[0], ARMS[3])] for o in whole] == fewer


def test_repeated_arm_is_balanced() -> None:
    names = ["a", "b"] * 5
    for block in range(8):
        found = launch_order(1, block, names)
        assert sorted(found) == list(range(10))
    mixed = {tuple(names[i] for i in launch_order(1, block, names)) for block in range(8)}
    assert len(mixed) == 8


def test_order_depends_on_arguments_only() -> None:
    assert orders(7, 3, ARMS) == orders(7, 3, ARMS)
    assert orders(7, 3, ARMS) != orders(8, 3, ARMS)


def test_at_most_four_of_six_consecutive_blocks_are_equal() -> None:
    """No claim is made before six; wherever a study begins in a group."""
    rng = np.random.default_rng(1)
    found = swapped_blocks(rng.integers(0, 1 << 32, (4000, 5)), 20)
    assert found.shape == (4000, 20)
    assert (found.reshape(4000, 5, BLOCKS_PER_GROUP).sum(axis=2) == BLOCKS_PER_GROUP // 2).all()
    for start in range(BLOCKS_PER_GROUP):
        first = found[:, start : start + 6].sum(axis=1)
        assert first.min() >= 2
        assert first.max() <= 4
    assert found.mean(axis=0) == pytest.approx(0.5, abs=0.03)
