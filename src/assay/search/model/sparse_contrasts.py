"""Estimates of weighted sums of configurations by sparse models.

A weighted sum depends on the launches by the values of the settings that matter, and by the
configurations that were launched. All matrices have the size of one of these; none has that of the
launches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.search.model.dense_model import quadratic_forms
from assay.search.model.launch_precision import LaunchPrecision
from assay.search.model.setting_effects import Effect, SettingEffects, Term, distinct
from assay.search.model.sparse_model import ObservedEffect, SparseModel

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
    Places = npt.NDArray[np.intp]


@dataclass(frozen=True)
class _EffectSums:
    """Weighted sums as seen by an effect, for an amplitude of 1.

    Attributes:
        across: prior covariance with the observed values, sums x values.
        prior: prior variance.
    """

    across: Array
    prior: Array


@dataclass(frozen=True)
class _OwnSums:
    """Weighted sums as seen by configuration effects with a precision.

    Attributes:
        shared: sums of the factor of low rank, sums x blocks.
        explained: quadratic form of the precision.
        pulls: sums of the precision times the values.
    """

    shared: Array
    explained: Array
    pulls: Array


class ConfigurationSums:
    """Weighted sums of configurations.

    Args:
        effects: effects of the settings.
        rows: configurations x columns.
        known: row of each configuration in the data; -1 for none.
        weights: weights, sums x configurations.
    """

    def __init__(self, effects: SettingEffects, rows: Array, known: Places, weights: Array) -> None:
        import numpy as np
        from scipy.sparse import csr_array

        self._effects = effects
        self._rows = rows
        self.weights: Any = csr_array(weights)
        self._squared = (weights**2).sum(axis=1)
        launched = np.flatnonzero((known >= 0) & (known < effects.count))
        member = csr_array(
            (np.ones(len(launched)), (launched, known[launched])),
            shape=(len(rows), effects.count),
        )
        self._own: Any = self.weights @ member
        # Keyed by identity: effects and precisions live as long as the models.
        self._of_term: dict[int, _EffectSums] = {}
        self._of_effect: dict[int, _EffectSums] = {}
        self._of_precision: dict[int, _OwnSums] = {}
        self._of_pair: dict[int, tuple[Array, Array, Array]] = {}

    def estimate(self, model: SparseModel) -> tuple[Array, Array]:
        """Return the means, and the variances in multiples of the noise, by a model."""
        import numpy as np

        observed, amplitude = model.observed, model.amplitude
        seen, own = self._seen_by(observed.effect), observed.precision.own
        turned, explained, towards = self._between(observed)
        prior = amplitude * seen.prior
        pulls, reduction = observed.pulls, model.reduction()
        reach = amplitude * turned
        explained = amplitude**2 * explained
        mean = amplitude * (seen.across @ pulls)
        if own:
            sums = self._owned_by(observed.precision)
            prior = prior + own * self._squared
            explained = explained + 2.0 * own * amplitude * np.einsum(
                "ij,ij->i", seen.across, towards
            )
            explained = explained + own**2 * sums.explained
            reach = reach + own * towards
            mean = mean + own * sums.pulls
        mean = mean - reach @ (reduction @ pulls)
        explained = explained - np.einsum("ij,ij->i", reach @ reduction, reach)
        return mean, np.maximum(prior - explained, 0.0)

    def _between(self, observed: ObservedEffect) -> tuple[Array, Array, Array]:
        """Return the precision between sums and values, by the effect and by configurations.

        Returns:
            By the effect, for an amplitude of 1; its quadratic form; and by configuration effects.
        """
        import numpy as np

        if id(observed) not in self._of_pair:
            seen, precision = self._seen_by(observed.effect), observed.precision
            turned = seen.across @ observed.between
            explained = np.einsum("ij,ij->i", turned, seen.across)
            towards = np.zeros((0, 0))
            if precision.own:
                alone = self._own.multiply(precision.alone[None, :]).tocsr()
                shared = self._owned_by(precision).shared @ observed.shared
                towards = (alone @ observed.effect.members.T).toarray() - shared
            self._of_pair[id(observed)] = turned, explained, towards
        return self._of_pair[id(observed)]

    def _owned_by(self, precision: LaunchPrecision) -> _OwnSums:
        """Return the sums as seen by configuration effects."""
        import numpy as np

        if id(precision) not in self._of_precision:
            shared = self._own @ precision.shared.T
            squares = self._own.multiply(self._own).tocsr() @ precision.alone
            explained = squares - np.einsum("ij,ij->i", shared, shared)
            sums = _OwnSums(shared, explained, self._own @ precision.pulls)
            self._of_precision[id(precision)] = sums
        return self._of_precision[id(precision)]

    def _seen_by(self, effect: Effect) -> _EffectSums:
        """Return the sums as seen by an effect."""
        import numpy as np

        if id(effect) not in self._of_effect:
            terms = [self._seen_by_term(term) for term in effect.terms]
            across = np.hstack([term.across for term in terms])
            prior = np.sum([term.prior for term in terms], axis=0)
            self._of_effect[id(effect)] = _EffectSums(across, prior)
        return self._of_effect[id(effect)]

    def _seen_by_term(self, term: Term) -> _EffectSums:
        """Sum the prior covariances of a term, by the distinct values of the configurations."""
        import numpy as np
        from scipy.sparse import csr_array

        if id(term) not in self._of_term:
            values, places = distinct(self._effects.columns_of(term, self._rows))
            entries = np.ones(len(places)), (np.arange(len(places)), places)
            weights = self.weights @ csr_array(entries, shape=(len(places), len(values)))
            self._of_term[id(term)] = _EffectSums(
                across=weights @ self._effects.covariance(term, values, term.values),
                prior=quadratic_forms(weights, self._effects.covariance(term, values, values)),
            )
        return self._of_term[id(term)]
