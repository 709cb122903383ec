"""Searcher: proposes configurations from what was observed."""

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


@dataclass(frozen=True)
class Trial:
    """One launch of the search.

    Attributes:
        configuration: canonical; the default's launches are told as well.
        block: in which it ran: what ran together met the same machine.
        value: logarithm of the objective, turned so that lower is better; ``None`` where the launch
            gave none.
        censored: it was stopped at its cap, and the value is that of the cap: a lower bound.
        slack: by how much it keeps what is required, below zero where it does not; ``None`` where
            nothing is required or nothing is known.
    """

    configuration: Configuration
    block: int
    value: float | None
    censored: bool = False
    slack: float | None = None


Contrast = Mapping[Configuration, float]
"""A weighted sum of the logarithms that configurations take; the weights add up to 0."""


@dataclass(frozen=True)
class Estimate:
    """What is expected of a contrast.

    Attributes:
        mean: of its value; lower is better.
        deviation: standard deviation of what is not known about it; infinite where nothing is.
    """

    mean: float
    deviation: float


@dataclass(frozen=True)
class Belief:
    """Probabilities of the number of settings that matter.

    Attributes:
        nothing: probability that none does.
        few: probability that few do, and that these explain all but noise.
    """

    nothing: float
    few: float


MIN_SPARSITY_PROBABILITY = 0.3
"""Probability ``Belief.few`` from which on a core is looked for, and preferred to the whole."""
UNKNOWN_BELIEF = Belief(nothing=1.0, few=1.0)
"""Of a searcher without a model: any setting may be idle."""

RANDOM_TRIES = 50
"""Random draws for each configuration that is still wanted, before the neighbours of those that are
known are gone through: in a small space nearly every draw is known."""


class Searcher(Protocol):
    """Proposes what to try next.

    A searcher keeps no state between calls: what it proposes follows from its arguments alone, so
    that a resumed study goes on as an unbroken one would have.
    """

    name: str

    def propose(
        self, space: SearchSpace, trials: Sequence[Trial], count: int, seed: int
    ) -> list[Configuration]:
        """Up to ``count`` different valid configurations, none the default, that did not fail.

        What was launched before is proposed only to be known better. Fewer only where no more
        are found.
        """
        ...

    def verify(
        self, space: SearchSpace, trials: Sequence[Trial], count: int, seed: int
    ) -> list[Configuration]:
        """Up to ``count`` different ones of what was launched and may be the best."""
        ...

    def core(self, space: SearchSpace, trials: Sequence[Trial]) -> list[Configuration]:
        """The best that sets few settings, to be launched; none unless few are likely to matter."""
        ...

    def belief(self, space: SearchSpace, trials: Sequence[Trial]) -> Belief:
        """Return the probabilities of the number of settings that matter."""
        ...

    def contrasts(
        self, space: SearchSpace, trials: Sequence[Trial], wanted: Sequence[Contrast]
    ) -> list[Estimate]:
        """What is expected of differences between configurations, launched or not."""
        ...

    def remaining_gain(
        self, space: SearchSpace, trials: Sequence[Trial], confidence: float, seed: int
    ) -> float:
        """By how much the best of a space is better than the best known, at most.

        A difference of logarithms, with this confidence; infinite where nothing can be said.
        """
        ...


def estimates(
    searcher: Searcher,
    space: SearchSpace,
    trials: Sequence[Trial],
    among: Sequence[Configuration],
) -> list[Estimate]:
    """What is expected of the log ratios of configurations to the default."""
    wanted = [{} if c == DEFAULT else {c: 1.0, DEFAULT: -1.0} for c in among]
    return searcher.contrasts(space, trials, wanted)


def launched_configurations(trials: Sequence[Trial]) -> set[Configuration]:
    """The configurations that were launched."""
    return {trial.configuration for trial in trials}


def successful_configurations(trials: Sequence[Trial]) -> set[Configuration]:
    """Those of them that gave a value."""
    return {trial.configuration for trial in trials if trial.value is not None}


def default_deviation(trials: Sequence[Trial]) -> float:
    """Standard deviation of the default's values; infinite of fewer than two."""
    values = [t.value for t in trials if t.configuration == DEFAULT and t.value is not None]
    return statistics.stdev(values) if len(values) > 1 else math.inf


NOISE_PRIOR = (3.0, 0.03)
"""Degrees of freedom that the noise of a launch is believed with before any replicates are there,
and its size (a logarithm)."""


def noise_variance(trials: Sequence[Trial]) -> float:
    """Variance of a launch about the mean of its configuration, pooled over all replicates."""
    found: dict[Configuration, list[float]] = {}
    for trial in trials:
        if trial.value is not None and not trial.censored:
            found.setdefault(trial.configuration, []).append(trial.value)
    weight, usual = NOISE_PRIOR
    squares, degrees = weight * usual**2, weight
    for values in found.values():
        mean = math.fsum(values) / len(values)
        squares += math.fsum((v - mean) ** 2 for v in values)
        degrees += len(values) - 1
    return squares / degrees


def launch_noise(trials: Sequence[Trial]) -> float:
    """The same as a standard deviation."""
    return math.sqrt(noise_variance(trials))


def non_default_trials(trials: Sequence[Trial]) -> set[Configuration]:
    """Those but for the default."""
    return launched_configurations(trials) - {DEFAULT}


def fresh_configurations(
    space: SearchSpace,
    wanted: Sequence[Configuration],
    known: set[Configuration],
    count: int,
    rng: random.Random,
) -> list[Configuration]:
    """Make ``wanted`` valid, new and ``count`` many.

    Duplicates are a decision of the race, which replicates on purpose; a searcher that proposes
    what is known gets the nearest valid point that is not, and random ones fill the rest.
    """
    # The default runs in every block as it is.
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
    """What may be chosen, one group for each choice: wanted ones, random ones, and what is left."""
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
