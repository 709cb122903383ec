"""Proposals from sparse models, drawn with their probability."""

from __future__ import annotations

import math
import random

import msgspec
import numpy as np
import pytest
from simulated_studies import space_of

from assay.records import DEFAULT, Choices, Configuration, Parameter, Range, Space
from assay.search.model.features import Features
from assay.search.model.sparse import Launches, SparseModels
from assay.search.model.thompson_sampling import (
    MAX_COMBINATIONS,
    _combinations,
    sample_configurations,
)
from assay.search.space.search_space import SearchSpace

NAMES = tuple(f"arg.s{k}" for k in range(8))
SPACE = Space(
    parameters=tuple(Parameter(name=name, domain=Choices((0, 1, 2)), default=0) for name in NAMES)
)


def models(space: SearchSpace, gain: float, launches: int = 24, seed: int = 0) -> SparseModels:
    """Return models after launches in which s3 = 2 has a gain and nothing else has an effect."""
    rng = random.Random(seed)
    ran = [DEFAULT, *(space.draw(rng) or DEFAULT for _ in range(launches - 1))]
    values = [rng.gauss(0.0, 0.05) - gain * (c.get("arg.s3") == 2) for c in ran]
    features = Features(space)
    data = Launches(
        rows=features.rows(ran),
        which=np.arange(launches),
        block=np.arange(launches) // 4,
        values=np.array(values),
    )
    return SparseModels(data, tuple(features.settings.values()))


def test_draws_have_the_mean_of_all_models() -> None:
    space = SearchSpace(SPACE)
    belief, rng = models(space, 0.2, launches=10), np.random.default_rng(0)
    rows = Features(space).rows([DEFAULT, Configuration({"arg.s3": 2, "arg.s1": 1})])
    found = []
    for _ in range(3000):
        settings = belief.sample_settings(rng)
        effects = belief.sample_effects(settings, rows, rng) if settings else np.zeros(2)
        found.append(effects[1] - effects[0])
    mean, deviation = belief.contrasts(rows, np.array([-1, -1]), np.array([[-1.0, 1.0]]))
    assert np.mean(found) == pytest.approx(mean[0], abs=4 * np.std(found) / math.sqrt(len(found)))
    assert np.std(found) <= 1.1 * deviation[0]  # configuration effects are not drawn


def test_relevant_setting_is_kept_and_others_are_random() -> None:
    space = SearchSpace(SPACE)
    features, belief = Features(space), models(space, 0.6)
    found = [
        c
        for seed in range(12)
        for c in sample_configurations(space, features, belief, set(), 4, seed)
    ]
    assert len(found) == 48  # few settings matter here, with certainty
    assert np.mean([c.get("arg.s3") == 2 for c in found]) > 0.9
    for name in NAMES:
        if name != "arg.s3":
            assert {c.get(name, 0) for c in found} == {0, 1, 2}


def test_without_effects_few_configurations_are_sampled() -> None:
    space = SearchSpace(SPACE)
    belief = models(space, 0.0)
    found = [
        c
        for s in range(12)
        for c in sample_configurations(space, Features(space), belief, set(), 4, s)
    ]
    assert len(found) < 24


def test_taken_and_invalid_configurations_are_skipped() -> None:
    space = SearchSpace(msgspec.structs.replace(SPACE, constraints=("arg.s1 + arg.s2 < 3",)))
    belief = models(space, 0.6)
    found = sample_configurations(space, Features(space), belief, set(), 4, 1)
    assert found and all(space.valid(c) and space.canonical(c) == c for c in found)
    assert not set(found) & set(
        sample_configurations(space, Features(space), belief, set(found), 4, 1)
    )


def test_every_value_of_a_long_range_can_be_drawn() -> None:
    wide = Parameter(name="arg.w", domain=Choices(tuple(range(200))), default=0)
    space = SearchSpace(msgspec.structs.replace(SPACE, parameters=(*SPACE.parameters, wide)))
    drawn = _combinations(space, ("arg.w",), random.Random(0))
    assert len(drawn) == MAX_COMBINATIONS
    assert max(int(c.get("arg.w", 0)) for c in drawn) > 150


def test_names_and_ranges_have_values_to_draw() -> None:
    asked = space_of(**{"env.MODE": ("a", "b", "c"), "arg.s3": (1, 2)})
    ranged = Parameter(name="arg.r", domain=Range(low=1.0, high=9.0))
    space = SearchSpace(msgspec.structs.replace(asked, parameters=(*asked.parameters, ranged)))
    belief = models(space, 0.6)
    found = [
        c
        for s in range(8)
        for c in sample_configurations(space, Features(space), belief, set(), 4, s)
    ]
    assert all(space.valid(c) for c in found)
    assert np.mean([c.get("arg.s3") == 2 for c in found]) > 0.9
