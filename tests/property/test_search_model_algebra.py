"""The models of a search equal the direct formulas that they abbreviate."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.records import Choices, Parameter, Range, Space
from assay.search.model.encodings import encoding_of
from assay.search.model.features import Features
from assay.search.model.kernels import (
    length_gradient,
    matern_with_slope,
    squared_distances,
)
from assay.search.model.launch_precision import LEVEL_VARIANCE, Launches, LaunchPrecision
from assay.search.space.search_space import SearchSpace

seeds = st.integers(0, 10_000)


@given(seed=seeds, rows=st.integers(1, 30), columns=st.integers(1, 12))
@settings(max_examples=25, deadline=None)
def test_distances_and_gradient_equal_sums_over_an_array(
    seed: int, rows: int, columns: int
) -> None:
    """The former formula: an array of rows x rows x columns."""
    rng = np.random.default_rng(seed)
    x = np.round(rng.random((rows, columns)) * 4) / 4
    lengths = np.exp(rng.normal(0.0, 1.0, columns))
    apart = (x[:, None, :] - x[None, :, :]) ** 2
    expected = (apart / lengths**2).sum(axis=2)
    found = squared_distances(x, x, lengths)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9 * (1.0 + expected.max()))
    smooth, slope = matern_with_slope(expected, 2.0)
    far = np.sqrt(5.0 * np.maximum(expected, 1e-12))
    assert smooth == pytest.approx(2.0 * (1.0 + far + 5.0 * expected / 3.0) * np.exp(-far))
    pulls = rng.normal(size=(rows, rows))
    pulls = (pulls + pulls.T) * slope
    gradient = np.tensordot(apart, pulls, ([0, 1], [0, 1])) * (-2.0 / lengths**2)
    assert length_gradient(x, pulls, lengths) == pytest.approx(
        gradient, rel=1e-8, abs=1e-9 * (1.0 + np.abs(gradient).max())
    )


@given(seed=seeds, own=st.sampled_from([0.0, 1.0, 4.0]), block=st.sampled_from([0.1, 1.0]))
@settings(max_examples=25, deadline=None)
def test_precision_by_configurations_equals_the_inverse_of_the_covariance(
    seed: int, own: float, block: float
) -> None:
    rng = np.random.default_rng(seed)
    count, rows = int(rng.integers(2, 40)), int(rng.integers(1, 12))
    which, blocks = rng.integers(0, rows, count), np.sort(rng.integers(0, 6, count))
    values = rng.normal(size=count)
    launches = Launches(rng.random((rows, 2)), which, blocks, values)
    found = LaunchPrecision.of(launches, values, own, block)
    member = np.eye(rows)[which]
    covariance = np.eye(count) + own * member @ member.T + LEVEL_VARIANCE
    covariance += block * (blocks[:, None] == blocks[None, :])
    inverse = np.linalg.inv(covariance)
    summed = np.diag(found.alone) - found.shared.T @ found.shared
    assert summed == pytest.approx(member.T @ inverse @ member, abs=1e-6)
    assert found.pulls == pytest.approx(member.T @ inverse @ values, abs=1e-6)
    assert found.quadratic == pytest.approx(values @ inverse @ values, rel=1e-6, abs=1e-6)
    assert found.log_det == pytest.approx(np.linalg.slogdet(covariance)[1], abs=1e-6)


SPACE = SearchSpace(
    Space(
        parameters=(
            Parameter(name="arg.n", domain=Choices((1, 2, 3, 4, 8)), default=2),
            Parameter(name="arg.flag", domain=Choices((True, False))),
            Parameter(name="malloc", domain=Choices(("jemalloc", "tcmalloc", "mimalloc"))),
            Parameter(name="arg.x", domain=Range(low=0.5, high=8.0, log=True, integer=False)),
            Parameter(name="arg.y", domain=Range(low=-3, high=40), default=5),
        )
    )
)


@given(seed=seeds)
@settings(max_examples=25, deadline=None)
def test_codes_keep_configurations_and_their_encoding(seed: int) -> None:
    features = Features(SPACE)
    coding = features.coding
    codes = coding.drawn(8, np.random.default_rng(seed))
    configurations = [coding.configuration(row) for row in codes]
    assert all(SPACE.canonical(c) == c and SPACE.valid(c) for c in configurations)
    for c in configurations:
        assert all(value in SPACE.parameters[name].domain for name, value in c.items())
    assert np.array_equal(coding.codes(configurations), codes, equal_nan=True)
    expected = [
        [
            cell
            for name, parameter in SPACE.parameters.items()
            for cell in encoding_of(SPACE, name).encode(c.get(name, parameter.default))
        ]
        for c in configurations
    ]
    assert features.rows(configurations) == pytest.approx(np.array(expected), abs=1e-12)


@given(seed=seeds)
@settings(max_examples=15, deadline=None)
def test_neighbours_differ_in_one_setting(seed: int) -> None:
    coding = Features(SPACE).coding
    row = coding.drawn(1, np.random.default_rng(seed))[0]
    centre = coding.configuration(row)
    near = [coding.configuration(other) for other in coding.neighbours(row)]
    assert {len(centre.items() ^ c.items()) for c in near} <= {1, 2}
    expected = {c for c in SPACE.neighbours(centre) if c.get("arg.x") == centre.get("arg.x")}
    assert {c for c in expected if c.get("arg.y") == centre.get("arg.y")} <= set(near)
