"""Gaussian process searcher: the default searcher of assay, from all launches so far."""

from __future__ import annotations

import functools
import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from weakref import WeakKeyDictionary

from assay.records import DEFAULT, Configuration, EarlierStudy
from assay.search.model.acquisition import Pool, choose_batch, remaining_gain, sample_best
from assay.search.model.core import best_core
from assay.search.model.feasibility import (
    Feasibility,
    any_violation,
    feasible_configurations,
    minimise_violation,
)
from assay.search.model.features import Features
from assay.search.model.hyperparameters import Priors
from assay.search.model.launch_precision import Launches
from assay.search.model.one_thread import on_one_thread
from assay.search.model.options import SMALL_BATCH, SearcherOptions
from assay.search.model.searcher import (
    UNKNOWN_BELIEF,
    Belief,
    Contrast,
    Estimate,
    Trial,
    fresh_configurations,
    launched_configurations,
    noise_variance,
    non_default_configurations,
    successful_configurations,
)
from assay.search.model.sparse import SparseModels
from assay.search.model.surrogate import Surrogate
from assay.search.model.tasks import TrainingData
from assay.search.model.thompson_sampling import sample_configurations
from assay.search.model.warm_start import first_proposals, informative_studies
from assay.search.space.search_space import SearchSpace

MAX_ENUMERATED = 20_000
"""Maximum size of a space that is enumerated; larger ones are sampled."""
POOL_SAMPLES = 1200
"""Random configurations in the pool of a larger space, besides the neighbours of the best."""
NEIGHBOUR_CENTRES = 4
"""Number of best configurations whose neighbours are in the pool."""
MIN_CORRELATION = 0.5
"""Minimum correlation of an earlier study with this one; less correlated studies are ignored."""
MAX_FINALISTS = 30
"""Maximum number of configurations, the best by the model, for the last launches of a search."""


