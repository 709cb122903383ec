"""Averages over sparse models, compared with direct algebra."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from assay.search.model.launch_precision import LEVEL_VARIANCE, Launches
from assay.search.model.setting_effects import LENGTH, ROUGHNESS
from assay.search.model.sparse import (
    AMPLITUDES,
    BLOCK_VARIANCES,
    CLASS_PRIORS,
    OWN_VARIANCES,
    SparseModels,
)
from assay.stats.launch_noise import NOISE_PRIOR

COLUMNS = (slice(0, 1), slice(1, 2), slice(2, 3))


def launches(effect: float, seed: int = 0, size: int = 4, drift: float = 0.0) -> Launches:
    """Return fifteen launches of three settings with three values; the first may matter."""
    rng = np.random.default_rng(seed)
    rows = np.round(rng.random((12, 3)) * 2) / 2
    which = np.array([*range(12), 0, 0, 1])
    values = rng.normal(0.0, 0.05, 15) + effect * (rows[which, 0] > 0.7)
    block = np.arange(15) // size
    return Launches(rows, which, block, values + rng.normal(0.0, drift, 15)[block])


def kernel(settings: tuple[int, ...], interacts: bool, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    apart = [(a[:, [k]] - b[:, [k]].T) ** 2 for k in settings]
    parts = [(1 - ROUGHNESS) * np.exp(-0.5 * d / LENGTH**2) + ROUGHNESS * (d == 0.0) for d in apart]
    if len(parts) == 1:
        return np.asarray(parts[0])
    product = parts[0] * parts[1] if interacts else 0.0
    whole = parts[0] + parts[1] + product
    return np.asarray(whole * (2.0 / 3.0) if interacts else whole)


@pytest.mark.parametrize("size", [4, 2])
def test_average_over_models_equals_direct_regression(size: int) -> None:
    data = launches(-0.3, size=size)
    models = SparseModels(data, COLUMNS)
    rows = np.vstack([data.rows[:3], [[1.0, 1.0, 0.0]]])
    wanted = np.array([[1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0]])
    values = data.values - np.median(data.values)
    ran = data.rows[data.which]
    known = np.array([0, 1, 2, -1])
    together = data.block[:, None] == data.block[None]
    usual, *others = BLOCK_VARIANCES
    bases = [(own, usual) for own in OWN_VARIANCES]
    if size == 2:  # eight blocks can show drift
        bases += [(0.0, block) for block in others]
    same = data.which[:, None] == data.which[None]
    own_of = wanted @ (known[:, None] == data.which[None])
    shapes: list[tuple[tuple[int, ...], bool, float]] = [((), False, CLASS_PRIORS["none"])]
    shapes += [((k,), False, CLASS_PRIORS["one"] / 3) for k in range(3)]
    for pair in itertools.combinations(range(3), 2):
        shapes += [(pair, False, CLASS_PRIORS["sum"] / 3), (pair, True, CLASS_PRIORS["pair"] / 3)]
    logs, means, variances = [], [], []
    for settings, interacts, prior in shapes:
        amplitudes = AMPLITUDES if settings else (0.0,)
        for multiple, (own, block) in itertools.product(amplitudes, bases):
            if own and not settings:
                continue
            amplitude = multiple**2
            noise = np.eye(15) + block * together + LEVEL_VARIANCE
            whole, across, among = noise + own * same, own * own_of, own * wanted @ wanted.T
            if settings:
                whole = whole + amplitude * kernel(settings, interacts, ran, ran)
                across = across + wanted @ (amplitude * kernel(settings, interacts, rows, ran))
                prior_of = amplitude * kernel(settings, interacts, rows, rows)
                among = among + wanted @ prior_of @ wanted.T
            solved = np.linalg.solve(whole, values)
            squares = NOISE_PRIOR[0] * NOISE_PRIOR[1] ** 2 + values @ solved
            share = prior * OWN_VARIANCES[own] * BLOCK_VARIANCES[block] / len(amplitudes)
            evidence = -0.5 * np.linalg.slogdet(whole)[1]
            evidence -= 0.5 * models.freedom * math.log(squares)
            logs.append(math.log(share) + evidence)
            means.append(across @ solved)
            held = np.diag(among - across @ np.linalg.solve(whole, across.T))
            variances.append(squares / (models.freedom - 2.0) * held)
    weights = np.exp(np.array(logs) - max(logs))
    weights /= weights.sum()
    mean = weights @ np.array(means)
    deviation = np.sqrt(weights @ (np.array(variances) + np.array(means) ** 2) - mean**2)
    found = models.contrasts(rows, known, wanted)
    assert found[0] == pytest.approx(mean, abs=1e-3)
    assert found[1] == pytest.approx(deviation, abs=1e-3)


def test_relevant_setting_is_found() -> None:
    models = SparseModels(launches(-0.3), COLUMNS)
    settings, probability = models.leading(1)[0]
    assert settings == (0,)
    assert probability > 0.6
    assert models.null_probability < 0.01


def test_drift_between_blocks_is_not_a_setting_effect() -> None:
    for seed in range(5):
        drifting = SparseModels(launches(0.0, seed, size=2, drift=0.3), COLUMNS)
        assert drifting.null_probability > 0.3


def test_without_effects_null_model_is_likeliest_and_differences_shrink() -> None:
    wanted = np.array([[1.0, -1.0]])
    for seed in range(5):
        data = launches(0.0, seed)
        models = SparseModels(data, COLUMNS)
        assert models.null_probability > 0.3
        best, worst = np.argmin(data.values[:12]), np.argmax(data.values[:12])
        seen = data.values[best] - data.values[worst]
        mean, _ = models.contrasts(data.rows[[best, worst]], np.full(2, -1), wanted)
        assert abs(mean[0]) < 0.5 * abs(seen)
