"""Candidate: the configuration with the best expected value, with or without a proof."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from assay.records import DEFAULT, Arm, Configuration, ExpectedEffect, Goal, Stage
from assay.search.history.history import DEFAULT_ARM, History, arm_of
from assay.search.model.feasibility import feasible_configurations, is_default_infeasible
from assay.search.model.searcher import (
    MIN_SPARSITY_PROBABILITY,
    Estimate,
    Searcher,
    Trial,
    estimates,
    successful_configurations,
)
from assay.search.model.trials import trials_of
from assay.search.space.search_space import SearchSpace

LEVEL = 0.9
"""Confidence level of the interval of an expected effect."""
Z = statistics.NormalDist().inv_cdf(0.5 + LEVEL / 2.0)
INTERVAL_FACTOR = 1.65
"""Factor on the standard deviation of an expected effect, for the interval: by simulation, chosen
so that the coverage also holds where noise drifts, has heavy tails or differs between
configurations (``make bench-recommendations``)."""
SINGLE_LAUNCH_FACTOR = 2.0
"""The factor for a configuration that was launched once: of many such configurations it may be
the best by chance."""
SINGLE_LAUNCH_FROM = 20
"""Launches from which ``SINGLE_LAUNCH_FACTOR`` applies: with fewer the model is uncertain
enough."""
PROBABILITY_FACTOR = 1.15
"""Factor on the standard deviation for the probability that a candidate is better than the
default."""
MIN_PROBABILITY = 0.9
"""Minimum probability of being better than the default, for a recommendation without a proof,"""
MAX_NULL_PROBABILITY = 0.05
"""unless the probability that no setting matters is at most this,"""
MIN_LAUNCHES = 10
"""and at least this number of launches is known: with fewer the model guesses their noise."""
PENALTY_SHARE = 0.25
"""Minimum worth of each setting of a candidate, as a share of the margin."""
MAX_LOSS_DEVIATIONS = 1.0
"""Maximum loss of a smaller configuration, in standard deviations of the difference.

A part of a configuration replaces the whole if its predicted loss is below this limit."""
MAX_DEVIATION_SHARE = 0.3
"""Maximum standard deviation of that difference, as a share of the gain."""
MIN_REPLICATES = 2
"""Launches of the smaller configuration that replace the limit on the standard deviation.

