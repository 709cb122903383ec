"""Feasible: which configurations keep what is required, as far as a search knows.

Beside the objective a second process models by how much launches keep the requirements (``slack``):
how far beyond its limit a figure lies says where it will be within, which "it failed" would not
(Gelbart, Snoek and Adams, UAI 2014, model constraints so). What is not likely to keep them is not
proposed; of what was launched only what seems to keep them for sure can win.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.records import DEFAULT, Configuration
from assay.records.requirement import MEDIAN
from assay.search.model.features import Features
from assay.search.model.searcher import Trial
from assay.search.model.surrogate import Surrogate, TrainingData

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MIN_PROBABILITY = 0.7
"""What keeps the requirements with a smaller chance is not launched. Lower, and most launches of a
search break them where they and the objective pull against each other."""
MIN_RELAUNCH_PROBABILITY = 0.5
"""What was launched and keeps them with a smaller chance is not launched again, or taken for the
best so far."""
CONFIRMATION_PROBABILITY = 0.95
"""What was never launched is to keep them with this chance, to be confirmed in place of what was:
a winner that breaks them leaves a study without an answer."""
MIN_CANDIDATES = 40
"""Of what was not launched yet so many stay open, the likeliest: a model that is sure of the rest
after two blocks is only sure of itself."""
MIN_SLACK_DEVIATIONS = 1.0
"""So many standard deviations of a launch the winner's mean is to lie within the bound: nearer to
it a confirmation could not show that it holds."""
NOISE_PRIOR = (1.0, 0.01)
"""How many replicates' worth it is believed, before any are there, that slack varies by so much."""


def any_violation(trials: Sequence[Trial]) -> bool:
    """Whether any launch broke a requirement."""
    return any(t.slack is not None and t.slack < 0.0 for t in trials)


def slack_deviation(trials: Sequence[Trial]) -> float:
    """Standard deviation of slack about the mean of its configuration, pooled."""
    weight, usual = NOISE_PRIOR
    squares, degrees = weight * usual**2, weight
    for values in _by_configuration(trials).values():
        mean = math.fsum(values) / len(values)
        squares += math.fsum((v - mean) ** 2 for v in values)
        degrees += len(values) - 1
    return math.sqrt(squares / degrees)


def adjust_slack_to_share(trials: Sequence[Trial], share: float) -> list[Trial]:
    """The same launches, with a slack whose mean is at least 0 where a share of them keeps a bound.

    For a half that is the slack itself; else as much less as that quantile of Gaussian slack lies
    below its mean.
    """
    from scipy.special import ndtri

    if share == MEDIAN:
        return list(trials)
    less = float(ndtri(share)) * slack_deviation(trials)
    return [t if t.slack is None else replace(t, slack=t.slack - less) for t in trials]


def feasible_configurations(trials: Sequence[Trial]) -> set[Configuration]:
    """The launched configurations that keep what is required: all where nothing is.

    Those that seem to for sure; where there are none, those that do on average. The default is one
    of them unless it breaks it on average: it is not a matter of choice.
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
    """Those that break it, by more than what one does not know of their mean."""
    deviation = slack_deviation(trials)
    return {
        c
        for c, values in _by_configuration(trials).items()
        if math.fsum(values) / len(values) < -deviation / math.sqrt(len(values))
    }


def is_default_infeasible(trials: Sequence[Trial]) -> bool:
    """Whether the default breaks it on average."""
    values = _by_configuration(trials).get(DEFAULT)
    return values is not None and math.fsum(values) < 0.0


def minimise_violation(trials: Sequence[Trial]) -> list[Trial]:
    """The same launches, told so that the best is what keeps the requirements by most.

    That is what is to be found as long as nothing is known that keeps them.
    """
    return [t if t.slack is None else replace(t, value=-t.slack) for t in trials]


def _by_configuration(trials: Sequence[Trial]) -> dict[Configuration, list[float]]:
    found: dict[Configuration, list[float]] = {}
    for trial in trials:
        if trial.slack is not None:
            found.setdefault(trial.configuration, []).append(trial.slack)
    return found


class Feasibility:
    """The chance that configurations keep what is required, by a process of its own.

    Args:
        features: places configurations.
        trials: launches, some of which broke it.
    """

    def __init__(self, features: Features, trials: Sequence[Trial]) -> None:
        import numpy as np

        told = [t for t in trials if t.slack is not None]
        self._features = features
        self._places: dict[Configuration, int] = {}
        for trial in told:
            self._places.setdefault(trial.configuration, len(self._places))
        self._surrogate = None
        if len(self._places) > 1:
            self._surrogate = Surrogate(
                TrainingData(
                    rows=features.rows(list(self._places)),
                    which=np.array([self._places[t.configuration] for t in told], dtype=np.intp),
                    block=np.array([t.block for t in told], dtype=np.intp),
                    values=np.array([t.slack for t in told]),
                    noise=slack_deviation(trials) ** 2,
                )
            )

    def likely(
        self, configurations: Sequence[Configuration], chance: float = MIN_PROBABILITY
    ) -> npt.NDArray[np.bool_]:
        """Which of them are likely enough to keep it to be launched, or launched again.

        Args:
            configurations: launched or not.
            chance: that one that was not launched is to have at least.
        """
        import numpy as np
        from scipy.special import ndtr

        if self._surrogate is None or not configurations:
            return np.ones(len(configurations), dtype=bool)
        known = np.array([self._places.get(c, -1) for c in configurations], dtype=np.intp)
        mean, deviation = self._surrogate.predict(self._features.rows(configurations), known)
        found = ndtr(mean / deviation)
        fresh = known < 0
        if np.count_nonzero(fresh) > MIN_CANDIDATES:
            chance = min(chance, float(np.sort(found[fresh])[-MIN_CANDIDATES]))
        return np.asarray(found >= np.where(fresh, chance, MIN_RELAUNCH_PROBABILITY))
