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
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.stats.launch_noise import NOISE_PRIOR

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from assay.search.model.surrogate import Surrogate

    Array = npt.NDArray[np.float64]
    Places = npt.NDArray[np.intp]

AMPLITUDES = (2.0, 6.0, 18.0)
"""Standard deviation of the effect of a value, in multiples of the noise of a launch."""
LENGTH = 0.5
"""Length scale of an effect in the columns of a setting, which range from 0 to 1."""
ROUGHNESS = 0.15
"""Share of the variance of an effect that is independent between values, however close they are."""
SAME_VALUE_DISTANCE = 1e-12
"""Squared distance below which values are the same."""
BLOCK_VARIANCES = {0.1: 0.9, 1.0: 0.1}
"""Variance shared by all launches of a block, in multiples of that of a launch, each with its
probability: on a machine that drifts it is as large as the rest of the noise."""
MIN_DRIFT_BLOCKS = 5
"""Minimum number of blocks to estimate drift; with fewer only the first variance is used."""
LEVEL_VARIANCE = 1e4
"""Variance of the overall level, in multiples of that of a launch: it is unknown."""
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


@dataclass(frozen=True)
class Launches:
    """Launches that the models are conditioned on.

    Attributes:
        rows: features, configurations x columns.
        which: row of each launch.
        block: block of each launch.
        values: logarithm of the objective of each launch.
    """

    rows: Array
    which: Places
    block: Places
    values: Array


@dataclass(frozen=True)
class _Base:
    """The part common to all models: noise, block effects and configuration effects.

    Attributes:
        own: variance specific to a configuration, in multiples of that of a launch.
        log_prior: log prior probability.
        precision: inverse covariance of the launches.
        log_det: logarithm of the determinant of that covariance.
        weighted: the precision times the values.
        quadratic: the values times that.
    """

    own: float
    log_prior: float
    precision: Array
    log_det: float
    weighted: Array
    quadratic: float


@dataclass(frozen=True)
class _Shape:
    """Settings that matter, with their observed values.

    Attributes:
        settings: indices of the settings.
        interacts: whether two of them interact.
        observed: columns of the distinct observed values, one array for each setting (for an
            interaction, of the distinct pairs).
        member: indicator of the value of each launch, launches x values.
        root: square root of the prior covariance of the effects of these values.
    """

    settings: tuple[int, ...]
    interacts: bool
    observed: tuple[Array, ...]
    member: Array
    root: Array


