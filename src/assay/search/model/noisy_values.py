"""Noisy values: values of settings with which launches differ much more than with others.

A second thread that shares its CPU with other work may make some launches five times slower, and
leave those with one thread as they are. One noise for all launches would then hide every effect.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from assay.records import Configuration, Value
from assay.search.model.searcher import Trial
from assay.stats.launch_noise import NOISE_PRIOR, pooled_variance

MIN_RATIO = 9.0
"""Smallest ratio of two variances that counts: three times the standard deviation."""
ALPHA = 0.001
"""Probability that any value counts as noisy by chance."""
MIN_WEIGHT = 0.01
"""Smallest weight of a launch: ten times the standard deviation of others."""


@dataclass(frozen=True)
class Spread:
    """Sum of squares of launches about the means of their configurations.

    Attributes:
        squares: sum of squares, of logarithms.
        degrees: degrees of freedom.
    """

    squares: float = 0.0
    degrees: int = 0

    def __add__(self, other: Spread) -> Spread:
        return Spread(self.squares + other.squares, self.degrees + other.degrees)

    def __sub__(self, other: Spread) -> Spread:
        squares = self.squares - other.squares
        return Spread(max(0.0, squares), self.degrees - other.degrees)

    @property
    def variance(self) -> float:
        """Variance of a launch, drawn towards the usual one."""
        return pooled_variance(self.squares, self.degrees)


def weighted_by_noise(trials: Sequence[Trial]) -> list[Trial]:
    """Return trials in which launches with the noisiest value of a setting have a smaller weight.

    The repeated launches of each configuration show the noise. The largest ratio of the variance
    with a value to the variance without it is tested by an F test, with Bonferroni's correction.

    Args:
        trials: launches of the search.
    """
    spreads = _spreads(trials)
    whole = sum(spreads.values(), Spread())
    pairs = [
        (spread, whole - spread, name, value)
        for (name, value), spread in _by_value(spreads, whole).items()
    ]
    tested = [pair for pair in pairs if pair[0].degrees and pair[1].degrees]
    noisy = [
        (with_value.variance / without.variance, name, value)
        for with_value, without, name, value in tested
        if _is_noisier(with_value, without, ALPHA / len(tested))
    ]
    if not noisy:
        return list(trials)
    ratio, name, value = max(noisy, key=lambda one: (one[0], one[1], str(one[2])))
    factor = max(MIN_WEIGHT, 1.0 / ratio)
    return [
        replace(trial, weight=trial.weight * factor)
        if trial.configuration.get(name) == value
        else trial
        for trial in trials
    ]


def _spreads(trials: Iterable[Trial]) -> dict[Configuration, Spread]:
    """Return the spread of each configuration with repeated launches."""
    values: dict[Configuration, list[float]] = defaultdict(list)
    for trial in trials:
        if trial.value is not None and not trial.censored:
            values[trial.configuration].append(trial.value)
    return {one: _spread(found) for one, found in values.items() if len(found) > 1}


def _spread(values: Sequence[float]) -> Spread:
    mean = math.fsum(values) / len(values)
    return Spread(math.fsum((value - mean) ** 2 for value in values), len(values) - 1)


def _by_value(
    spreads: Mapping[Configuration, Spread], whole: Spread
) -> dict[tuple[str, Value | None], Spread]:
    """Return the spread of each value of a setting; ``None`` stands for a setting not set.

    Args:
        spreads: spread of each configuration.
        whole: their sum.
    """
    found: dict[tuple[str, Value | None], Spread] = defaultdict(Spread)
    set_: dict[str, Spread] = defaultdict(Spread)
    for configuration, spread in spreads.items():
        for name, value in configuration.items():
            found[name, value] += spread
            set_[name] += spread
    return {**found, **{(name, None): whole - spread for name, spread in set_.items()}}


def _is_noisier(with_value: Spread, without: Spread, alpha: float) -> bool:
    """Return whether the first variance is the larger one, beyond chance."""
    from scipy.special import fdtrc  # imported here, since loading takes long

    ratio = with_value.variance / without.variance
    weight, _ = NOISE_PRIOR
    return ratio >= MIN_RATIO and bool(
        fdtrc(with_value.degrees, without.degrees + weight, ratio) <= alpha
    )
