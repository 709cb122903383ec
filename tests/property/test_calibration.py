"""Bounds of the figures of a calibration for any recording."""

from __future__ import annotations

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from assay.records import decode, encode
from assay.search.claims.calibration import GAINS, MIN_BLOCKS, calibration_of
from assay.stats.resample import resample

VALUES = st.one_of(
    st.floats(0.01, 0.2),
    st.floats(1e-6, 1e6),
    st.sampled_from([0.05, 0.051]),  # a coarse clock, and a program that never varies
)
RECORDINGS = st.one_of(
    st.lists(st.tuples(VALUES, VALUES), min_size=2, max_size=MIN_BLOCKS - 1),
    st.lists(st.tuples(VALUES, VALUES), min_size=MIN_BLOCKS, max_size=30),
)


@settings(max_examples=25)
@given(recorded=RECORDINGS, seed=st.integers(0, 2**31))
def test_figures_are_within_their_bounds(recorded: list[tuple[float, float]], seed: int) -> None:
    found = calibration_of(recorded, seed=seed, budgets_s=(0.5, 3.0))
    assert found is not None
    values = [value for block in recorded for value in block]
    assert min(values) <= found.median <= max(values)
    assert found.sd_log >= 0.0 and found.ratio_sd_log >= 0.0
    assert found.position > 0.0
    assert found.autocorrelation is None or -1.0 <= found.autocorrelation <= 1.0
    assert found.drift is None or 0.0 < found.drift < math.inf
    assert (found.false_verdicts is None) == (len(recorded) < MIN_BLOCKS)
    if found.false_verdicts is not None:
        assert 0.0 <= found.false_verdicts.share <= 1.0
        assert 0.0 < found.false_verdicts.standard_error <= 0.5
        assert found.false_verdicts.blocks <= len(recorded)
        assert [gain.budget_s for gain in found.gains] == [0.5, 3.0]
        assert found.gains[0].blocks <= found.gains[1].blocks
    for gain in found.gains:
        assert gain.gain is None or GAINS[0] <= gain.gain <= GAINS[-1]
    assert decode(encode(found), type(found)) == found


@settings(max_examples=50)
@given(
    recorded=st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=40),
    studies=st.integers(1, 20),
    blocks=st.integers(1, 60),
    seed=st.integers(0, 2**31),
)
def test_resampled_blocks_were_recorded(
    recorded: list[tuple[float, float]], studies: int, blocks: int, seed: int
) -> None:
    a, b = resample(recorded, studies, blocks, seed)
    assert a.shape == b.shape == (studies, blocks)
    known = {tuple(sorted(block)) for block in recorded}
    assert {tuple(sorted(pair)) for pair in zip(a.ravel(), b.ravel(), strict=True)} <= known