class GpSearcher:
    """Proposes configurations, including replicates, by a Gaussian process.

    Args:
        options: parameters of the search.
        earlier: results of earlier studies. They guide proposals alone: contrasts, the remaining
            gain and the configurations of the last launches depend on the trials only.
    """

    name = "gp"

    def __init__(
        self, options: SearcherOptions | None = None, earlier: Sequence[EarlierStudy] = ()
    ) -> None:
        self.options = options or SearcherOptions()
        self._earlier = tuple(earlier)
        # A cache: a call returns the same result as that of a new searcher.
        self._features: WeakKeyDictionary[SearchSpace, Features] = WeakKeyDictionary()
        self._every: WeakKeyDictionary[SearchSpace, list[Configuration] | None] = (
            WeakKeyDictionary()
        )
        self._newest: tuple[SearchSpace, list[Trial], _Model] | None = None
        self._newest_pool: tuple[_Model, int, tuple[Pool, list[Configuration]]] | None = None

    @on_one_thread
    def propose(
        self, space: SearchSpace, trials: Sequence[Trial], count: int, seed: int
    ) -> list[Configuration]:
        """See ``Searcher.propose``."""
        import numpy as np

        if any_violation(trials) and not feasible_configurations(trials):
            trials = minimise_violation(trials)
        model = self._model(space, trials)
        earlier = informative_studies(self._earlier, space)
        if model is None or len(non_default_configurations(trials)) < min(
            self.options.startup, count
        ):
            named = first_proposals(earlier, count // 2)
            draws = random.Random(seed)
            wanted = [c for c in named if c not in launched_configurations(trials)]
            wanted += space.balanced_sample(count - len(wanted), draws)
            return fresh_configurations(
                space, wanted, launched_configurations(trials), count, draws
            )
        model, earlier = self._guided(space, trials, model, earlier)
        lean = [] if earlier else self._lean(space, trials, model, count, seed)
        count -= len(lean)
        if not count:
            return lean
        pool, configurations = self._pool(space, model, seed)
        pool = replace(pool, able=pool.able & [c not in lean for c in configurations])
        rng = np.random.default_rng(seed)
        turns, probes = self.options.allocate(count)
        chosen = choose_batch(model.surrogate, pool, turns, rng)
        able = pool.able.copy()
        able[chosen] = False
        pool = replace(pool, able=able)
        if probes:
            at = self.options.clipped_at
            clipped = self._new_model(space, trials, clipped_at=at, earlier=earlier)
            chosen += choose_batch(clipped.surrogate, pool, probes, rng)
        return [*lean, *(configurations[at] for at in chosen)]

    @on_one_thread
    def verify(
        self, space: SearchSpace, trials: Sequence[Trial], count: int, seed: int
    ) -> list[Configuration]:
        """See ``Searcher.verify``."""
        import numpy as np

        model = self._model(space, trials)
        if model is None:
            return []
        kept = feasible_configurations(trials) if any_violation(trials) else set(model.able)
        able = [c for c in model.able if c != DEFAULT and c in kept]
        pool = self._encode_pool(space, model, able)
        mean, _ = model.surrogate.predict(pool.rows, pool.known)
        among = [int(i) for i in np.argsort(mean, kind="stable")[:MAX_FINALISTS]]
        rng = np.random.default_rng(seed)
        chosen: list[int] = []
        while among and len(chosen) < count:
            found = sample_best(model.surrogate, pool, among, rng)
            among.remove(found)
            chosen.append(found)
        return [able[i] for i in chosen]

    @on_one_thread
    def core(self, space: SearchSpace, trials: Sequence[Trial]) -> list[Configuration]:
        """See ``Searcher.core``."""
        model = self._model(space, trials)
        if model is None or any_violation(trials):
            return []
        launch_counts = {c: model.launches[c] for c in model.able}
        features = self._encoded(space)
        return best_core(space, features, model.belief, model.failed, launch_counts)

    @on_one_thread
    def belief(self, space: SearchSpace, trials: Sequence[Trial]) -> Belief:
        """See ``Searcher.belief``."""
        model = self._model(space, trials)
        if model is None:
            return UNKNOWN_BELIEF
        return Belief(
            null_probability=model.belief.null_probability,
            sparse_probability=model.belief.sparse_probability,
        )

    @on_one_thread
    def contrasts(
        self, space: SearchSpace, trials: Sequence[Trial], wanted: Sequence[Contrast]
    ) -> list[Estimate]:
        """See ``Searcher.contrasts``."""
        import numpy as np

        model = self._model(space, trials)
        requested = list(dict.fromkeys(c for contrast in wanted for c in contrast))
        if model is None or not requested:
            return [Estimate(0.0, math.inf if contrast else 0.0) for contrast in wanted]
        pool = self._encode_pool(space, model, requested)
        indices = {c: i for i, c in enumerate(requested)}
        weights = np.zeros((len(wanted), len(requested)))
        for row, contrast in enumerate(wanted):
            for c, weight in contrast.items():
                weights[row, indices[c]] = weight
        means, deviations = model.belief.contrasts(pool.rows, pool.known, weights)
        return [Estimate(float(m), float(d)) for m, d in zip(means, deviations, strict=True)]

    @on_one_thread
    def remaining_gain(
        self, space: SearchSpace, trials: Sequence[Trial], confidence: float, seed: int
    ) -> float:
        """See ``Searcher.remaining_gain``."""
        import numpy as np

        model = self._model(space, trials)
        if model is None:
            return math.inf
        pool, _ = self._pool(space, model, seed)
        return remaining_gain(model.surrogate, pool, confidence, np.random.default_rng(seed))

    def _lean(
        self,
        space: SearchSpace,
        trials: Sequence[Trial],
        model: _Model,
        count: int,
        seed: int,
    ) -> list[Configuration]:
        """Return the part of a small batch that comes from sparse models.

        Sparse models do not cover requirements or named configurations.
        """
        if count > SMALL_BATCH or any_violation(trials) or space.is_named:
            return []
        taken = {*model.indices, DEFAULT}
        return sample_configurations(space, self._encoded(space), model.belief, taken, count, seed)

    def _model(self, space: SearchSpace, trials: Sequence[Trial]) -> _Model | None:
        if len(successful_configurations(trials)) < 2:
            return None
        if self._newest is None or self._newest[:2] != (space, list(trials)):
            model = self._new_model(space, trials)
            self._newest = space, list(trials), model
        return self._newest[2]

    def _guided(
        self,
        space: SearchSpace,
        trials: Sequence[Trial],
        plain: _Model,
        earlier: tuple[EarlierStudy, ...],
    ) -> tuple[_Model, tuple[EarlierStudy, ...]]:
        """Return the model with earlier studies, and those that are sufficiently correlated.

        Args:
            space, trials: as for ``propose``.
            plain: the model without earlier studies.
            earlier: informative earlier studies.
        """
        while earlier:
            model = self._new_model(space, trials, earlier=earlier)
            correlations = model.surrogate.correlations
            correlated = tuple(
                e for e, a in zip(earlier, correlations, strict=True) if a >= MIN_CORRELATION
            )
            if correlated == earlier:
                return model, earlier
            earlier = correlated
        return plain, ()

    def _new_model(
        self,
        space: SearchSpace,
        trials: Sequence[Trial],
        clipped_at: float = 1.0,
        earlier: Sequence[EarlierStudy] = (),
    ) -> _Model:
        features, priors = self._encoded(space), self.options.priors
        return _Model(features, trials, priors, clipped_at=clipped_at, earlier=earlier)

    def _encoded(self, space: SearchSpace) -> Features:
        if space not in self._features:
            self._features[space] = Features(space)
        return self._features[space]

    def _pool(
        self, space: SearchSpace, model: _Model, seed: int
    ) -> tuple[Pool, list[Configuration]]:
        """Return the pool of proposals, cached, since a block needs it twice."""
        newest = self._newest_pool
        if newest is None or newest[0] is not model or newest[1] != seed:
            newest = self._newest_pool = model, seed, self._new_pool(space, model, seed)
        return newest[2]

    def _new_pool(
        self, space: SearchSpace, model: _Model, seed: int
    ) -> tuple[Pool, list[Configuration]]:
        if space not in self._every:
            self._every[space] = space.enumerate(MAX_ENUMERATED)
        every = self._every[space]
        if every is None:
            every = self._sample(space, model, seed)
        if model.requiring:
            return self._feasible_pool(space, model, every)
        configurations = [c for c in every if c != DEFAULT]
        return self._encode_pool(space, model, configurations), configurations

    def _feasible_pool(
        self, space: SearchSpace, model: _Model, every: Sequence[Configuration]
    ) -> tuple[Pool, list[Configuration]]:
        """Return the likely feasible part of a pool; a feasible default stays as the incumbent."""
        import numpy as np

        kept = feasible_configurations(model.trials)
        likely = Feasibility(self._encoded(space), model.trials).likely(every)
        pairs = zip(every, likely, strict=True)
        configurations = [c for c, may in pairs if c in kept or (may and c != DEFAULT)]
        pool = self._encode_pool(space, model, configurations)
        able = pool.able & np.array([c != DEFAULT for c in configurations], dtype=bool)
        return replace(pool, able=able), configurations

    def _sample(self, space: SearchSpace, model: _Model, seed: int) -> list[Configuration]:
        """Return random, launched and earlier configurations, and neighbours of the best."""
        rng = random.Random(seed)
        pool = dict.fromkeys([*model.able, *model.known_configurations])
        for _ in range(POOL_SAMPLES):
            drawn = space.draw(rng)
            if drawn is not None:
                pool.setdefault(drawn)
        able = model.able
        if model.requiring:
            kept = feasible_configurations(model.trials)
            able = [c for c in able if c in kept]
        placed = self._encode_pool(space, model, able)
        mean, _ = model.surrogate.predict(placed.rows, placed.known)
        for i in mean.argsort(kind="stable")[:NEIGHBOUR_CENTRES]:
            for near in space.neighbours(able[int(i)]):
                pool.setdefault(near)
        return list(pool)

    def _encode_pool(
        self, space: SearchSpace, model: _Model, configurations: Sequence[Configuration]
    ) -> Pool:
        import numpy as np

        features = self._encoded(space)
        able = [c not in model.failed for c in configurations]
        known = [model.indices.get(c, -1) for c in configurations]
        return Pool(
            rows=features.rows(configurations),
            known=np.array(known, dtype=np.intp),
            levels=features.levels(configurations),
            able=np.array(able, dtype=bool),
        )


class _Model:
    """A surrogate with the row number of each configuration.

    A failed configuration gets the worst observed value, since its neighbours are likely to fail
    too.

    Args:
        features: encoding of configurations.
        trials: launches, with values of at least two configurations.
        priors: priors of the surrogate.
        clipped_at: quantile of the values above which they are clipped.
        earlier: results of earlier studies on configurations of the space.
    """

    def __init__(
        self,
        features: Features,
        trials: Sequence[Trial],
        priors: Priors,
        clipped_at: float = 1.0,
        earlier: Sequence[EarlierStudy] = (),
    ) -> None:
        import numpy as np

        self.indices: dict[Configuration, int] = {}
        for trial in trials:
            self.indices.setdefault(trial.configuration, len(self.indices))
        able = successful_configurations(trials)
        self.failed = {c for c in self.indices if c not in able}
        self.trials = trials
        self.launches = Counter(t.configuration for t in trials if t.value is not None)
        self.requiring = any_violation(trials) and bool(feasible_configurations(trials))
        self.able = [c for c in self.indices if c in able]
        usable = [t for t in trials if t.value is not None or t.configuration in self.failed]
        # In a separate block: a failure has no information on the speed of the machine.
        blocks = [-1 - i if t.value is None else t.block for i, t in enumerate(usable)]
        values = _clipped([t.value for t in usable], clipped_at)
        which = [self.indices[t.configuration] for t in usable]
        tasks, counts = [0] * len(usable), [trial.weight for trial in usable]
        rows = dict(self.indices)
        for task, one in enumerate(earlier, start=1):
            for known in one.known_configurations:
                which.append(rows.setdefault(known.configuration, len(rows)))
                blocks.append(-1 - len(blocks))
                tasks.append(task)
                counts.append(known.launches)
            values += _clipped([known.log_ratio for known in one.known_configurations], clipped_at)
        self.known_configurations = list(rows)[len(self.indices) :]
        self._features = features
        self.surrogate = Surrogate(
            TrainingData(
                rows=features.rows(list(rows)),
                which=np.array(which, dtype=np.intp),
                block=np.array(blocks, dtype=np.intp),
                values=np.array(values),
                noise=noise_variance(trials),
                task=np.array(tasks, dtype=np.intp),
                counts=np.array(counts, dtype=np.float64),
            ),
            priors,
        )

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


def _clipped(values: Sequence[float | None], at: float) -> list[float]:
    """Return values clipped at this quantile, which also replaces the values of failed launches."""
    import numpy as np

    most = float(np.quantile([v for v in values if v is not None], at))
    return [most if v is None else min(most, v) for v in values]
