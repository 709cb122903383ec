"""Joint simulation of many studies has the results of single studies."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest

from assay.records.claim import Verdict
from assay.stats.paired import Observation, effect
from assay.stats.peeking import MAX_EXACT_BLOCKS, StudyOutcome, simulate_studies
from assay.stats.undisturbed import effect_of_blocks
from assay.stats.verdict import decide

STUDIES, BLOCKS = 30, 40
Matrix = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


def arms(kind: str) -> tuple[Matrix, Matrix]:
    rng = np.random.default_rng(7)
    shape = (STUDIES, BLOCKS)
    a, b = 0.01 * rng.standard_normal((2, *shape))
    if kind == "gain":
        b = b - 0.02
    if kind == "two levels":
        b = a + 0.01 * rng.choice([-1.0, 1.0], shape) + 0.001 * rng.standard_normal(shape)
    if kind == "coarse":
        a, b = (np.log(np.round(10.0 * np.exp(arm), 1)) for arm in (a, b))
    if kind == "heavy":
        a, b = 0.003 * rng.standard_t(1.5, (2, *shape))
    return a, b


def alone(a: Matrix, b: Matrix, truth: float) -> list[StudyOutcome]:
    """The same, one interim analysis after another."""
    found = []
    for i in range(len(a)):
        verdict, at, covered, always = Verdict.UNCLEAR, a.shape[1], True, True
        for n in range(1, a.shape[1] + 1):
            seen = effect(
                [Observation(math.exp(v)) for v in a[i, :n].tolist()],
                [Observation(math.exp(v)) for v in b[i, :n].tolist()],
            )
            holds = seen.lo * (1 - 1e-9) <= math.exp(truth) <= seen.hi * (1 + 1e-9)
            always &= holds
            if verdict is Verdict.UNCLEAR and decide(seen) is not Verdict.UNCLEAR:
                verdict, at, covered = decide(seen), n, holds
        found.append(StudyOutcome(verdict, at, covered, always))
    return found


@pytest.mark.parametrize("kind", ["alike", "gain", "two levels", "coarse", "heavy"])
def test_joint_simulation_equals_single_studies(kind: str) -> None:
    a, b = arms(kind)
    truth = -0.02 if kind == "gain" else 0.0
    assert simulate_studies(a, b, truth=truth) == alone(a, b, truth)


def test_gain_is_faster_and_loss_is_slower() -> None:
    a, b = arms("gain")
    assert {ending.verdict for ending in simulate_studies(a, b - 0.05)} == {Verdict.FASTER}
    assert {ending.verdict for ending in simulate_studies(b - 0.05, a)} == {Verdict.SLOWER}
    assert all(ending.differs for ending in simulate_studies(a, b - 0.05))


def test_omitted_analyses_give_no_verdict() -> None:
    a, b = arms("gain")
    found = simulate_studies(a, b, analyses=[10, 20, 30])
    assert {ending.blocks for ending in found} <= {10, 20, 30, BLOCKS}
    often = simulate_studies(a, b)
    assert all(late.blocks >= soon.blocks for late, soon in zip(found, often, strict=True))


def test_invisible_analyses_give_no_verdict() -> None:
    a, b = arms("gain")
    visible = np.zeros(a.shape, dtype=np.bool_)
    assert {e.verdict for e in simulate_studies(a, b, visible=visible)} == {Verdict.UNCLEAR}
    visible[:, 24:] = True
    assert {e.blocks for e in simulate_studies(a, b - 0.05, visible=visible)} == {25}


def test_disturbed_blocks_are_treated_as_in_a_study() -> None:
    a, b = arms("gain")
    rng = np.random.default_rng(5)
    out = rng.random(a.shape) < 0.4
    b = b + 0.2 * out * rng.standard_normal(b.shape)
    for i, ending in enumerate(simulate_studies(a, b - 0.02, disturbed=out)):
        alone = _one_by_one(a[i], b[i] - 0.02, out[i])
        assert (ending.verdict, ending.blocks) == alone


def _one_by_one(a: Matrix, b: Matrix, out: Flags) -> tuple[Verdict, int]:
    left, right = ([Observation(v) for v in np.exp(arm).tolist()] for arm in (a, b))
    for n in range(1, len(a) + 1):
        seen = effect_of_blocks(left[:n], right[:n], out[:n].tolist()).effect
        verdict = decide(seen)
        if verdict is not Verdict.UNCLEAR:
            return verdict, n
    return Verdict.UNCLEAR, len(a)


def test_long_studies_are_evaluated_to_their_end() -> None:
    rng = np.random.default_rng(3)
    a, b = 0.05 * rng.standard_normal((2, 20, 4 * MAX_EXACT_BLOCKS))
    ends = [e.blocks for e in simulate_studies(a, b - 0.012, margin=0.0)]
    assert max(ends) > MAX_EXACT_BLOCKS
    assert (
        sum(e.verdict is Verdict.FASTER for e in simulate_studies(a, b - 0.012, margin=0.0)) >= 15
    )


def test_coverage_is_computed_only_on_request() -> None:
    rng = np.random.default_rng(4)
    a, b = 0.01 * rng.standard_normal((2, 100, 100))
    missed = [not e.always_covered for e in simulate_studies(a, b + 0.004, truth=0.0)]
    assert any(missed)
    assert all(e.always_covered for e in simulate_studies(a, b + 0.004, truth=0.0, coverage=False))