They must also be at least as many as those of the whole."""
DIGITS = 4
"""Significant digits of an expected effect: later ones differ between machines."""
ALL_STAGES = (Stage.GAUGE, Stage.SEARCH, Stage.REDUCE, Stage.CONFIRM)


@dataclass(frozen=True)
class Candidate:
    """A configuration and its expected effect.

    Attributes:
        arm: the configuration; the default where no other is expected to be better.
        estimate: estimate of its log ratio to the default; lower is better.
        null_probability: probability that no setting has an effect.
        launches: number of launches in the model.
        own_launches: number of these launches with this configuration.
    """

    arm: Arm
    estimate: Estimate
    null_probability: float = 1.0
    launches: int = 0
    own_launches: int = 0

    def is_likely(self, margin: float) -> bool:
        """Return whether the expected gain exceeds a margin and a gain is likely.

        Args:
            margin: ratio differences below it count as none.
        """
        mean, deviation = self.estimate.mean, PROBABILITY_FACTOR * self.estimate.deviation
        if self.arm == DEFAULT_ARM or not math.isfinite(deviation):
            return False
        if mean > math.log1p(-margin):
            return False
        if deviation == 0.0 or (
            self.null_probability <= MAX_NULL_PROBABILITY and self.launches >= MIN_LAUNCHES
        ):
            return True
        return statistics.NormalDist().cdf(-mean / deviation) >= MIN_PROBABILITY

    def expected(self, goal: Goal, launches: int) -> ExpectedEffect:
        """Return the effect as a ratio of the objective, with its interval.

        Args:
            goal: direction of the objective.
            launches: number of launches behind the estimate.
        """
        sign = 1.0 if goal is Goal.LOWER else -1.0
        lucky = self.own_launches <= 1 and self.launches >= SINGLE_LAUNCH_FROM
        widened = SINGLE_LAUNCH_FACTOR if lucky else INTERVAL_FACTOR
        reach = Z * widened * self.estimate.deviation
        ends = sorted(math.exp(sign * (self.estimate.mean + side * reach)) for side in (-1.0, 1.0))
        return ExpectedEffect(
            ratio=_rounded(math.exp(sign * self.estimate.mean)),
            ci=(_rounded(ends[0]), _rounded(ends[1])),
            level=LEVEL,
            launches=launches,
        )


DEFAULT_CANDIDATE = Candidate(DEFAULT_ARM, Estimate(0.0, 0.0))


def best_candidate(
    searcher: Searcher,
    space: SearchSpace,
    trials: Sequence[Trial],
    margin: float,
    among: Sequence[Configuration] | None = None,
) -> Candidate:
    """Return the launched configuration with the best expectation, with a penalty for each setting.

    Args:
        searcher: its model gives the estimates.
        space: search space of the study.
        trials: all launches for the model.
        margin: ratio differences below it count as none.
        among: candidates; if absent, all successful and feasible configurations.
    """
    able = successful_configurations(trials) & feasible_configurations(trials)
    known = (able if among is None else able & set(among)) - {DEFAULT}
    ordered = sorted(known, key=lambda c: (len(c), str(c)))
    found = estimates(searcher, space, trials, ordered)
    price = PENALTY_SHARE * math.log1p(margin)
    pairs = [
        (configuration, estimate)
        for configuration, estimate in zip(ordered, found, strict=True)
        if math.isfinite(estimate.deviation)
    ]
    if not pairs:
        return DEFAULT_CANDIDATE
    configuration, estimate = min(pairs, key=lambda pair: pair[1].mean + price * len(pair[0]))
    if estimate.mean >= 0.0 and not is_default_infeasible(trials):
        return DEFAULT_CANDIDATE
    core = _core(searcher, space, trials, configuration, [c for c, _ in pairs], price)
    return Candidate(
        arm_of(core),
        dict(pairs)[core],
        searcher.belief(space, trials).null_probability,
        launches=len(trials),
        own_launches=sum(trial.configuration == core for trial in trials),
    )


def _core(
    searcher: Searcher,
    space: SearchSpace,
    trials: Sequence[Trial],
    whole: Configuration,
    among: Sequence[Configuration],
    price: float,
) -> Configuration:
    """Return the best of the smallest subsets of a configuration that are not shown to be worse.

    Args:
        searcher, space, trials: as for ``best_candidate``.
        whole: the configuration with the best expectation.
        among: candidates.
        price: penalty of each setting.
    """
    parts = [c for c in among if len(c) < len(whole) and c.items() <= whole.items()]
    parts = [c for c in parts if c != DEFAULT]
    if not parts or searcher.belief(space, trials).sparse_probability < MIN_SPARSITY_PROBABILITY:
        return whole
    wanted = [{c: 1.0, whole: -1.0} for c in parts]
    losses = searcher.contrasts(space, trials, wanted)
    gain = abs(estimates(searcher, space, trials, [whole])[0].mean)
    launches = Counter(trial.configuration for trial in trials)
    often = max(MIN_REPLICATES, launches[whole])
    able = [
        (len(c), loss.mean, str(c), c)
        for c, loss in zip(parts, losses, strict=True)
        if loss.mean <= max(price * (len(whole) - len(c)), MAX_LOSS_DEVIATIONS * loss.deviation)
        and (loss.deviation <= MAX_DEVIATION_SHARE * gain or launches[c] >= often)
    ]
    return min(able)[-1] if able else whole


def all_trials(history: History) -> list[Trial]:
    """Return all launches with information on a configuration, including the confirmation.

    The survey counts only if the default has no other value, since its caches were cold.
    """
    found = trials_of(history, ALL_STAGES)
    if any(t.configuration == DEFAULT and t.value is not None for t in found):
        return found
    survey = trials_of(history, (Stage.SURVEY,))
    return [*(trial for trial in survey if trial.configuration == DEFAULT), *found]


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
