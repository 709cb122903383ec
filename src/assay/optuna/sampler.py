"""Sampler of Optuna that proposes configurations as a session of assay deals them."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from assay.api.functions.quantities import Duration
from assay.api.trials.guard import OwnerGuard
from assay.api.trials.session import Session
from assay.api.trials.trial import Trial
from assay.errors import InvalidInputError, NotPossibleError
from assay.optuna.library import optuna
from assay.optuna.parameters import (
    Domains,
    choice_of,
    distribution_of,
    domain_of,
    first_value,
    label,
    varied,
)
from assay.records import Claim

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.study import Study
    from optuna.trial import FrozenTrial, TrialState

    from assay.api.results.result import Result


class AssaySampler(optuna.samplers.BaseSampler):
    """Sampler that repeats promising configurations in blocks with the default.

    The parameters of the first complete trial are the space, and its values are the default, which
    is evaluated again in most blocks. Parameters that appear later are sampled at random. When the
    budget is spent, the sampler stops ``Study.optimize``; ``result()`` then has assay's answer. It
    is unproven after one process: give its id as ``study`` to the sampler of the next process, and
    from six confirming processes on claims are possible.

    Optuna must run one trial at a time (``n_jobs=1``), with one objective whose values are above 0.

    Args:
        study: id of the study of assay to continue, its beginning, or ``last`` (default: a new
            one).
        default: values of the first trial by name (default: first choices and low ends).
        budget: time of the trials in this process (default: 10 minutes if ``n_trials`` is absent
            too).
        n_trials: number of trials in this process (default: no limit).
        metric: name of the objective in assay's study.
        margin: margin of equivalence, as a share (default: 1 %).
        seed: seed of all random choices.
        db: path or URL of assay's store (default: as for ``assay.Session``).

    Raises:
        InvalidInputError: a value is invalid.

    Example:
        >>> import assay.optuna, optuna
        >>> sampler = assay.optuna.AssaySampler(n_trials=30)
        >>> study = optuna.create_study(sampler=sampler, direction="maximize")
        >>> study.optimize(lambda trial: 300.0 + trial.suggest_categorical("batch", [32, 64]))
        >>> str(sampler.result().verdict)
        'unproven'
    """

    def __init__(
        self,
        *,
        study: str | None = None,
        default: Mapping[str, object] | None = None,
        budget: Duration | None = None,
        n_trials: int | None = None,
        metric: str = "value",
        margin: float | None = None,
        seed: int = 0,
        db: str | None = None,
    ) -> None:
        if n_trials is not None:
            _demand_count(n_trials)
        self._default = dict(default or {})
        self._metric = metric
        self._options = {"budget": budget, "runs": n_trials, "db": db}
        self._of_first = {"margin": margin, "seed": seed}
        self._random = optuna.samplers.RandomSampler(seed=seed)
        self._guard = OwnerGuard()
        self._session: Session | None = None
        self._space: dict[str, BaseDistribution] = {}
        self._open: Trial | None = None
        self._proposed_to: int | None = None
        self._ended = False
        if study is not None:
            self._session = Session(study=study, **self._options)  # type: ignore[arg-type]

    def reseed_rng(self) -> None:
        """Reseed the sampler of parameters that are outside the space."""
        self._random.reseed_rng()

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """Return the parameters that assay proposes; none before the first complete trial."""
        self._demand_usable(study)
        if self._session is not None and not self._space and not self._ended:
            self._next(study)  # a continued study: its space is known once it has begun
            space = self._session.space
            if space is not None:
                self._space = {p.name: distribution_of(p) for p in space.parameters}
        return {} if self._ended else self._space

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Return the configuration that the session dealt."""
        self._demand_usable(study)
        if self._open is None or not search_space:
            return {}
        if self._proposed_to not in (None, trial.number):
            raise NotPossibleError(
                f"Trial {self._proposed_to} still runs, and assay deals one trial at a time.",
                "Call study.optimize with n_jobs=1, or study.tell before the next study.ask.",
            )
        self._proposed_to = trial.number
        return {
            name: choice_of(distribution, self._open[name])
            for name, distribution in search_space.items()
        }

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """Return a value of a parameter outside the space: its default in the first trial."""
        if self._session is not None and not self._ended:
            return self._random.sample_independent(study, trial, param_name, param_distribution)
        if self._ended and self._session is not None and param_name in self._session.settings:
            return choice_of(param_distribution, self._session.settings[param_name])
        return self._default.get(param_name, first_value(param_distribution))

    def after_trial(
        self,
        study: Study,
        trial: FrozenTrial,
        state: TrialState,
        values: Sequence[float] | None,
    ) -> None:
        """Tell the session the value of a finished trial, and let it deal the next one."""
        self._demand_own_thread()
        value = _value(trial, state, values)
        if self._session is None:
            if value is not None:
                self._begin(study, trial, value)
            return
        if self._open is None or self._ended:
            return
        proposed, self._proposed_to = self._proposed_to, None
        if proposed != trial.number or "fixed_params" in trial.system_attrs:
            return  # an enqueued trial, with other values than the dealt ones
        if not self._is_as_proposed(trial):
            self._session.tell(self._open, failed=f"trial {trial.number} has other values")
        elif value is None:
            self._session.tell(self._open, failed=f"trial {trial.number}: {state.name.lower()}")
        else:
            self._tell(self._open, value)
        self._next(study)

    def result(self) -> Result:
        """Return assay's answer over all processes; it ends the session.

        Raises:
            NotPossibleError: no trial is complete.
        """
        if self._session is None:
            raise NotPossibleError(
                "The sampler has seen no complete trial.", "Call study.optimize first."
            )
        self.close()
        return self._session.result

    def close(self) -> None:
        """End the session: another study of this process may begin, and this one continue."""
        if self._session is not None:
            self._session.close()

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Claims of assay with ratio, interval and verdict; empty without any."""
        return self.result().claims

    @property
    def study_id(self) -> str | None:
        """Id of assay's study; ``None`` before the first complete trial."""
        return None if self._session is None else self._session.id

    def _begin(self, study: Study, trial: FrozenTrial, value: float) -> None:
        """Begin the session with the parameters of the first complete trial as the default."""
        space = varied(trial.distributions)
        if not space:
            raise InvalidInputError(
                "The first trial has no parameter with more than one value.",
                "Suggest parameters in the objective function.",
            )
        domains: Domains = {name: domain_of(one) for name, one in space.items()}
        higher = study.directions[0] is optuna.study.StudyDirection.MAXIMIZE
        self._session = Session(
            domains,
            metric=self._metric,
            goal="higher" if higher else "lower",
            default={name: label(trial.params[name]) for name in space},
            **self._options,  # type: ignore[arg-type]
            **self._of_first,  # type: ignore[arg-type]
        )
        self._space = space
        self._next(study)
        if self._open is not None:  # the first trial is the survey of the default
            self._tell(self._open, value)
            self._next(study)

    def _tell(self, trial: Trial, value: float) -> None:
        assert self._session is not None
        trial.report(value)
        self._session.tell(trial)

    def _next(self, study: Study) -> None:
        """Let the session deal the next trial; stop the study of Optuna if there is none."""
        assert self._session is not None
        self._open = self._session.ask()
        if self._open is None:
            self._ended = True
            with contextlib.suppress(RuntimeError):  # outside Study.optimize
                study.stop()

    def _is_as_proposed(self, trial: FrozenTrial) -> bool:
        assert self._open is not None
        return all(
            name not in trial.params or label(trial.params[name]) == self._open[name]
            for name in self._space
        )

    def _demand_own_thread(self) -> None:
        """Raise an error in another thread, as those of ``n_jobs=2``, or in a forked child.

        Raises:
            NotPossibleError: another thread or a forked child calls.
        """
        if self._guard.is_in_other_thread:
            raise NotPossibleError(
                "AssaySampler needs n_jobs=1: parallel trials disturb each other's measurement.",
                "Call study.optimize without n_jobs, in the thread that made the sampler.",
            )
        self._guard.check()

    def _demand_usable(self, study: Study) -> None:
        """Raise an error for another thread, or a study with several objectives.

        Raises:
            NotPossibleError: another thread or a forked child calls.
            InvalidInputError: the study has several objectives.
        """
        self._demand_own_thread()
        if len(study.directions) != 1:
            raise InvalidInputError(
                f"The study has {len(study.directions)} objectives; AssaySampler takes one.",
                "Use assay.tune for several objectives.",
            )


def _demand_count(n_trials: object) -> None:
    """Raise an error if a number of trials is not a whole number above 0.

    Raises:
        InvalidInputError: it is none.
    """
    if isinstance(n_trials, bool) or not isinstance(n_trials, int) or n_trials < 1:
        raise InvalidInputError(
            f"n_trials: {n_trials!r} is not a number of trials.",
            "Give a whole number above 0, as in n_trials=60.",
        )


def _value(trial: FrozenTrial, state: TrialState, values: Sequence[float] | None) -> float | None:
    """Return the value of a finished trial; ``None`` without one.

    Raises:
        InvalidInputError: the value has no logarithm.
    """
    if state is not optuna.trial.TrialState.COMPLETE or not values:
        return None
    if not values[0] > 0.0:
        raise InvalidInputError(
            f"Trial {trial.number} has the value {values[0]:g}; assay compares ratios.",
            "Return values above 0, such as a time or a throughput.",
        )
    return values[0]
