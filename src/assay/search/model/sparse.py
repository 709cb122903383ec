"""Sparse models: averages over models in which few settings matter.

In each model none, one or two settings matter; their effect is a Gaussian process over their
values, alone, added, or with an interaction. Noise is unknown: the amplitude of an effect is stated
in multiples of it, so that the evidence of a model and its predictions are Student's t (Rasmussen
and Williams, 2006, ch. 2; O'Hagan and Forster, Bayesian Inference, 2004, ch. 11). In addition
there is one dense model, the process of ``assay.search.model.surrogate``, in which every setting
may matter.

The average over models shrinks the best of many launches by the probability that it was chance, and
gives the probability that each setting matters.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.search.model.dense_model import DenseModel
from assay.search.model.launch_precision import Launches, LaunchPrecision
from assay.search.model.setting_effects import Effect, SettingEffects
from assay.search.model.sparse_contrasts import ConfigurationSums
from assay.search.model.sparse_model import ObservedEffect, SparseModel
from assay.stats.launch_noise import NOISE_PRIOR

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from assay.search.model.surrogate import Surrogate

    Array = npt.NDArray[np.float64]
    Places = npt.NDArray[np.intp]

AMPLITUDES = (2.0, 6.0, 18.0)
"""Standard deviation of the effect of a value, in multiples of the noise of a launch."""
BLOCK_VARIANCES = {0.1: 0.9, 1.0: 0.1}
"""Variance shared by all launches of a block, in multiples of that of a launch, each with its
probability: on a machine that drifts it is as large as the rest of the noise."""
MIN_DRIFT_BLOCKS = 5
"""Minimum number of blocks to estimate drift; with fewer only the first variance is used."""
OWN_VARIANCES = {0.0: 0.8, 1.0: 0.1, 4.0: 0.1}
"""Variance specific to a configuration in sparse models, in multiples of the variance of a
launch, with its probability: many further settings may matter a little. Replicates distinguish
it from noise."""
CLASS_PRIORS = {"none": 0.25, "one": 0.3, "sum": 0.15, "pair": 0.1, "dense": 0.2}
"""Prior probability of each class of models, shared evenly within the class."""
MAX_PAIRED_SETTINGS = 9
"""Maximum number of settings, those with the most evidence, that are combined in pairs."""
DENSE_PENALTY = 2.0
"""Log evidence that the dense model gains by fitting its hyperparameters, up to
``PENALTY_FROM`` launches;"""
PENALTY_FROM = 25
PENALTY_GROWTH = 1.5
"""growth of the penalty beyond, per logarithm of their number: half of three parameters
that matter (Schwarz, Annals of Statistics, 1978)."""
MIN_RELATIVE_PROBABILITY = 1e-3
"""Minimum probability of a model relative to the likeliest; others are dropped."""
MIN_PROBABILITY = 1e-9
"""Minimum probability of a sparse model for a prediction."""
MIN_DENSE_PROBABILITY = 1e-6
"""Minimum probability of the dense model for a prediction."""


@dataclass(frozen=True)
class _Base:
    """The part common to all models: noise, block effects and configuration effects.

    Attributes:
        log_prior: log prior probability.
        precision: precision of the launches.
    """

    log_prior: float
    precision: LaunchPrecision


class SparseModels:
    """Bayesian average of models in which few settings matter.

    Args:
        launches: at least two launches.
        settings: columns of each setting.
        dense: a process fitted to these launches and possibly others; ``None`` for no dense model.
        among: index of each launch in the data of ``dense``.
    """

    def __init__(
        self,
        launches: Launches,
        settings: Sequence[slice],
        dense: Surrogate | None = None,
        among: Places | None = None,
    ) -> None:
        import numpy as np

        self._launches = launches
        self._count = len(settings)
        self._centred = launches.values - float(np.median(launches.values))
        self._effects = SettingEffects(launches.rows, settings)
        self.freedom = NOISE_PRIOR[0] + len(self._centred) - 1
        self._models = self._fitted()
        self._dense = None
        if dense is not None and among is not None:
            self._dense = DenseModel(dense, among, self._centred)
        self._weights, self._dense_weight = self._normalised()

    # --- fitting ---

    def _evidence(self, quadratic: Array | float, log_det: Array | float) -> Array:
        """Return the log of a Student density, up to a constant common to all models."""
        import numpy as np

        sum_of_squares = NOISE_PRIOR[0] * NOISE_PRIOR[1] ** 2 + np.asarray(quadratic)
        return np.asarray(-0.5 * log_det - 0.5 * self.freedom * np.log(sum_of_squares))

    def _scale(self, quadratic: float) -> float:
        return (NOISE_PRIOR[0] * NOISE_PRIOR[1] ** 2 + max(quadratic, 0.0)) / self.freedom

    def _bases(self) -> list[_Base]:
        """Return the precisions of launches for each combination of variances."""
        drifts = len(set(self._launches.block)) >= MIN_DRIFT_BLOCKS
        usual, *others = BLOCK_VARIANCES
        pairs = [(own, usual) for own in OWN_VARIANCES]
        pairs += [(0.0, block) for block in others if drifts]
        return [
            _Base(
                math.log(OWN_VARIANCES[own] * BLOCK_VARIANCES[block]),
                LaunchPrecision.of(self._launches, self._centred, own, block),
            )
            for own, block in pairs
        ]

    def _fitted(self) -> list[SparseModel]:
        import numpy as np

        bases = self._bases()
        plain = [base for base in bases if base.precision.own == 0.0]
        logs = [
            base.log_prior + float(self._evidence(base.precision.quadratic, base.precision.log_det))
            for base in plain
        ]
        self._none = math.log(CLASS_PRIORS["none"]) + float(np.logaddexp.reduce(logs))
        alone = {k: self._effects.alone(k) for k in self._effects.varied}
        prior = math.log(CLASS_PRIORS["one"] / max(1, self._count))
        singles = {k: self._with(effect, bases, prior) for k, effect in alone.items()}
        found = [model for models in singles.values() for model in models]
        best = {k: max(model.log_weight for model in models) for k, models in singles.items()}
        leading = sorted(best, key=lambda k: -best[k])[:MAX_PAIRED_SETTINGS]
        for effect, log_prior in self._paired({k: alone[k] for k in sorted(leading)}):
            found += self._with(effect, bases, log_prior)
        most = max([self._none, *(model.log_weight for model in found)])
        return [m for m in found if m.log_weight >= most + math.log(MIN_RELATIVE_PROBABILITY)]

    def _paired(self, alone: Mapping[int, Effect]) -> Iterator[tuple[Effect, float]]:
        """Yield the joint effects of all pairs of settings, each with its log prior."""
        pairs = max(1, self._count * (self._count - 1) // 2)
        for first, second in itertools.combinations(alone, 2):
            added = self._effects.added(alone[first], alone[second])
            yield added, math.log(CLASS_PRIORS["sum"] / pairs)
            joint = self._effects.interacting(first, second)
            if joint is not None:
                yield joint, math.log(CLASS_PRIORS["pair"] / pairs)

    def _with(self, effect: Effect, bases: Sequence[_Base], prior: float) -> list[SparseModel]:
        """Return the models of each base and amplitude in which these settings matter."""
        import numpy as np

        amplitudes = np.array(AMPLITUDES) ** 2
        found = []
        for base in bases:
            observed = ObservedEffect.of(effect, base.precision)
            quadratics, log_dets = observed.evidence(amplitudes)
            logs = self._evidence(quadratics, log_dets)
            logs = logs + (prior + base.log_prior - math.log(len(AMPLITUDES)))
            for amplitude, log_weight, quadratic in zip(amplitudes, logs, quadratics, strict=True):
                scale = self._scale(float(quadratic))
                found.append(SparseModel(observed, float(amplitude), float(log_weight), scale))
        return found

    def _normalised(self) -> tuple[Array, float]:
        """Return the probabilities of no effect, of each model, and of the dense model."""
        import numpy as np

        logs = [self._none, *(model.log_weight for model in self._models), self._dense_evidence()]
        found = np.exp(np.array(logs) - max(logs))
        found /= found.sum()
        return found[:-1], float(found[-1])

    def _dense_evidence(self) -> float:
        """Return the logarithm of the prior of the dense model times its evidence."""
        if self._dense is None:
            return -math.inf
        self._dense_scale = self._scale(self._dense.quadratic)
        beyond = max(0.0, math.log(len(self._centred) / PENALTY_FROM))
        penalty = DENSE_PENALTY + PENALTY_GROWTH * beyond
        prior = math.log(CLASS_PRIORS["dense"]) - penalty + self._dense.log_prior
        return prior + float(self._evidence(self._dense.quadratic, self._dense.log_det))

    # --- predictions ---

    @property
    def dense_probability(self) -> float:
        """Probability of the dense model, in which every setting may matter."""
        return self._dense_weight

    @property
    def sparse_probability(self) -> float:
        """Probability that few settings explain all but noise and nothing else matters."""
        weights = zip(self._models, self._weights[1:], strict=True)
        return float(sum(w for model, w in weights if model.observed.precision.own == 0.0))

    @property
    def null_probability(self) -> float:
        """Probability that no setting has an effect."""
        return float(self._weights[0])

    def leading(self, max_count: int) -> list[tuple[tuple[int, ...], float]]:
        """Return sets of settings that matter with their probabilities, the likeliest first."""
        found: dict[tuple[int, ...], float] = {}
        for model, weight in zip(self._models, self._weights[1:], strict=True):
            settings = model.observed.effect.settings
            found[settings] = found.get(settings, 0.0) + float(weight)
        return sorted(found.items(), key=lambda pair: -pair[1])[:max_count]

    def sample_settings(self, rng: np.random.Generator) -> tuple[int, ...]:
        """Return the settings of a model drawn by probability; none if no sparse model is drawn."""
        at = int(rng.choice(len(self._weights) + 1, p=[*self._weights, self._dense_weight]))
        drawn = 0 < at < len(self._weights)
        return self._models[at - 1].observed.effect.settings if drawn else ()

    def sample_effects(
        self, settings: tuple[int, ...], rows: Array, rng: np.random.Generator
    ) -> Array:
        """Draw the effects of configurations, where exactly these settings matter.

        Args:
            settings: the settings of at least one model.
            rows: configurations x columns.
            rng: draws one of those models, and the effects.
        """
        import numpy as np

        pairs = zip(self._models, self._weights[1:], strict=True)
        able = [(m, weight) for m, weight in pairs if m.observed.effect.settings == settings]
        shares = np.array([weight for _, weight in able])
        model = able[int(rng.choice(len(able), p=shares / shares.sum()))][0]
        effect = model.observed.effect
        columns = [(term, self._effects.columns_of(term, rows)) for term in effect.terms]
        covariance = self._effects.covariance
        across = np.hstack([covariance(term, one, term.values) for term, one in columns])
        across *= model.amplitude
        mean, held = model.held()
        prior = np.sum([covariance(term, one, one) for term, one in columns], axis=0)
        variance = model.amplitude * prior - across @ held @ across.T
        spread, directions = np.linalg.eigh(0.5 * (variance + variance.T))
        root = directions * np.sqrt(np.maximum(spread, 0.0))
        noise = math.sqrt(model.scale * self.freedom / float(rng.chisquare(self.freedom)))
        return np.asarray(across @ mean + noise * (root @ rng.standard_normal(len(rows))))

    def contrasts(self, rows: Array, known: Places, weights: Array) -> tuple[Array, Array]:
        """Return the means and standard deviations of weighted sums of configurations.

        Args:
            rows: configurations x columns.
            known: row of each configuration in the data of the dense model; -1 for none.
            weights: weights, sums x configurations; each row adds up to 0.
        """
        import numpy as np

        sums = ConfigurationSums(self._effects, rows, known, weights)
        mean, square = np.zeros(len(weights)), np.zeros(len(weights))
        widen = self.freedom / max(self.freedom - 2.0, 0.5)
        for model, weight in zip(self._models, self._weights[1:], strict=True):
            if weight >= MIN_PROBABILITY:
                at, spread = sums.estimate(model)
                mean += weight * at
                square += weight * (model.scale * spread * widen + at**2)
        if self._dense is not None and self._dense_weight > MIN_DENSE_PROBABILITY:
            at, spread = self._dense.contrasts(rows, known, sums.weights)
            mean += self._dense_weight * at
            square += self._dense_weight * (self._dense_scale * spread * widen + at**2)
        return mean, np.sqrt(np.maximum(square - mean**2, 0.0))
