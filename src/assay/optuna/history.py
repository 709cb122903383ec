"""Trials of an Optuna study that guide a search of assay."""

from __future__ import annotations

import math
from collections.abc import Mapping

from assay.api.functions.argument_types import demand_type, shown
from assay.errors import InvalidInputError
from assay.optuna.library import optuna
from assay.optuna.parameters import label
from assay.records import Configuration, Goal, ImportedTrials, TriedConfiguration


def read_study(
    study: optuna.Study, names: Mapping[str, str] | None = None, *, prefix: str = ""
) -> ImportedTrials:
    """Return the finished trials of an Optuna study, for ``history`` of a search.

    They guide the search. Every claim rests on fresh measurements.

    Args:
        study: study with one objective, whose values are above 0.
        names: names of settings by name of the parameter (default: the same names).
        prefix: text before the name of each other parameter, such as ``arg.``.

    Raises:
        InvalidInputError: the value is no study of Optuna, or the study has several objectives, no
            trial, or a value that is not above 0.

    Example:
        >>> import assay.optuna, optuna
        >>> study = optuna.create_study(direction="maximize")
        >>> study.optimize(lambda trial: 100.0 * trial.suggest_int("batch", 1, 4), n_trials=8)
        >>> history = assay.optuna.read_study(study, prefix="arg.")
        >>> len(history.trials)
        8
    """
    if not isinstance(study, optuna.Study):
        raise _not_loaded(study)
    demand_type(names, Mapping[str, str] | None, "names")
    if len(study.directions) != 1:
        raise InvalidInputError(
            f"Study {study.study_name} has {len(study.directions)} objectives.",
            "Give a study with one objective.",
        )
    higher = study.directions[0] is optuna.study.StudyDirection.MAXIMIZE
    found = tuple(
        TriedConfiguration(
            configuration=_configuration(trial, names or {}, prefix),
            value=_value(study.study_name, trial),
        )
        for trial in study.get_trials(deepcopy=False)
        if trial.state in (optuna.trial.TrialState.COMPLETE, optuna.trial.TrialState.FAIL)
    )
    if not found:
        raise InvalidInputError(f"Study {study.study_name} has no finished trial.", "Run it first.")
    goal = Goal.HIGHER if higher else Goal.LOWER
    return ImportedTrials(name=f"optuna:{study.study_name}", goal=goal, trials=found)


def _not_loaded(study: object) -> InvalidInputError:
    """Return the error for a value that is no study; the URL of a storage may have a password."""
    if isinstance(study, str) and "://" in study:
        return InvalidInputError(
            "The URL of a storage is no study of Optuna.",
            "Load the study first: optuna.load_study(study_name=NAME, storage=URL).",
        )
    step = "Give the object that optuna.create_study or optuna.load_study returned."
    if isinstance(study, str):
        step = f"Load it first: optuna.load_study(study_name={study!r}, storage=URL)."
    return InvalidInputError(f"Invalid study of Optuna: {shown(study)}.", step)


def _configuration(
    trial: optuna.trial.FrozenTrial, names: Mapping[str, str], prefix: str
) -> Configuration:
    return Configuration(
        {names.get(name, f"{prefix}{name}"): label(value) for name, value in trial.params.items()}
    )


def _value(study: str, trial: optuna.trial.FrozenTrial) -> float | None:
    """Return the value of a trial; ``None`` if it failed.

    Raises:
        InvalidInputError: the value has no logarithm.
    """
    if trial.state is not optuna.trial.TrialState.COMPLETE or trial.value is None:
        return None
    if not 0.0 < trial.value < math.inf:
        raise InvalidInputError(
            f"Trial {trial.number} of study {study} has the value {trial.value:g}; assay compares "
            "ratios.",
            "Give a study whose values are above 0.",
        )
    return trial.value
