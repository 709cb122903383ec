"""Optuna in its usual form: one launch for each trial, the best value wins."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from assay.testing.replay.coding import Coding
from assay.testing.replay.method import MethodResult
from assay.testing.replay.observations import ObservedMinimum
from assay.testing.replay.world import World

if TYPE_CHECKING:
    import optuna


class OptunaSearch:
    """One of Optuna's samplers with its own settings, the default first.

    A proposal outside the table is repaired to the nearest point, and Optuna gets the launched
    point.

    Args:
        name: ``tpe`` or ``gp`` (which requires torch).
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def search(self, world: World, launches: int, seed: int) -> MethodResult:
        """See ``Method.search``."""
        return next(self.search_each(world, (launches,), seed))

    def search_each(self, world: World, counts: Sequence[int], seed: int) -> Iterator[MethodResult]:
        """See ``AnytimeMethod.search_each``: samplers do not know the number of trials."""
        import optuna
        from optuna.distributions import BaseDistribution, CategoricalDistribution, IntDistribution

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        coding = Coding(world.table)
        space: dict[str, BaseDistribution] = {
            name: IntDistribution(0, len(coding.domains[i]) - 1)
            if coding.ordered(i)
            else CategoricalDistribution(list(range(len(coding.domains[i]))))
            for i, name in enumerate(coding.columns)
        }
        study = optuna.create_study(sampler=self._sampler(seed))
        study.enqueue_trial(_params(coding, world.default))
        seen, invalid, think_s = ObservedMinimum(world), 0, []
        for count in counts:
            while world.launches < count:
                began = time.perf_counter()
                trial = study.ask(space)
                think_s.append(time.perf_counter() - began)
                point, exact = coding.nearest([trial.params[name] for name in coding.columns])
                invalid += not exact
                cost = seen.launch(point)
                if exact:
                    study.tell(trial, cost)
                    continue
                study.tell(trial, state=optuna.trial.TrialState.FAIL)  # regarded as never proposed
                study.add_trial(
                    optuna.trial.create_trial(
                        params=_params(coding, point), distributions=space, value=cost
                    )
                )
            yield seen.found(invalid, tuple(think_s))

    def _sampler(self, seed: int) -> optuna.samplers.BaseSampler:
        import optuna

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            if self.name == "gp":
                return optuna.samplers.GPSampler(seed=seed)
            return optuna.samplers.TPESampler(seed=seed, multivariate=True)


def _params(coding: Coding, point: int) -> dict[str, int]:
    return {name: int(coding.places[point, i]) for i, name in enumerate(coding.columns)}
