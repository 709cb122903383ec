"""The surrogate, and choices based on it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime

from assay.records import Choices, Configuration, Parameter, Range, Space
from assay.search.model.acquisition import Pool, choose_batch, log_improvement, sample_best
from assay.search.model.encodings import NAME_DISTANCE, UNSET_POSITION
from assay.search.model.features import Features
from assay.search.model.likelihood import Likelihood
from assay.search.model.surrogate import Surrogate
from assay.search.model.tasks import TrainingData
from assay.search.space.search_space import SearchSpace


def data(seed: int, *, drift: float = 0.0, noise: float = 0.02, blocks: int = 6) -> TrainingData:
    """Return twelve configurations of three columns in blocks of five that begin with the first."""
    rng = np.random.default_rng(seed)
    rows = rng.random((12, 3))
    which, block, values = [], [], []
    for number in range(blocks):
        speed = drift * rng.standard_normal()
        for row in (0, *rng.choice(np.arange(1, 12), 4, replace=False)):
            which.append(row)
            block.append(number)
            values.append(truth(rows[row]) + speed + noise * rng.standard_normal())
    return TrainingData(
        rows, np.array(which), np.array(block), np.array(values), noise=noise**2 + drift**2
    )


def truth(row: np.ndarray) -> float:
    return float(0.8 * row[0] + 0.3 * math.sin(6.0 * row[1]))


@pytest.mark.parametrize("seed", range(4))
def test_gradient_equals_numeric_derivative(seed: int) -> None:
    likelihood = Likelihood(data(seed, drift=0.05))
    rng = np.random.default_rng(seed)
    centre = likelihood.density.centre
    vector = centre + 0.3 * rng.standard_normal(len(centre))
    found = likelihood.loss(vector)[1]
    expected = approx_fprime(vector, lambda v: likelihood.loss(v)[0], 1e-6)
    assert found == pytest.approx(expected, rel=1e-3, abs=1e-3)


def test_surrogate_predicts_unlaunched_configurations() -> None:
    told = data(1, blocks=12)
    surrogate = Surrogate(told)
    rows = np.random.default_rng(9).random((200, 3))
    mean, deviation = surrogate.predict(rows, np.full(200, -1))
    errors = mean - [truth(row) for row in rows]
    assert np.sqrt(np.mean(errors**2)) < 0.15, "the values spread by 0.3"
    assert np.mean(np.abs(errors) < 3.0 * deviation) > 0.95


def test_machine_drift_is_not_a_configuration_effect() -> None:
    """Differences within a block count, at any speed of the block."""
    told = data(2, drift=0.5, noise=0.005, blocks=14)
    surrogate = Surrogate(told)
    mean, _ = surrogate.predict(told.rows, np.arange(12))
    expected = np.array([truth(row) for row in told.rows])
    gaps = (mean - mean[0]) - (expected - expected[0])
    assert np.abs(gaps).max() < 0.06, "a tenth of the drift"


def test_replicates_reduce_uncertainty() -> None:
    told = data(3)
    _, once = Surrogate(told).predict(told.rows[:1], np.array([0]))
    _, other = Surrogate(told).predict(told.rows[1:], np.arange(1, 12))
    assert once[0] < other.min(), "the first ran in every block"


@given(seed=st.integers(0, 10_000), drift=st.sampled_from([0.0, 0.3]))
@settings(max_examples=6, deadline=None)
def test_covariance_is_positive_semidefinite(seed: int, drift: float) -> None:
    told = data(seed, drift=drift)
    surrogate = Surrogate(told)
    rows = np.vstack([told.rows, np.random.default_rng(seed).random((8, 3))])
    known = np.array([*range(12), *[-1] * 8])
    covariance = surrogate.covariance(rows, known)
    _, deviation = surrogate.predict(rows, known)
    assert np.sqrt(np.diag(covariance)) == pytest.approx(deviation, rel=1e-4, abs=1e-6)
    assert np.linalg.eigvalsh(covariance).min() > -1e-8


def test_constant_values_are_accepted() -> None:
    told = data(4)
    flat = TrainingData(told.rows, told.which, told.block, np.zeros(len(told.values)), noise=1e-6)
    mean, deviation = Surrogate(flat).predict(told.rows, np.arange(12))
    assert np.isfinite(mean).all()
    assert np.isfinite(deviation).all()


def pool_of(told: TrainingData, more: int = 40) -> Pool:
    rng = np.random.default_rng(5)
    rows = np.vstack([told.rows, rng.random((more, 3))])
    able = np.ones(len(rows), dtype=bool)
    able[3] = False
    return Pool(rows, np.array([*range(12), *[-1] * more]), (rows * 3).astype(np.intp), able)


def test_batch_is_distinct_without_failed_configurations() -> None:
    told = data(5)
    pool = pool_of(told)
    turns = ["improve", "bound", "probe", "near"] * 4
    chosen = choose_batch(Surrogate(told), pool, turns, np.random.default_rng(1))
    assert len(chosen) == len(set(chosen)) == 16
    assert 3 not in chosen


def test_probes_differ_from_the_best() -> None:
    told = data(6)
    pool = pool_of(told)
    surrogate = Surrogate(told)
    mean, _ = surrogate.predict(pool.rows, pool.known)
    best = int(np.argmin(np.where(pool.known >= 0, mean, np.inf)))
    chosen = choose_batch(surrogate, pool, ["probe"] * 6, np.random.default_rng(2))
    assert all(pool.known[at] < 0 for at in chosen)
    assert all((pool.levels[at] != pool.levels[best]).any() for at in chosen)


def test_fully_launched_space_gives_replicates() -> None:
    told = data(7)
    pool = pool_of(told, more=0)
    chosen = choose_batch(
        Surrogate(told), pool, ["probe", "near", "improve"] * 9, np.random.default_rng(3)
    )
    assert sorted(chosen) == [i for i in range(12) if i != 3]


def unrelated(launched: int, every: int) -> tuple[Surrogate, Pool]:
    """Return values of one setting that tell nothing about each other; some were launched."""
    rows = np.eye(every)
    values = np.array([0.0, *np.linspace(0.1, 0.3, launched - 1)])
    which = np.arange(launched)
    told = TrainingData(rows[:launched], which, np.zeros(launched, dtype=int), values, noise=1e-4)
    known = np.where(np.arange(every) < launched, np.arange(every), -1)
    levels = np.arange(every)[:, np.newaxis]
    return Surrogate(told), Pool(rows, known, levels, np.ones(every, dtype=bool))


def test_clear_best_is_not_launched_again_while_values_are_new() -> None:
    surrogate, pool = unrelated(launched=10, every=16)
    turns = ["improve", "bound", "improve", "probe", "bound", "probe"]
    chosen = choose_batch(surrogate, pool, turns, np.random.default_rng(1))
    assert sorted(chosen) == list(range(10, 16))


def test_probe_draws_a_value_that_is_new() -> None:
    surrogate, pool = unrelated(launched=15, every=16)
    for seed in range(10):
        assert choose_batch(surrogate, pool, ["probe"], np.random.default_rng(seed)) == [15]


def test_nearly_equal_best_ones_are_launched_again() -> None:
    told = data(9, noise=0.1)
    told.values[told.which == 1] = told.values.min() - 1.0
    told.values[told.which == 2] = told.values.min() + 0.001
    surrogate, pool = Surrogate(told), pool_of(told, more=0)
    chosen = choose_batch(surrogate, pool, ["improve"] * 2, np.random.default_rng(1))
    assert sorted(chosen) == [1, 2]


def test_thompson_sample_prefers_the_best() -> None:
    told = data(8, blocks=12)
    surrogate, pool = Surrogate(told), pool_of(told)
    among = list(range(12))
    mean, _ = surrogate.predict(pool.rows[:12], pool.known[:12])
    rng = np.random.default_rng(4)
    found = [sample_best(surrogate, pool, among, rng) for _ in range(50)]
    assert set(found) <= set(np.argsort(mean)[:6].tolist())


def test_tiny_improvements_are_still_ordered() -> None:
    mean = np.array([0.0, 1.0, 60.0, 61.0])
    found = log_improvement(mean, np.full(4, 1.0), best=0.5)
    assert (np.diff(found) < 0).all()
    assert np.isfinite(found).all()


# --- features -----------------------------------------------------------------------------------


def rows_of(parameter: Parameter, *values: object) -> list[list[float]]:
    space = SearchSpace(Space(parameters=(parameter,)))
    told = [Configuration({} if v is None else {parameter.name: v}) for v in values]
    return [[float(cell) for cell in row] for row in Features(space).rows(told)]


def test_numbers_keep_their_order_and_powers_their_ratio() -> None:
    few = Parameter(name="threads", domain=Choices((1, 2, 3)), default=1)
    assert rows_of(few, None, 2, 3) == [[0.0], [0.5], [1.0]]
    powers = Parameter(name="arg.n", domain=Choices((1, 2, 4, 8, 16)), default=1)
    assert rows_of(powers, None, 4, 16) == [[0.0], [pytest.approx(0.5)], [1.0]]
    real = Parameter(name="arg.x", domain=Range(low=0.0, high=2.0), default=1.0)
    assert rows_of(real, None, 0.5, 2.0) == [[0.5], [0.25], [1.0]]


def test_unset_value_without_default_has_separate_column() -> None:
    count = Parameter(name="threads", domain=Choices((1, 2, 3)))
    assert rows_of(count, None, 1, 3) == [
        [UNSET_POSITION, 0.0],
        [0.0, NAME_DISTANCE],
        [1.0, NAME_DISTANCE],
    ]


def test_names_are_equally_far_apart() -> None:
    malloc = Parameter(name="malloc", domain=Choices(("jemalloc", "tcmalloc", "mimalloc")))
    rows = np.array(rows_of(malloc, None, "jemalloc", "tcmalloc", "mimalloc"))
    distances = np.linalg.norm(rows[:, None] - rows[None, :], axis=2)
    assert distances[~np.eye(4, dtype=bool)] == pytest.approx(1.0)
    two = Parameter(name="malloc", domain=Choices(("jemalloc",)))
    assert rows_of(two, None, "jemalloc") == [[0.0], [1.0]]


def test_true_differs_from_one() -> None:
    flag = Parameter(name="arg.f", domain=Choices((True, 1, 0)))
    rows = rows_of(flag, True, 1)
    assert rows[0] != rows[1]


def test_levels_of_a_continuous_range_are_its_quarters() -> None:
    space = SearchSpace(
        Space(parameters=(Parameter(name="arg.x", domain=Range(low=0.0, high=1.0)),))
    )
    told = [Configuration({"arg.x": x}) for x in (0.0, 0.24, 0.26, 0.99, 1.0)]
    assert Features(space).levels(told)[:, 0].tolist() == [0, 0, 1, 3, 3]