@dataclass(frozen=True)
class _SparseModel:
    """A model in which few settings matter, conditioned on launches.

    Attributes:
        shape: the settings that matter.
        base: the common part.
        amplitude: prior variance of an effect, in multiples of that of a launch.
        log_weight: logarithm of its prior times its evidence.
        held: the precision of the base times the members.
        middle: reduction of the precision of the whole: ``held @ middle @ held.T``.
        weights: the precision of the whole times the values.
        scale: scale of the noise variance.
    """

    shape: _Shape
    base: _Base
    amplitude: float
    log_weight: float
    held: Array
    middle: Array
    weights: Array
    scale: float

    def explained(self, across: Array) -> Array:
        """Return the explained variances of sums, in multiples of the variance of a launch.

        Args:
            across: prior covariance, sums x launches.
        """
        import numpy as np

        turned = across @ self.held
        whole = np.einsum("ij,ij->i", across @ self.base.precision, across)
        return np.asarray(whole - np.einsum("ij,ij->i", turned @ self.middle, turned))


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
        self._settings = tuple(settings)
        self._dense = dense
        self._among = among
        values = launches.values
        count = len(values)
        self._level = float(np.median(values))
        centred = values - self._level
        self._centred = centred
        self._same_block = launches.block[:, None] == launches.block[None, :]
        self._same = launches.which[:, None] == launches.which[None, :]
        self.freedom = NOISE_PRIOR[0] + count - 1
        self._models = self._fitted()
        self._weights, self._dense_weight = self._normalised()

    # --- fitting ---

    def _evidence(self, quadratic: Array | float, log_det: Array | float) -> Array:
        """Return the log of a Student density, up to a constant common to all models."""
        import numpy as np

        sum_of_squares = NOISE_PRIOR[0] * NOISE_PRIOR[1] ** 2 + np.asarray(quadratic)
        return np.asarray(-0.5 * log_det - 0.5 * self.freedom * np.log(sum_of_squares))

    def _scale(self, quadratic: float) -> float:
        return (NOISE_PRIOR[0] * NOISE_PRIOR[1] ** 2 + quadratic) / self.freedom

    def _base(self, own: float, block: float) -> _Base:
        import numpy as np

        noise = np.eye(len(self._centred)) + block * self._same_block
        # The level of the values takes one degree of freedom, which all models share.
        covariance = noise + own * self._same + LEVEL_VARIANCE
        precision = np.linalg.inv(covariance)
        precision = 0.5 * (precision + precision.T)
        weighted = precision @ self._centred
        return _Base(
            own=own,
            log_prior=math.log(OWN_VARIANCES[own] * BLOCK_VARIANCES[block]),
            precision=precision,
            log_det=float(np.linalg.slogdet(covariance)[1]),
            weighted=weighted,
            quadratic=float(self._centred @ weighted),
        )

    def _fitted(self) -> list[_SparseModel]:
        import numpy as np

        count = len(self._settings)
        drifts = len(set(self._launches.block)) >= MIN_DRIFT_BLOCKS
        usual, *others = BLOCK_VARIANCES
        bases = [self._base(own, usual) for own in OWN_VARIANCES]
        bases += [self._base(0.0, block) for block in others if drifts]
        plain = [base for base in bases if base.own == 0.0]
        logs = [b.log_prior + float(self._evidence(b.quadratic, b.log_det)) for b in plain]
        self._none = math.log(CLASS_PRIORS["none"]) + float(np.logaddexp.reduce(logs))
        found: list[_SparseModel] = []
        best: dict[int, float] = {}
        varied = [k for k in range(count) if len(self._distinct((k,))[0]) > 1]
        prior = math.log(CLASS_PRIORS["one"] / max(1, count))
        for k in varied:
            models = self._with(self._shape((k,), False), bases, prior)
            best[k] = max(model.log_weight for model in models)
            found += models
        leading = sorted(best, key=lambda k: -best[k])[:MAX_PAIRED_SETTINGS]
        pairs = max(1, count * (count - 1) // 2)
        for pair in itertools.combinations(sorted(leading), 2):
            for interacts, of_class in ((False, "sum"), (True, "pair")):
                shape = self._shape(pair, interacts)
                found += self._with(shape, bases, math.log(CLASS_PRIORS[of_class] / pairs))
        most = max([self._none, *(model.log_weight for model in found)])
        return [m for m in found if m.log_weight >= most + np.log(MIN_RELATIVE_PROBABILITY)]

    def _distinct(self, settings: tuple[int, ...]) -> tuple[Array, Places]:
        """Return the distinct joint values of settings, and their index for each launch."""
        import numpy as np

        columns = np.hstack([self._launches.rows[:, self._settings[k]] for k in settings])
        values, at = np.unique(columns, axis=0, return_inverse=True)
        return values, np.asarray(at).reshape(-1)[self._launches.which]

    def _shape(self, settings: tuple[int, ...], interacts: bool) -> _Shape:
        import numpy as np

        if interacts or len(settings) == 1:
            parts = [self._distinct(settings)]
        else:
            parts = [self._distinct((k,)) for k in settings]
        sizes = [len(values) for values, _ in parts]
        member = np.zeros((len(self._centred), sum(sizes)))
        offset = 0
        for (_, at), size in zip(parts, sizes, strict=True):
            member[np.arange(len(at)), offset + at] = 1.0
            offset += size
        observed = tuple(values for values, _ in parts)
        among = self._kernel(settings, interacts, observed, observed)
        spread, directions = np.linalg.eigh(among)
        root = directions * np.sqrt(np.maximum(spread, 0.0))
        return _Shape(settings, interacts, observed, member, root)

    def _with(self, shape: _Shape, bases: Sequence[_Base], prior: float) -> list[_SparseModel]:
        """Return the models of each base and amplitude in which these settings matter."""
        return [model for base in bases for model in self._of_base(shape, base, prior)]

    def _of_base(self, shape: _Shape, base: _Base, prior: float) -> list[_SparseModel]:
        import numpy as np

        held = base.precision @ shape.member
        pulled = shape.root.T @ (shape.member.T @ base.weighted)
        information = shape.root.T @ (shape.member.T @ held) @ shape.root
        gains, turns = np.linalg.eigh(information)
        gains = np.maximum(gains, 0.0)
        along = turns.T @ pulled
        turned = shape.root @ turns
        found = []
        for multiple in AMPLITUDES:
            amplitude = multiple**2
            inner = 1.0 + amplitude * gains
            quadratic = base.quadratic - amplitude * float((along**2 / inner).sum())
            log_det = base.log_det + float(np.log(inner).sum())
            logs = prior + base.log_prior - math.log(len(AMPLITUDES))
            middle = (turned * (amplitude / inner)) @ turned.T
            found.append(
                _SparseModel(
                    shape=shape,
                    base=base,
                    amplitude=amplitude,
                    log_weight=logs + float(self._evidence(quadratic, log_det)),
                    held=held,
                    middle=middle,
                    weights=base.weighted - held @ (middle @ (shape.member.T @ base.weighted)),
                    scale=self._scale(max(quadratic, 0.0)),
                )
            )
        return found

    def _kernel(
        self,
        settings: tuple[int, ...],
        interacts: bool,
        first: Sequence[Array],
        second: Sequence[Array],
    ) -> Array:
        """Return the prior covariance of effects, for an amplitude of 1."""
        import numpy as np

        if len(settings) == 1:
            return _correlation(first[0], second[0])
        if not interacts:
            one, two = _correlation(first[0], second[0]), _correlation(first[1], second[1])
            zeros = np.zeros
            return np.block(
                [
                    [one, zeros((len(first[0]), len(second[1])))],
                    [zeros((len(first[1]), len(second[0]))), two],
                ]
            )
        width = self._settings[settings[0]].stop - self._settings[settings[0]].start
        one = _correlation(first[0][:, :width], second[0][:, :width])
        two = _correlation(first[0][:, width:], second[0][:, width:])
        return (one + two + one * two) * (2.0 / 3.0)

    def _normalised(self) -> tuple[Array, float]:
        """Return the probabilities of no effect, of each model, and of the dense model."""
        import numpy as np

        logs = [self._none, *(model.log_weight for model in self._models)]
        dense = self._conditioned_dense()
        logs.append(dense)
        found = np.exp(np.array(logs) - max(logs))
        found /= found.sum()
        return found[:-1], float(found[-1])

    def _conditioned_dense(self) -> float:
        """Condition the dense model; return the logarithm of its prior times its evidence."""
        import numpy as np
        from scipy.linalg import cho_factor, cho_solve

        if self._dense is None or self._among is None:
            return -math.inf
        whole = self._dense.relative_covariance()[np.ix_(self._among, self._among)] + LEVEL_VARIANCE
        factor = cho_factor(whole, lower=True)
        self._dense_factor = factor
        self._dense_pull = cho_solve(factor, self._centred)
        quadratic = float(self._centred @ self._dense_pull)
        self._dense_scale = self._scale(quadratic)
        log_det = 2.0 * float(np.log(np.diag(factor[0])).sum())
        beyond = max(0.0, math.log(len(self._centred) / PENALTY_FROM))
        penalty = DENSE_PENALTY + PENALTY_GROWTH * beyond
        prior = math.log(CLASS_PRIORS["dense"]) - penalty + self._dense.log_prior
        return prior + float(self._evidence(quadratic, log_det))

    # --- predictions ---

    @property
    def dense_probability(self) -> float:
        """Probability of the dense model, in which every setting may matter."""
        return self._dense_weight

    @property
    def sparse_probability(self) -> float:
        """Probability that few settings explain all but noise and nothing else matters."""
        weights = zip(self._models, self._weights[1:], strict=True)
        return float(sum(weight for model, weight in weights if model.base.own == 0.0))

    @property
    def null_probability(self) -> float:
        """Probability that no setting has an effect."""
        return float(self._weights[0])

    def leading(self, max_count: int) -> list[tuple[tuple[int, ...], float]]:
        """Return sets of settings that matter with their probabilities, the likeliest first."""
        found: dict[tuple[int, ...], float] = {}
        for model, weight in zip(self._models, self._weights[1:], strict=True):
            settings = model.shape.settings
            found[settings] = found.get(settings, 0.0) + float(weight)
        return sorted(found.items(), key=lambda pair: -pair[1])[:max_count]

    def sample_settings(self, rng: np.random.Generator) -> tuple[int, ...]:
        """Return the settings of a model drawn by probability; none if no sparse model is drawn."""
        at = int(rng.choice(len(self._weights) + 1, p=[*self._weights, self._dense_weight]))
        return self._models[at - 1].shape.settings if 0 < at < len(self._weights) else ()

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
        able = [(model, weight) for model, weight in pairs if model.shape.settings == settings]
        shares = np.array([weight for _, weight in able])
        model = able[int(rng.choice(len(able), p=shares / shares.sum()))][0]
        requested = self._columns_of(model.shape, rows)
        across = model.amplitude * self._across(model.shape, requested) @ model.shape.member.T
        held = model.base.precision - model.held @ model.middle @ model.held.T
        variance = (
            model.amplitude * self._covariance(model.shape, requested) - across @ held @ across.T
        )
        spread, directions = np.linalg.eigh(0.5 * (variance + variance.T))
        root = directions * np.sqrt(np.maximum(spread, 0.0))
        noise = math.sqrt(model.scale * self.freedom / float(rng.chisquare(self.freedom)))
        drawn = across @ model.weights + noise * (root @ rng.standard_normal(len(rows)))
        return np.asarray(drawn)

    def contrasts(self, rows: Array, known: Places, weights: Array) -> tuple[Array, Array]:
        """Return the means and standard deviations of weighted sums of configurations.

        Args:
            rows: configurations x columns.
            known: row of each configuration in the data of the dense model; -1 for none.
            weights: weights, sums x configurations; each row adds up to 0.
        """
        import numpy as np

        count = len(weights)
        mean, square = np.zeros(count), np.zeros(count)
        widen = self.freedom / max(self.freedom - 2.0, 0.5)
        settings = {k for m in self._models for k in m.shape.settings}
        alone = {k: self._alone(k, rows, weights) for k in settings}
        own = weights @ (known[:, None] == self._launches.which[None, :])
        squared = (weights**2).sum(axis=1)
        shapes: dict[tuple[tuple[int, ...], bool], tuple[Array, Array]] = {}
        for model, weight in zip(self._models, self._weights[1:], strict=True):
            shape = model.shape.settings, model.shape.interacts
            if shape not in shapes:
                shapes[shape] = self._turned(model.shape, rows, weights, alone)
            turned, prior = shapes[shape]
            across = model.amplitude * (turned @ model.shape.member.T) + model.base.own * own
            at = across @ model.weights
            whole = model.amplitude * prior + model.base.own * squared
            spread = np.maximum(whole - model.explained(across), 0.0)
            mean += weight * at
            square += weight * (model.scale * spread * widen + at**2)
        if self._dense is not None and self._dense_weight > 1e-6:
            at, spread = self._of_dense(rows, known, weights)
            mean += self._dense_weight * at
            square += self._dense_weight * (self._dense_scale * spread * widen + at**2)
        return mean, np.sqrt(np.maximum(square - mean**2, 0.0))

    def _alone(self, setting: int, rows: Array, weights: Array) -> tuple[Array, Array]:
        """Return the prior covariance by one setting, and the variances of sums."""
        import numpy as np

        columns = rows[:, self._settings[setting]]
        values, at = np.unique(columns, axis=0, return_inverse=True)
        at = np.asarray(at).reshape(-1)
        among = _correlation(values, values)[np.ix_(at, at)]
        return among, ((weights @ among) * weights).sum(axis=1)

    def _turned(
        self,
        shape: _Shape,
        rows: Array,
        weights: Array,
        alone: dict[int, tuple[Array, Array]],
    ) -> tuple[Array, Array]:
        """Return the unscaled prior covariance of sums with observed values, and variances."""
        requested = self._columns_of(shape, rows)
        turned = weights @ self._across(shape, requested)
        prior = sum((alone[k][1] for k in shape.settings[1:]), alone[shape.settings[0]][1])
        if shape.interacts:
            first, second = (alone[k][0] for k in shape.settings)
            prior = (prior + ((weights @ (first * second)) * weights).sum(axis=1)) * (2.0 / 3.0)
        return turned, prior

    def _columns_of(self, shape: _Shape, rows: Array) -> tuple[Array, ...]:
        import numpy as np

        columns = [rows[:, self._settings[k]] for k in shape.settings]
        return (np.hstack(columns),) if shape.interacts else tuple(columns)

    def _across(self, shape: _Shape, rows: Sequence[Array]) -> Array:
        """Return the prior covariance of configuration effects with those of observed values."""
        import numpy as np

        if shape.interacts or len(shape.settings) == 1:
            return self._kernel(shape.settings, shape.interacts, rows, shape.observed)
        return np.hstack([_correlation(a, b) for a, b in zip(rows, shape.observed, strict=True)])

    def _covariance(self, shape: _Shape, requested: tuple[Array, ...]) -> Array:
        """Return the prior covariance of the effects of configurations, unscaled."""
        if shape.interacts or len(shape.settings) == 1:
            return self._kernel(shape.settings, shape.interacts, requested, requested)
        first, second = (_correlation(columns, columns) for columns in requested)
        return first + second

    def _of_dense(self, rows: Array, known: Places, weights: Array) -> tuple[Array, Array]:
        import numpy as np
        from scipy.linalg import cho_solve

        assert self._dense is not None
        across, among = self._dense.relative_prior(rows, known)
        turned = weights @ across[self._among].T
        mean = turned @ self._dense_pull
        held = np.einsum("ij,ji->i", turned, cho_solve(self._dense_factor, turned.T))
        prior = ((weights @ among) * weights).sum(axis=1)
        return mean, np.maximum(prior - held, 0.0)


def _correlation(first: Array, second: Array) -> Array:
    """Return the correlation of the effects of two values of a setting."""
    import numpy as np

    squared_distances = ((first[:, None, :] - second[None, :, :]) ** 2).sum(axis=2)
    smooth = np.exp(-0.5 * squared_distances / LENGTH**2)
    return np.asarray(
        (1.0 - ROUGHNESS) * smooth + ROUGHNESS * (squared_distances < SAME_VALUE_DISTANCE)
    )
