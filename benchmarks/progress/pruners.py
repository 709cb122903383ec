"""Optuna on the simulated job: a sampler with and without pruners, on the same time as assay.

Whole trials report the mean time of a step after each period, and a pruner may end them. The answer
is the best complete trial. All trials know the warm-up, which Optuna does not find itself.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import optuna
from optuna.pruners import (
    BasePruner,
    HyperbandPruner,
    MedianPruner,
    NopPruner,
    SuccessiveHalvingPruner,
)

from assay.records import Configuration

from .jobs import Array, Job, launches

PRUNERS: dict[str, Callable[[], BasePruner]] = {
    "TPE": NopPruner,
    "TPE, median": MedianPruner,
    "TPE, successive halving": SuccessiveHalvingPruner,
    "TPE, Hyperband": HyperbandPruner,
}
"""Pruners of whole trials, with their default parameters."""
SHORT = "TPE, short launches"
SHORT_STEPS = 100
"""Steady steps of a short trial."""
METHODS = (*PRUNERS, SHORT)

Factor = Callable[[Configuration], float]


def recommended(
    method: str, job: Job, sizes: tuple[int, ...], factor: Factor, time_s: float, seed: int
) -> Configuration:
    """Return the configuration that Optuna finds; the default if no trial is complete.

    Args:
        method: one of ``METHODS``.
        job: simulated job; it writes checkpoints.
        sizes: number of values of each setting, named ``arg.s0`` and so on.
        factor: returns the effect of a configuration on the time of a step.
        time_s: budget.
        seed: seed of launches and sampler.
    """
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    steps = job.warm_up + SHORT_STEPS if method == SHORT else job.whole
    rng = np.random.default_rng(seed)
    study = optuna.create_study(
        study_name=f"{method} {seed}",  # brackets of Hyperband follow from the name
        sampler=optuna.samplers.TPESampler(seed=seed),
        pruner=PRUNERS.get(method, NopPruner)(),
    )
    names = [f"arg.s{number}" for number in range(len(sizes))]
    study.enqueue_trial(dict.fromkeys(names, "v0"))
    left_s = time_s
    while True:
        trial = study.ask()
        settings = {
            name: trial.suggest_categorical(name, [f"v{value}" for value in range(size)])
            for name, size in zip(names, sizes, strict=True)
        }
        ends = launches(job, rng, np.array([factor(Configuration(settings))]), steps)[0]
        took_s, value = _measured(trial, job, ends)
        if took_s > left_s:
            break
        left_s -= took_s
        if value is None:
            study.tell(trial, state=optuna.trial.TrialState.PRUNED)
        else:
            study.tell(trial, value)
    complete = [t for t in study.trials if t.state is optuna.trial.TrialState.COMPLETE]
    if not complete:
        return Configuration()
    return Configuration(min(complete, key=lambda t: t.values[0]).params)


def _measured(trial: optuna.Trial, job: Job, ends: Array) -> tuple[float, float | None]:
    """Return the time of a trial, and its mean time of a step; ``None`` if it was pruned.

    Args:
        trial: receives the mean after each period.
        job: simulated job.
        ends: time at the end of each step.
    """
    begin, value = float(ends[job.warm_up]), 0.0
    for step in range(job.warm_up + job.every, len(ends), job.every):
        value = (float(ends[step]) - begin) / (step - job.warm_up)
        trial.report(value, step)
        if trial.should_prune():
            return float(ends[step]), None
    return float(ends[-1]), value
