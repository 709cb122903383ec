"""Cost of the model of a search, as numbers of fits, factorisations and launches."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import pytest

from assay.records import DEFAULT, Choices, Configuration, Parameter, Space
from assay.search.model.features import Features
from assay.search.model.fit_schedule import (
    ADAPTING_ITERATIONS,
    GROWTH,
    MAX_CONDITIONED,
    MAX_FITTED,
    MIN_REUSED,
    Fits,
    adapting_iterations,
    conditioned_trials,
    fitted_trials,
)
from assay.search.model.gp import GpSearcher
from assay.search.model.hyperparameters import Priors
from assay.search.model.launch_model import LaunchModel, training_data
from assay.search.model.likelihood import Likelihood
from assay.search.model.noisy_values import weighted_by_noise
from assay.search.model.searcher import Trial
from assay.search.space.search_space import SearchSpace

BATCH = 8
LARGE = Space(
    parameters=tuple(
        Parameter(name=f"arg.p{i}", domain=Choices((0, 1, 2, 3)), default=0) for i in range(12)
    )
)


def value(configuration: Configuration, rng: random.Random) -> float:
    return 0.1 * int(configuration.get("arg.p0", 0)) + rng.gauss(0.0, 0.02)


def trials(count: int, seed: int = 1) -> list[Trial]:
    """Return launches of blocks with the default and eight random configurations."""
    space, rng = SearchSpace(LARGE), random.Random(seed)
    found = []
    for block in range(count // (BATCH + 1) + 1):
        drawn = [space.draw(rng) or DEFAULT for _ in range(BATCH)]
        found += [Trial(c, block, value(c, rng)) for c in (DEFAULT, *drawn)]
    return found[:count]


@pytest.fixture
def factorisations(monkeypatch: pytest.MonkeyPatch) -> Counter[int]:
    """Count the factorisations of launches, by their number."""
    counted: Counter[int] = Counter()
    original = Likelihood.precision

    def precision(self: Likelihood, whole):  # type: ignore[no-untyped-def]
        counted[len(whole)] += 1
        return original(self, whole)

    monkeypatch.setattr(Likelihood, "precision", precision)
    return counted


def test_block_between_fits_takes_few_factorisations(factorisations: Counter[int]) -> None:
    """Some that adapt hyperparameters, and one posterior: of all values, and of clipped ones."""
    searcher, space, every = GpSearcher(), SearchSpace(LARGE), trials(154)
    searcher.propose(space, every[:141], BATCH, 1)
    fits = searcher._fits.count
    factorisations.clear()
    searcher.remaining_gain(space, every, 0.95, 2)
    searcher.propose(space, every, BATCH, 2)
    assert searcher._fits.count == fits == 2
    assert set(factorisations) == {154}
    assert factorisations[154] <= 2 * (1 + 2 * (ADAPTING_ITERATIONS + 1))


def test_reused_hyperparameters_are_adapted_to_the_launches_of_a_block() -> None:
    features, every = Features(SearchSpace(LARGE)), trials(154)
    model = LaunchModel(features, every, Priors(), Fits())
    likelihood = Likelihood(training_data(features, every, 1.0, ())[0])
    adapted, _ = likelihood.loss(model.surrogate.hyperparameters.vector)
    reused, _ = likelihood.loss(model.reused.vector)
    fitted, _ = likelihood.loss(likelihood.fitted().vector)
    assert adapted - fitted < 0.2 * (reused - fitted)


def test_only_reused_hyperparameters_of_few_launches_are_adapted() -> None:
    assert adapting_iterations(MIN_REUSED, MIN_REUSED) == 0
    assert adapting_iterations(MIN_REUSED, MIN_REUSED + 1) == ADAPTING_ITERATIONS
    assert adapting_iterations(MAX_FITTED - 1, MAX_FITTED + 1) == 0


def test_number_of_fits_grows_with_the_logarithm_of_the_launches() -> None:
    sizes = {len(fitted_trials(range_of(count))) for count in range(MIN_REUSED, MAX_FITTED)}
    assert len(sizes) <= 10, "a tenth more launches each"
    for count in (MIN_REUSED, 200, 251):
        part = fitted_trials(range_of(count))
        assert part == range_of(count)[: len(part)]
        assert len(part) * GROWTH + 1 > count


def range_of(count: int) -> list[Trial]:
    return [Trial(Configuration({"arg.p0": i % 50}), i // 9, float(i % 7)) for i in range(count)]


@pytest.mark.parametrize("count", [1000, 2500])
def test_cost_of_many_launches_is_bounded(count: int) -> None:
    every = trials(count)
    assert len(fitted_trials(every)) <= MAX_FITTED
    kept = conditioned_trials(every)
    assert 0.8 * MAX_CONDITIONED < len(kept) <= MAX_CONDITIONED
    chosen = set(map(id, kept))
    assert kept == [t for t in every if id(t) in chosen], "in the order of time"
    best = min((t for t in every if t.configuration != DEFAULT), key=lambda t: t.value or 0.0)
    assert best in kept


def test_factorisations_of_many_launches_have_bounded_size(
    factorisations: Counter[int],
) -> None:
    searcher = GpSearcher()
    searcher.propose(SearchSpace(LARGE), trials(1200), BATCH, 3)
    assert max(factorisations) <= MAX_CONDITIONED
    assert sum(n for size, n in factorisations.items() if size > MAX_FITTED) == 2


def test_proposals_with_reused_fits_depend_on_the_launches_alone() -> None:
    space, every = SearchSpace(LARGE), trials(145)
    kept = GpSearcher()
    for count in (128, 134, 145):
        expected = GpSearcher().propose(space, every[:count], BATCH, count)
        assert kept.propose(space, every[:count], BATCH, count) == expected


def test_validity_is_tested_for_chosen_candidates() -> None:
    tested: list[Configuration] = []

    def admits(configuration: Configuration) -> bool:
        tested.append(configuration)
        return True

    space = SearchSpace(LARGE, admits)
    searcher, every = GpSearcher(), trials(40)
    proposals = searcher.propose(space, every, BATCH, 4)
    assert len(proposals) == BATCH
    assert len(tested) < 60, "of more than a thousand candidates"
    assert set(proposals) - {t.configuration for t in every} <= set(tested)


@pytest.mark.parametrize("refused", [(3,), (1, 2, 3)])
def test_refused_configurations_are_not_proposed(refused: Sequence[int]) -> None:
    def admits(configuration: Configuration) -> bool:
        return configuration.get("arg.p0") not in refused or "arg.p1" not in configuration

    searcher = GpSearcher()
    proposals = searcher.propose(SearchSpace(LARGE, admits), trials(40), BATCH, 5)
    assert all(admits(c) for c in proposals)


def test_noisy_value_is_found_among_settings_without_effect() -> None:
    rng = random.Random(2)
    configurations = [Configuration({"arg.p0": i % 2, "arg.p1": i // 2}) for i in range(8)]
    every = [
        Trial(c, block, rng.gauss(0.0, 0.5 if c["arg.p0"] else 0.01))
        for block in range(6)
        for c in configurations
    ]
    weighted = weighted_by_noise(every)
    assert all((t.weight < 1.0) is (t.configuration["arg.p0"] == 1) for t in weighted)
