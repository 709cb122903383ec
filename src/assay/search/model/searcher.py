"""Searcher: the protocol of methods that propose configurations from observations."""

from __future__ import annotations

import itertools
import math
import random
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from assay.records import DEFAULT, Configuration
from assay.search.space.search_space import SearchSpace
from assay.stats.launch_noise import pooled_variance


@dataclass(frozen=True)
class Trial:
    """One launch of the search.

    Attributes:
        configuration: canonical configuration, possibly the default.
        block: number of its block; launches of a block share the state of the machine.
        value: logarithm of the objective, with the sign such that lower is better; ``None`` without
            a value.
        censored: whether ``value`` is a lower bound: that of the cap of a launch that timed out, or
            that of a launch that ended as worse during its warm-up.
        slack: distance from the bound of the requirement, negative if violated; ``None`` without a
            requirement or if unknown.
        weight: weight of the value: 1 for a launch of the usual length and noise, less for one that
            assay ended early as worse, or with a setting that makes launches noisier.
    """

    configuration: Configuration
    block: int
    value: float | None
    censored: bool = False
    slack: float | None = None
    weight: float = 1.0


Contrast = Mapping[Configuration, float]
"""Weighted sum of the log objective of configurations; the weights add up to 0."""


@dataclass(frozen=True)
class Estimate:
    """Posterior estimate of a contrast.

    Attributes:
        mean: expected value; lower is better.
        deviation: posterior standard deviation; infinite if the contrast is unknown.
    """

    mean: float
    deviation: float


@dataclass(frozen=True)
class Belief:
    """Probabilities of the number of settings that matter.

    Attributes:
        null_probability: probability that no setting matters.
        sparse_probability: probability that few settings matter, and that these explain all but
            noise.
    """

    null_probability: float
    sparse_probability: float


MIN_SPARSITY_PROBABILITY = 0.3
"""Minimum ``Belief.sparse_probability`` from which a core is searched, and preferred to the whole
configuration."""
UNKNOWN_BELIEF = Belief(null_probability=1.0, sparse_probability=1.0)
"""Belief of a searcher without a model: any setting may be negligible."""

RANDOM_TRIES = 50
"""Random draws for each missing configuration, before the neighbours of known ones are
enumerated: in a small space nearly every draw is known."""


class Searcher(Protocol):
    """Proposes the configurations to launch next.

    A searcher has no state between calls: its proposals depend on the arguments alone, so that a
    resumed study continues as an uninterrupted one.
    """

    name: str

    def propose(
        self, space: SearchSpace, trials: Sequence[Trial], count: int, seed: int
    ) -> list[Configuration]:
        """Return up to ``count`` valid configurations, without the default and failed ones.

        A launched configuration is proposed only as a replicate. Fewer are returned only if there
        are no more.
        """
        ...

    def verify(
        self, space: SearchSpace, trials: Sequence[Trial], count: int, seed: int
    ) -> list[Configuration]:
        """Return up to ``count`` distinct launched configurations that may be the best."""
        ...

    def core(self, space: SearchSpace, trials: Sequence[Trial]) -> list[Configuration]:
        """Return the best sparse configuration to launch; none unless few settings matter."""
        ...

    def belief(self, space: SearchSpace, trials: Sequence[Trial]) -> Belief:
        """Return the probabilities of the number of settings that matter."""
        ...

    def contrasts(
        self, space: SearchSpace, trials: Sequence[Trial], wanted: Sequence[Contrast]
    ) -> list[Estimate]:
        """Return the estimates of contrasts between configurations, launched or not."""
        ...

    def remaining_gain(
        self, space: SearchSpace, trials: Sequence[Trial], confidence: float, seed: int
    ) -> float:
        """Return an upper bound of the gain of the best of a space over the best known.

        It is a difference of logarithms, with this confidence; infinite if unknown.
        """
        ...


def estimates(
    searcher: Searcher,
    space: SearchSpace,
    trials: Sequence[Trial],
    among: Sequence[Configuration],
) -> list[Estimate]:
    """Return the estimates of the log ratios of configurations to the default."""
    wanted = [{} if c == DEFAULT else {c: 1.0, DEFAULT: -1.0} for c in among]
    return searcher.contrasts(space, trials, wanted)


def launched_configurations(trials: Sequence[Trial]) -> set[Configuration]:
    """Return the launched configurations."""
    return {trial.configuration for trial in trials}


def successful_configurations(trials: Sequence[Trial]) -> set[Configuration]:
    """Return the configurations with a value."""
    return {trial.configuration for trial in trials if trial.value is not None}


def default_deviation(trials: Sequence[Trial]) -> float:
    """Return the standard deviation of the default's values; infinite for fewer than two."""
    values = [t.value for t in trials if t.configuration == DEFAULT and t.value is not None]
    return statistics.stdev(values) if len(values) > 1 else math.inf


def noise_variance(trials: Sequence[Trial]) -> float:
    """Return the pooled variance of a launch of weight 1 about the mean of its configuration."""
    found: dict[Configuration, list[tuple[float, float]]] = {}
    for trial in trials:
        if trial.value is not None and not trial.censored:
            found.setdefault(trial.configuration, []).append((trial.value, trial.weight))
    squares, degrees = 0.0, 0
    for values in found.values():
        mean = math.fsum(v * weight for v, weight in values) / math.fsum(w for _, w in values)
        squares += math.fsum(weight * (v - mean) ** 2 for v, weight in values)
        degrees += len(values) - 1
    return pooled_variance(squares, degrees)


def launch_noise(trials: Sequence[Trial]) -> float:
    """Return the standard deviation of a launch about the mean of its configuration."""
    return math.sqrt(noise_variance(trials))


def non_default_configurations(trials: Sequence[Trial]) -> set[Configuration]:
    """Return the launched configurations other than the default."""
    return launched_configurations(trials) - {DEFAULT}


def fresh_configurations(
    space: SearchSpace,
    wanted: Sequence[Configuration],
    known: set[Configuration],
    count: int,
    rng: random.Random,
) -> list[Configuration]:
    """Return ``count`` valid, new configurations, from ``wanted`` where possible.

    The race decides on replicates. A known proposal is replaced by the nearest valid new point, and
    random configurations fill the rest.
    """
    # The default runs in every block anyway.
    taken = {*known, DEFAULT}
    chosen: list[Configuration] = []
    for candidates in _candidates(space, wanted, taken, count, rng):
        if len(chosen) == count:
            break
        found = next((c for c in candidates if c not in taken), None)
        if found is not None:
            taken.add(found)
            chosen.append(found)
    return chosen


def _candidates(
    space: SearchSpace,
    wanted: Sequence[Configuration],
    taken: set[Configuration],
    count: int,
    rng: random.Random,
) -> Iterator[Iterable[Configuration]]:
    """Yield a group of candidates for each choice: wanted, random, and remaining configurations."""
    for proposal in wanted:
        candidate = space.repair(proposal, rng)
        yield itertools.chain((candidate,), space.neighbours(candidate))
    for _ in range(RANDOM_TRIES * count):
        drawn = space.draw(rng)
        if drawn is None:
            break
        yield (drawn,)
    for _ in range(count):
        known = sorted(taken, key=str)
        yield (c for origin in known for c in space.neighbours(origin))
