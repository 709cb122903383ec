"""Values of settings with which launches are much noisier have a smaller weight."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from assay.records import Choices, Configuration, Parameter, Space
from assay.search.model.candidate import best_candidate
from assay.search.model.gp import GpSearcher
from assay.search.model.noisy_values import MIN_WEIGHT, weighted_by_noise
from assay.search.model.searcher import Trial, launch_noise
from assay.search.space.search_space import SearchSpace

SETTINGS = {"arg.threads": (1, 2), "thp": ("default", "always"), "arg.batch": (80, 160)}
SPACE = SearchSpace(
    Space(
        parameters=tuple(
            Parameter(name=name, domain=Choices(values), default=values[0])
            for name, values in SETTINGS.items()
        )
    )
)


def launched(
    seed: int, *, noise: float = 0.03, noisy: float = 0.03, gain: float = 0.0
) -> list[Trial]:
    """Return three blocks of all configurations; ``noisy`` is the noise with two threads."""
    rng = np.random.default_rng(seed)
    found = []
    for block, values in itertools.product(range(3), itertools.product(*SETTINGS.values())):
        one = SPACE.canonical(Configuration(dict(zip(SETTINGS, values, strict=True))))
        sd = noisy if one.get("arg.threads") == 2 else noise
        value = rng.normal(0.0, sd) - gain * (one.get("thp") == "always")
        found.append(Trial(one, block, float(value)))
    return found


def test_noisy_value_has_small_weight() -> None:
    found = weighted_by_noise(launched(1, noisy=0.6))
    weights = {trial.configuration.get("arg.threads"): trial.weight for trial in found}
    assert weights[None] == 1.0
    assert MIN_WEIGHT <= weights[2] < 0.1
    assert launch_noise(found) < 0.1 < launch_noise(launched(1, noisy=0.6))


def test_equal_noise_changes_no_weight() -> None:
    changed = sum(
        any(trial.weight < 1.0 for trial in weighted_by_noise(launched(seed)))
        for seed in range(200)
    )
    assert changed <= 2


def test_effect_beside_a_noisy_value_is_found() -> None:
    trials = launched(2, noisy=0.6, gain=0.3)
    plain = best_candidate(GpSearcher(), SPACE, trials, 0.01)
    found = best_candidate(GpSearcher(), SPACE, weighted_by_noise(trials), 0.01)
    assert found.is_likely(0.01)
    assert dict(found.arm.configuration)["thp"] == "always"
    assert found.estimate.mean == pytest.approx(-0.3, abs=0.1)
    assert found.estimate.deviation < plain.estimate.deviation


def test_single_launches_and_failures_change_nothing() -> None:
    one = Configuration({"arg.threads": 2})
    trials = [Trial(Configuration(), 0, 0.0), Trial(one, 0, 3.0), Trial(one, 1, None)]
    assert weighted_by_noise(trials) == trials
    assert weighted_by_noise([]) == []
