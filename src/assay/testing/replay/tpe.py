"""Optuna's tree-structured Parzen estimator behind the ``Searcher`` protocol.

Optuna was chosen over SMAC and Nevergrad for its size and maintenance. Its store is not used: the
study is rebuilt from the observations for every batch, which takes milliseconds and makes proposals
a function of the data.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from assay.records import Choices, Configuration, Range, Value
from assay.search.model.sample_means import SampleMeans, mean_effects
from assay.search.model.searcher import Trial, fresh_configurations, launched_configurations
from assay.search.space.search_space import SearchSpace

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

NOT_SET = "(left alone)"
"""Category of a setting that is not set."""


class TpeSearcher(SampleMeans):
    """Multivariate TPE.

    Time-outs are capped values: Optuna ignores failed trials, and would propose them again. Failed
    configurations get the worst observed value.

    Args:
        startup: number of random configurations before proposals of the model.
    """

    name = "tpe"

    def __init__(self, startup: int = 10) -> None:
        self.startup = startup

    def propose(
        self, space: SearchSpace, trials: Sequence[Trial], count: int, seed: int
    ) -> list[Configuration]:
        """See ``Searcher.propose``."""
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        rng = random.Random(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            sampler = optuna.samplers.TPESampler(
                n_startup_trials=self.startup, multivariate=True, constant_liar=True, seed=seed
            )
        study = optuna.create_study(sampler=sampler)
        distributions = _distributions(space)
        seen = mean_effects(trials)
        worst = max((s.score for s in seen if s.launches), default=0.0)
        for standing in seen:
            study.add_trial(
                optuna.trial.create_trial(
                    params=_encode(space, standing.configuration),
                    distributions=distributions,
                    value=standing.score if standing.launches else worst,
                )
            )
        wanted = [_decode(study.ask(distributions).params) for _ in range(count)]
        return fresh_configurations(space, wanted, launched_configurations(trials), count, rng)


def _distributions(space: SearchSpace) -> dict[str, BaseDistribution]:
    """Return the Optuna distributions of parameters; optional ranges need two."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    found: dict[str, BaseDistribution] = {}
    for name, parameter in space.parameters.items():
        domain = parameter.domain
        if isinstance(domain, Range) and not (domain.log and domain.step):
            if parameter.default is None:
                found[f"{name}?"] = CategoricalDistribution((NOT_SET, "set"))
            high = _highest(domain)
            if domain.integer:
                step = 1 if domain.log else int(domain.step or 1)
                found[name] = IntDistribution(int(domain.low), int(high), step=step, log=domain.log)
            else:
                found[name] = FloatDistribution(domain.low, high, step=domain.step, log=domain.log)
        else:
            options = space.options(name) or ()
            found[name] = CategoricalDistribution(
                [_category(v, parameter.default) for v in options]
            )
    return found


def _highest(domain: Range) -> float:
    """Return the highest value that the steps reach."""
    values = domain.values()
    return float(values[-1]) if values else domain.high


def _category(value: Value | None, default: Value | None) -> Value:
    """Return the category of an option; a string stands for ``None``, since Optuna uses ``==``."""
    if value is not None:
        return value
    return default if default is not None else NOT_SET


def _encode(space: SearchSpace, configuration: Configuration) -> dict[str, Any]:
    """Return a configuration as Optuna's parameters."""
    params: dict[str, Any] = {}
    for name, distribution in _distributions(space).items():
        if name.endswith("?") and name[:-1] in space.parameters:
            params[name] = "set" if name[:-1] in configuration else NOT_SET
            continue
        parameter = space.parameters[name]
        value = configuration.get(name)
        if value is None:
            value = _stand_in(parameter.domain, parameter.default)
        params[name] = value
        assert distribution is not None
    return params


def _stand_in(domain: Choices | Range | Any, default: Value | None) -> Value:
    """Return the value that replaces a parameter that is not set."""
    if default is not None:
        return default
    if isinstance(domain, Range) and not (domain.log and domain.step):
        values = domain.values()
        return values[len(values) // 2] if values else domain.at(0.5)
    return NOT_SET


def _decode(params: dict[str, Any]) -> Configuration:
    """Return Optuna's parameters as a configuration, not yet canonical."""
    left_alone = {name[:-1] for name, v in params.items() if name.endswith("?") and v == NOT_SET}
    return Configuration(
        {
            name: value
            for name, value in params.items()
            if not name.endswith("?") and value != NOT_SET and name not in left_alone
        }
    )
