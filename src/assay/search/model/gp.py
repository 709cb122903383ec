"""Gaussian process searcher: the default searcher of assay, from all launches so far."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence

from assay.records import DEFAULT, Configuration, EarlierStudy, Parameter
from assay.search.model.acquisition import choose_batch, remaining_gain, sample_best
from assay.search.model.candidates import CandidateSource
from assay.search.model.core import best_core
from assay.search.model.feasibility import (
    any_violation,
    feasible_configurations,
    minimise_violation,
)
from assay.search.model.features import Features
from assay.search.model.fit_schedule import Fits
from assay.search.model.launch_model import LaunchModel
from assay.search.model.one_thread import on_one_thread
from assay.search.model.options import SMALL_BATCH, SearcherOptions
from assay.search.model.proposal_pool import ProposalPool, feasible_pool, launched_pool
from assay.search.model.searcher import (
    UNKNOWN_BELIEF,
    Belief,
    Contrast,
    Estimate,
    Trial,
    fresh_configurations,
    launched_configurations,
    non_default_configurations,
    successful_configurations,
)
from assay.search.model.thompson_sampling import sample_configurations
from assay.search.model.warm_start import first_proposals, informative_studies
from assay.search.space.search_space import SearchSpace

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
        self._features: tuple[Mapping[str, Parameter], Features] | None = None
        self._candidates = CandidateSource()
        self._fits = Fits()
        self._newest: tuple[Features, list[Trial], LaunchModel] | None = None
        self._newest_pool: tuple[LaunchModel, SearchSpace, int, ProposalPool] | None = None

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
        every = self._pool(space, model, seed)
        pool = every.without(lean)
        rng = np.random.default_rng(seed)
        turns, probes = self.options.allocate(count)
        chosen = choose_batch(model.surrogate, pool.pool, turns, rng, every.predicted)
        if probes:
            clipped = self._new_model(
                space, trials, clipped_at=self.options.clipped_at, earlier=earlier, unclipped=model
            )
            chosen += choose_batch(clipped.surrogate, pool.without_places(chosen), probes, rng)
        return [*lean, *map(pool.candidates.configuration, chosen)]

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
        pool = launched_pool(self._encoded(space), model, able)
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
        features = self._encoded(space)
        rows = features.rows(requested)
        known = np.array([model.indices.get(c, -1) for c in requested], dtype=np.intp)
        indices = {c: i for i, c in enumerate(requested)}
        weights = np.zeros((len(wanted), len(requested)))
        for row, contrast in enumerate(wanted):
            for c, weight in contrast.items():
                weights[row, indices[c]] = weight
        means, deviations = model.belief.contrasts(rows, known, weights)
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
        pool = self._pool(space, model, seed)
        rng = np.random.default_rng(seed)
        return remaining_gain(model.surrogate, pool.pool, confidence, rng, pool.predicted)

    def _lean(
        self,
        space: SearchSpace,
        trials: Sequence[Trial],
        model: LaunchModel,
        count: int,
        seed: int,
    ) -> list[Configuration]:
        """Return the part of a small batch that comes from sparse models.

        Sparse models do not cover requirements or named configurations.
        """
        if count > SMALL_BATCH or any_violation(trials) or space.is_named:
            return []
        taken = {*launched_configurations(trials), DEFAULT}
        return sample_configurations(space, self._encoded(space), model.belief, taken, count, seed)

    def _model(self, space: SearchSpace, trials: Sequence[Trial]) -> LaunchModel | None:
        if len(successful_configurations(trials)) < 2:
            return None
        features = self._encoded(space)
        newest = self._newest
        if newest is None or newest[0] is not features or newest[1] != trials:
            model = self._new_model(space, trials)
            self._newest = newest = features, list(trials), model
        return newest[2]

    def _guided(
        self,
        space: SearchSpace,
        trials: Sequence[Trial],
        plain: LaunchModel,
        earlier: tuple[EarlierStudy, ...],
    ) -> tuple[LaunchModel, tuple[EarlierStudy, ...]]:
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
        unclipped: LaunchModel | None = None,
    ) -> LaunchModel:
        return LaunchModel(
            self._encoded(space),
            trials,
            self.options.priors,
            self._fits,
            clipped_at=clipped_at,
            earlier=earlier,
            unclipped=unclipped,
        )

    def _encoded(self, space: SearchSpace) -> Features:
        """Return the features of a space; a part of a space has the same ones."""
        if self._features is None or self._features[0] is not space.parameters:
            self._features = space.parameters, Features(space)
        return self._features[1]

    def _pool(self, space: SearchSpace, model: LaunchModel, seed: int) -> ProposalPool:
        """Return the pool of proposals, cached, since a block needs it twice."""
        newest = self._newest_pool
        if newest is None or newest[0] is not model or newest[1:3] != (space, seed):
            pool = self._new_pool(space, model, seed)
            self._newest_pool = newest = model, space, seed, pool
        return newest[3]

    def _new_pool(self, space: SearchSpace, model: LaunchModel, seed: int) -> ProposalPool:
        features = self._encoded(space)
        candidates = self._candidates.enumerated(space, features)
        if candidates is None:
            known = [*model.able, *model.known_configurations]
            centres = self._centres(features, model)
            candidates = self._candidates.sampled(space, features, known, centres, seed)
        if model.requiring:
            return feasible_pool(space, model, candidates, self._fits)
        return ProposalPool.of(space, model, candidates)

    def _centres(self, features: Features, model: LaunchModel) -> list[Configuration]:
        """Return the launched configurations that are the best by the model."""
        able = model.able
        if model.requiring:
            kept = feasible_configurations(model.trials)
            able = [c for c in able if c in kept]
        pool = launched_pool(features, model, able)
        mean, _ = model.surrogate.predict(pool.rows, pool.known)
        return [able[int(i)] for i in mean.argsort(kind="stable")[:NEIGHBOUR_CENTRES]]
