"""Pool of proposals: candidates as seen by a model of the launches."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from assay.records import DEFAULT, Configuration
from assay.search.model.acquisition import Pool, Prediction
from assay.search.model.candidates import Candidates, keys_of
from assay.search.model.feasibility import Feasibility, feasible_configurations
from assay.search.model.features import Features
from assay.search.model.fit_schedule import Fits
from assay.search.model.launch_model import LaunchModel
from assay.search.space.search_space import SearchSpace


@dataclass(frozen=True)
class ProposalPool:
    """Candidates, and the same in the form of the acquisition function.

    Attributes:
        candidates: the candidates.
        pool: their columns, and which of them were launched and may be proposed.
        model: model of the launches.
    """

    candidates: Candidates
    pool: Pool
    model: LaunchModel

    @classmethod
    def of(cls, space: SearchSpace, model: LaunchModel, candidates: Candidates) -> ProposalPool:
        """Return candidates without failed ones.

        Args:
            space: space whose configurations are valid.
            model: model of the launches.
            candidates: configurations without the default.
        """
        import numpy as np

        features = candidates.features
        launched = list(model.indices)
        numbers = dict(zip(keys_of(features.codes(launched)), range(len(launched)), strict=True))
        known = np.array([numbers.get(key, -1) for key in candidates.keys], dtype=np.intp)
        excluded = candidates.places([*model.failed, *model.left_out])
        able = np.ones(len(known), dtype=bool)
        able[excluded[excluded >= 0]] = False

        def is_admitted(at: int) -> bool:
            return known[at] >= 0 or space.valid(candidates.configuration(at))

        admits = None if candidates.is_tested else is_admitted
        pool = Pool(candidates.rows, known, candidates.levels, able, admits)
        return cls(candidates, pool, model)

    @functools.cached_property
    def predicted(self) -> Prediction:
        """Mean and standard deviation of each candidate by the model."""
        return self.model.surrogate.predict(self.pool.rows, self.pool.known)

    def without(self, configurations: Iterable[Configuration]) -> ProposalPool:
        """Return the pool without some configurations."""
        places = self.candidates.places(configurations)
        return replace(self, pool=self.without_places(places[places >= 0].tolist()))

    def without_places(self, places: Sequence[int]) -> Pool:
        """Return the pool for the acquisition function without some candidates."""
        able = self.pool.able.copy()
        able[list(places)] = False
        return replace(self.pool, able=able)


def feasible_pool(
    space: SearchSpace, model: LaunchModel, every: Candidates, fits: Fits
) -> ProposalPool:
    """Return the likely feasible part of a pool; a feasible default stays as the incumbent."""
    import numpy as np

    kept = feasible_configurations(model.trials)
    configurations = every.configurations()
    likely = Feasibility(every.features, model.trials, fits).likely(configurations)
    pairs = enumerate(zip(configurations, likely, strict=True))
    among = [at for at, (c, may) in pairs if c in kept or may]
    codes = every.codes[among]
    if DEFAULT in kept:
        codes = np.vstack([every.features.codes([DEFAULT]), codes])
    pool = ProposalPool.of(space, model, Candidates(every.features, codes, every.is_tested))
    return pool.without([DEFAULT])


def launched_pool(
    features: Features, model: LaunchModel, configurations: Sequence[Configuration]
) -> Pool:
    """Return launched configurations in the form of the acquisition function."""
    import numpy as np

    able = [c not in model.failed for c in configurations]
    return Pool(
        rows=features.rows(configurations),
        known=np.array([model.indices.get(c, -1) for c in configurations], dtype=np.intp),
        levels=features.levels(configurations),
        able=np.array(able, dtype=bool),
    )
