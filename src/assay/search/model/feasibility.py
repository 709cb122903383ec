"""Feasibility: the probability that a configuration satisfies the requirements of a study.

Besides the objective, a second process models the slack of the requirements: unlike a mere failure,
the distance of a figure from its limit indicates where it will be within the limit (Gelbart, Snoek
and Adams, UAI 2014, model constraints in this way). Configurations that are unlikely to be feasible
are not proposed. Only configurations that are clearly feasible can win.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.records import DEFAULT, Configuration
from assay.records.requirement import MEDIAN
from assay.search.model.features import Features
from assay.search.model.fit_schedule import FitKey, Fits, fitted_trials
from assay.search.model.likelihood import Likelihood
from assay.search.model.searcher import Trial
from assay.search.model.surrogate import Surrogate
from assay.search.model.tasks import TrainingData

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MIN_PROBABILITY = 0.7
"""Minimum probability of feasibility for a launch. A lower value makes most launches infeasible
where the requirements conflict with the objective."""
MIN_RELAUNCH_PROBABILITY = 0.5
"""Minimum probability of feasibility to launch a configuration again, or to be the incumbent."""
CONFIRMATION_PROBABILITY = 0.95
"""Minimum probability of feasibility to confirm a configuration that was never launched: an
infeasible winner leaves a study without an answer."""
MIN_CANDIDATES = 40
"""Minimum number of unlaunched candidates, the likeliest first: after two blocks a model that
excludes the rest is overconfident."""
MIN_SLACK_DEVIATIONS = 1.0
"""Minimum distance of the winner's mean from the bound, in standard deviations of a launch: with
less a confirmation could not show that the bound holds."""
NOISE_PRIOR = (1.0, 0.01)
"""Prior of the noise of slack: weight in replicates, and standard deviation."""


def any_violation(trials: Sequence[Trial]) -> bool:
    """Return whether any launch violated a requirement."""
    return any(t.slack is not None and t.slack < 0.0 for t in trials)


def slack_deviation(trials: Sequence[Trial]) -> float:
    """Return the pooled standard deviation of slack about the mean of its configuration."""
    weight, usual = NOISE_PRIOR
    squares, degrees = weight * usual**2, weight
    for values in _by_configuration(trials).values():
        mean = math.fsum(values) / len(values)
        squares += math.fsum((v - mean) ** 2 for v in values)
        degrees += len(values) - 1
    return math.sqrt(squares / degrees)


def adjust_slack_to_share(trials: Sequence[Trial], share: float) -> list[Trial]:
    """Return the launches with slack shifted so that a mean of 0 means the required share.

    For a share of one half the slack is unchanged; else it is reduced by the distance of that
    quantile of Gaussian slack from its mean.
    """
    from scipy.special import ndtri

    if share == MEDIAN:
        return list(trials)
    less = float(ndtri(share)) * slack_deviation(trials)
    return [t if t.slack is None else replace(t, slack=t.slack - less) for t in trials]


def feasible_configurations(trials: Sequence[Trial]) -> set[Configuration]:
    """Return the launched configurations that are feasible; all without requirements.

    These are the clearly feasible ones; if there are none, those that are feasible on average. The
    default counts as feasible unless it is infeasible on average, since it is not a choice.
    """
    known = _by_configuration(trials)
    if not known:
        return {t.configuration for t in trials}
    spared = set() if is_default_infeasible(trials) else {DEFAULT}
    deviation = slack_deviation(trials)
    doubts = {
        c: MIN_SLACK_DEVIATIONS * deviation * (1.0 + 1.0 / math.sqrt(len(values)))
        for c, values in known.items()
    }
    means = {c: math.fsum(values) / len(values) for c, values in known.items()}
    sure = {c for c, mean in means.items() if mean >= doubts[c]}
    return spared | (sure - {DEFAULT} or {c for c, mean in means.items() if mean >= 0.0})


def infeasible_configurations(trials: Sequence[Trial]) -> set[Configuration]:
    """Return the configurations that are infeasible by more than the error of their mean."""
    deviation = slack_deviation(trials)
    return {
        c
        for c, values in _by_configuration(trials).items()
        if math.fsum(values) / len(values) < -deviation / math.sqrt(len(values))
    }


def is_default_infeasible(trials: Sequence[Trial]) -> bool:
    """Return whether the default violates the requirements on average."""
    values = _by_configuration(trials).get(DEFAULT)
    return values is not None and math.fsum(values) < 0.0


def minimise_violation(trials: Sequence[Trial]) -> list[Trial]:
    """Return the launches with the violation of the requirements as the value to minimise.

    It is the objective as long as no feasible configuration is known.
    """
    return [t if t.slack is None else replace(t, value=-t.slack) for t in trials]


def _by_configuration(trials: Sequence[Trial]) -> dict[Configuration, list[float]]:
    found: dict[Configuration, list[float]] = {}
    for trial in trials:
        if trial.slack is not None:
            found.setdefault(trial.configuration, []).append(trial.slack)
    return found


class Feasibility:
    """Probability that configurations are feasible, by a separate Gaussian process.

    Args:
        features: encoding of configurations.
        trials: launches, some of which violated a requirement.
        fits: known fits of hyperparameters.
    """

    def __init__(
        self, features: Features, trials: Sequence[Trial], fits: Fits | None = None
    ) -> None:
        measured = [t for t in trials if t.slack is not None]
        self._features = features
        self._indices = {
            c: i for i, c in enumerate(dict.fromkeys(t.configuration for t in measured))
        }
        self._surrogate = None
        if len(self._indices) > 1:
            key = FitKey(("slack", *features.settings), fitted_trials(measured))
            fits = fits or Fits()
            fitted = fits.get(key, lambda: Likelihood(_slacks(features, key.trials)).fitted())
            self._surrogate = Surrogate(_slacks(features, measured), hyperparameters=fitted)

    def likely(
        self, configurations: Sequence[Configuration], chance: float = MIN_PROBABILITY
    ) -> npt.NDArray[np.bool_]:
        """Return which configurations are likely enough to be feasible to be launched (again).

        Args:
            configurations: launched or not.
            chance: minimum probability for a configuration that was not launched.
        """
        import numpy as np
        from scipy.special import ndtr

        if self._surrogate is None or not configurations:
            return np.ones(len(configurations), dtype=bool)
        known = np.array([self._indices.get(c, -1) for c in configurations], dtype=np.intp)
        mean, deviation = self._surrogate.predict(self._features.rows(configurations), known)
        found = ndtr(mean / deviation)
        fresh = known < 0
        if np.count_nonzero(fresh) > MIN_CANDIDATES:
            chance = min(chance, float(np.sort(found[fresh])[-MIN_CANDIDATES]))
        return np.asarray(found >= np.where(fresh, chance, MIN_RELAUNCH_PROBABILITY))


def _slacks(features: Features, trials: Sequence[Trial]) -> TrainingData:
    """Return the slack of launches in the form of the surrogate."""
    import numpy as np

    rows = list(dict.fromkeys(t.configuration for t in trials))
    indices = {c: i for i, c in enumerate(rows)}
    return TrainingData(
        rows=features.rows(rows),
        which=np.array([indices[t.configuration] for t in trials], dtype=np.intp),
        block=np.array([t.block for t in trials], dtype=np.intp),
        values=np.array([t.slack for t in trials]),
        noise=slack_deviation(trials) ** 2,
    )
