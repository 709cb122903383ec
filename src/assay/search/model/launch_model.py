"""Launch model: the surrogate of the launches of a search, and the sparse models beside it."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence

from assay.records import Configuration, EarlierStudy
from assay.search.model.feasibility import any_violation, feasible_configurations
from assay.search.model.features import Features
from assay.search.model.fit_schedule import (
    MIN_REUSED,
    FitKey,
    Fits,
    adapting_iterations,
    conditioned_trials,
    fitted_trials,
)
from assay.search.model.hyperparameters import Hyperparameters, Priors
from assay.search.model.launch_precision import Launches
from assay.search.model.likelihood import Likelihood
from assay.search.model.searcher import Trial, noise_variance, successful_configurations
from assay.search.model.sparse import SparseModels
from assay.search.model.surrogate import Surrogate
from assay.search.model.tasks import TrainingData

MAX_FURTHER_ITERATIONS = 10
"""Maximum number of iterations of a fit to clipped values that begins with the fit to all."""


class LaunchModel:
    """A surrogate with the row number of each configuration.

    A failed configuration gets the worst observed value, since its neighbours are likely to fail
    too.

    Args:
        features: encoding of configurations.
        trials: launches, with values of at least two configurations.
        priors: priors of the surrogate.
        fits: known fits of hyperparameters.
        clipped_at: quantile of the values above which they are clipped.
        earlier: results of earlier studies on configurations of the space.
        unclipped: model of the same launches without clipping, if there is one.
    """

    def __init__(
        self,
        features: Features,
        trials: Sequence[Trial],
        priors: Priors,
        fits: Fits,
        clipped_at: float = 1.0,
        earlier: Sequence[EarlierStudy] = (),
        unclipped: LaunchModel | None = None,
    ) -> None:
        start: Hyperparameters | None = unclipped.reused if unclipped else None
        part = fitted_trials(trials)
        key = FitKey(tuple(features.settings), part, clipped_at, tuple(earlier))
        self.reused: Hyperparameters = _fitted(features, key, priors, fits, start)
        """Hyperparameters of several blocks, from which each block adapts its own."""
        launched = dict.fromkeys(t.configuration for t in trials)
        trials = conditioned_trials(trials)
        self.trials = trials
        self.indices = _numbered(trials)
        self.left_out = launched.keys() - self.indices.keys()
        able = successful_configurations(trials)
        self.failed = {c for c in self.indices if c not in able}
        self.launches = Counter(t.configuration for t in trials if t.value is not None)
        self.requiring = any_violation(trials) and bool(feasible_configurations(trials))
        self.able = [c for c in self.indices if c in able]
        data, rows = training_data(features, trials, clipped_at, earlier)
        self.known_configurations = rows[len(self.indices) :]
        self._features = features
        iterations = adapting_iterations(len(part), len(trials))
        self.surrogate = Surrogate(data, priors, self.reused, iterations)

    @functools.cached_property
    def belief(self) -> SparseModels:
        """Sparse models averaged with the surrogate as the dense model."""
        import numpy as np

        usable = [t for t in self.trials if t.value is not None or t.configuration in self.failed]
        among = [i for i, t in enumerate(usable) if t.value is not None]
        values = [usable[i].value for i in among]
        launches = Launches(
            rows=self._features.rows(list(self.indices)),
            which=np.array([self.indices[usable[i].configuration] for i in among], dtype=np.intp),
            block=np.array([usable[i].block for i in among], dtype=np.intp),
            values=np.array(values, dtype=np.float64),
        )
        return SparseModels(
            launches,
            tuple(self._features.settings.values()),
            self.surrogate,
            np.array(among, dtype=np.intp),
        )


def _fitted(
    features: Features, key: FitKey, priors: Priors, fits: Fits, start: Hyperparameters | None
) -> Hyperparameters:
    """Return the hyperparameters that are fitted to launches.

    Args:
        features, priors, fits: as for ``LaunchModel``.
        key: the launches, and how they are used.
        start: hyperparameters for the same launches without clipping.
    """

    def fit() -> Hyperparameters:
        data, _ = training_data(features, key.trials, key.clipped_at, key.earlier)
        likelihood = Likelihood(data, priors)
        if start is None or len(key.trials) < MIN_REUSED:
            return likelihood.fitted()
        return likelihood.fitted(start.vector, MAX_FURTHER_ITERATIONS)

    return fits.get(key, fit)


def training_data(
    features: Features,
    trials: Sequence[Trial],
    clipped_at: float,
    earlier: Sequence[EarlierStudy],
) -> tuple[TrainingData, list[Configuration]]:
    """Return launches and earlier results in the form of the surrogate, and its configurations."""
    import numpy as np

    rows = _numbered(trials)
    able = successful_configurations(trials)
    usable = [t for t in trials if t.value is not None or t.configuration not in able]
    # In a separate block: a failure has no information on the speed of the machine.
    blocks = [-1 - i if t.value is None else t.block for i, t in enumerate(usable)]
    values = _clipped([t.value for t in usable], clipped_at)
    which = [rows[t.configuration] for t in usable]
    tasks, counts = [0] * len(usable), [trial.weight for trial in usable]
    for task, one in enumerate(earlier, start=1):
        for known in one.known_configurations:
            which.append(rows.setdefault(known.configuration, len(rows)))
            blocks.append(-1 - len(blocks))
            tasks.append(task)
            counts.append(known.launches)
        values += _clipped([known.log_ratio for known in one.known_configurations], clipped_at)
    data = TrainingData(
        rows=features.rows(list(rows)),
        which=np.array(which, dtype=np.intp),
        block=np.array(blocks, dtype=np.intp),
        values=np.array(values),
        noise=noise_variance(trials),
        task=np.array(tasks, dtype=np.intp),
        counts=np.array(counts, dtype=np.float64),
    )
    return data, list(rows)


def _numbered(trials: Sequence[Trial]) -> dict[Configuration, int]:
    """Return the configurations with their numbers, in the order of their first launch."""
    found: dict[Configuration, int] = {}
    for trial in trials:
        found.setdefault(trial.configuration, len(found))
    return found


def _clipped(values: Sequence[float | None], at: float) -> list[float]:
    """Return values clipped at this quantile, which also replaces the values of failed launches."""
    import numpy as np

    most = float(np.quantile([v for v in values if v is not None], at))
    return [most if v is None else min(most, v) for v in values]
