"""SMAC3 in its usual form for a program's settings: the facade for hyperparameters."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from assay.errors import NotPossibleError
from assay.testing.replay.coding import Coding
from assay.testing.replay.method import MethodResult
from assay.testing.replay.observations import ObservedMinimum
from assay.testing.replay.world import World


class SmacSearch:
    """A random forest and expected improvement, one launch a configuration, the default first."""

    name = "smac"

    def search(self, world: World, launches: int, seed: int) -> MethodResult:
        """See ``Method.search``.

        Raises:
            NotPossibleError: SMAC is not installed.
        """
        try:
            import smac  # type: ignore[import-not-found]
            from ConfigSpace import (  # type: ignore[import-not-found]
                CategoricalHyperparameter,
                Configuration,
                ConfigurationSpace,
                OrdinalHyperparameter,
            )
        except ImportError as error:
            raise NotPossibleError("SMAC is not installed.", "pip install smac") from error
        coding = Coding(world.table)
        default = coding.places[world.default]
        space = ConfigurationSpace(seed=seed)
        for i, name in enumerate(coding.columns):
            choices = list(range(len(coding.domains[i])))
            made = OrdinalHyperparameter if coding.ordered(i) else CategoricalHyperparameter
            space.add(made(name, choices, default_value=int(default[i])))
        seen = ObservedMinimum(world)
        invalid, think_s = 0, []
        with tempfile.TemporaryDirectory() as folder:
            facade = _facade(smac, space, launches, seed, Path(folder))
            for _ in range(launches):
                began = time.perf_counter()
                asked = facade.ask()
                think_s.append(time.perf_counter() - began)
                wanted = [int(asked.config[name]) for name in coding.columns]
                point, exact = coding.nearest(wanted)
                invalid += not exact
                cost = seen.launch(point)
                ran = {name: int(coding.places[point, i]) for i, name in enumerate(coding.columns)}
                _tell(smac, facade, asked, Configuration(space, values=ran), cost)
        return seen.found(invalid, think_s)


def _facade(smac: Any, space: Any, launches: int, seed: int, folder: Path) -> Any:
    scenario = smac.Scenario(
        space,
        deterministic=True,
        n_trials=launches,
        seed=seed,
        output_directory=folder,
        use_default_config=True,
    )
    kind = smac.HyperparameterOptimizationFacade
    return kind(scenario, _never, overwrite=True, logging_level=False)


def _never(config: Any, seed: int = 0) -> float:
    """Stand in for the objective function that the facade requires; ask and tell replace it."""
    raise AssertionError("SMAC uses ask and tell")


def _tell(smac: Any, facade: Any, asked: Any, ran: Any, cost: float) -> None:
    """Report a launch; a proposal that was repaired gets the same cost."""
    value = smac.runhistory.TrialValue(cost=cost)
    facade.tell(asked, value)
    if ran != asked.config:
        info = smac.runhistory.TrialInfo(config=ran, seed=asked.seed)
        facade.tell(info, value, save=False)
