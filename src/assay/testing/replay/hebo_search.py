"""HEBO in its usual form: one suggestion at a time, the best value wins."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from assay.errors import NotPossibleError
from assay.testing.replay.coding import Coding
from assay.testing.replay.method import MethodResult
from assay.testing.replay.observations import ObservedMinimum
from assay.testing.replay.world import World


class HeboSearch:
    """A Gaussian process with warped inputs and outputs (Cowen-Rivers et al., JAIR 2022).

    The default is observed first. A suggestion outside the table is repaired to the nearest point,
    and HEBO observes the launched point.
    """

    name = "hebo"

    def search(self, world: World, launches: int, seed: int) -> MethodResult:
        """See ``Method.search``."""
        return next(self.search_each(world, (launches,), seed))

    def search_each(self, world: World, counts: Sequence[int], seed: int) -> Iterator[MethodResult]:
        """See ``AnytimeMethod.search_each``.

        Raises:
            NotPossibleError: HEBO is not installed.
        """
        import numpy as np

        try:
            import pandas as pd  # type: ignore[import-untyped]
            import torch
            from hebo.design_space.design_space import (  # type: ignore[import-not-found]
                DesignSpace,
            )
            from hebo.optimizers.hebo import HEBO  # type: ignore[import-not-found]
        except ImportError as error:
            raise NotPossibleError("HEBO is not installed.", "pip install HEBO") from error
        np.random.seed(seed)  # HEBO draws from it
        torch.manual_seed(seed)
        torch.set_num_threads(1)
        coding = Coding(world.table)
        space = DesignSpace().parse([_parameter(coding, i) for i in range(len(coding.columns))])
        optimiser = HEBO(space, scramble_seed=seed)
        seen, invalid, think_s = ObservedMinimum(world), 0, []

        def observe(point: int) -> None:
            cost = seen.launch(point)
            ran = [[int(place) for place in coding.places[point]]]
            optimiser.observe(pd.DataFrame(ran, columns=coding.columns), np.array([[cost]]))

        observe(world.default)
        for count in counts:
            while world.launches < count:
                began = time.perf_counter()
                asked = _quietly(optimiser)
                think_s.append(time.perf_counter() - began)
                wanted = [int(asked[name].iloc[0]) for name in coding.columns]
                point, exact = coding.nearest(wanted)
                invalid += not exact
                observe(point)
            yield seen.found(invalid, tuple(think_s))


def _quietly(optimiser: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return optimiser.suggest(n_suggestions=1)


def _parameter(coding: Coding, column: int) -> dict[str, Any]:
    name, last = coding.columns[column], len(coding.domains[column]) - 1
    if coding.ordered(column):
        return {"name": name, "type": "int", "lb": 0, "ub": last}
    return {"name": name, "type": "cat", "categories": list(range(last + 1))}
