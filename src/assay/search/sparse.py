"""Sparse models: averages over models in which few settings matter.

Each model says that none, one or two settings matter; their effect is a Gaussian process over their
values, alone, added, or with an interaction. Noise is unknown: the amplitude of an effect is stated
in multiples of it, so that the evidence of a model and its predictions are Student's t (Rasmussen
and Williams, 2006, ch. 2; O'Hagan and Forster, Bayesian Inference, 2004, ch. 11). Beside them
stands one dense model, the process of ``assay.search.surrogate``, in which every setting may
matter.

An average over models shrinks the best of many launches by the chance that it was luck, and says of
each setting how likely it is to matter.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from assay.search.surrogate import Surrogate

    Array = npt.NDArray[np.float64]
    Places = npt.NDArray[np.intp]

AMPLITUDES = (2.0, 6.0, 18.0)
"""Standard deviation of the effect of a value, in multiples of the noise of a launch."""
LENGTH = 0.5
"""Length scale of an effect in the columns of a setting, which range from 0 to 1."""
BLOCK_SHARE = 0.1
"""Variance that all launches of a block share, in multiples of that of a launch."""
NOISE = (3.0, 0.03)
"""Degrees of freedom and size (a logarithm) of the prior on the noise of a launch."""
LEVEL = 1e4
"""Variance of the overall level, in multiples of that of a launch: it is unknown."""
PRIOR = {"none": 0.25, "one": 0.3, "sum": 0.15, "pair": 0.1, "dense": 0.2}
"""Probability of each class of models before any launch, shared evenly within the class."""
PAIRED = 9
"""So many settings, those with the most evidence by themselves, are looked at in pairs."""
DENSE_PENALTY = 2.0
"""Logarithm of the evidence that the dense model gains by fitting its hyperparameters."""
NEGLIGIBLE = 1e-3
"""Models with less than this share of the largest probability are left out."""


@dataclass(frozen=True)
class Launches:
    """What the models are conditioned on.

    Attributes:
        rows: configurations x columns.
        which: for each launch, the row that ran.
        block: for each launch, the block in which it ran.
        values: for each launch, the logarithm of the objective.
    """

    rows: Array
    which: Places
    block: Places
    values: Array


@dataclass(frozen=True)
class _Few:
    """A model in which few settings matter, conditioned on launches.

    Attributes:
        settings: numbers of the settings that matter.
        interacts: whether two of them interact.
        amplitude: prior variance of an effect, in multiples of that of a launch.
        log_weight: logarithm of its prior times its evidence.
        seen: columns of the distinct values seen, one array for each setting (for an interaction
            of the distinct pairs).
        pull: weights of the posterior mean.
        hold: matrix by which the posterior variance is less than the prior one.
        scale: scale of the noise variance.
    """

    settings: tuple[int, ...]
    interacts: bool
    amplitude: float
    log_weight: float
    seen: tuple[Array, ...]
    pull: Array
    hold: Array
    scale: float


class SparseModels:
    """Models of which few settings matter, averaged by their evidence.

    Args:
        launches: at least two.
        settings: for each setting, its columns.
        dense: a process fitted to these launches, among others; ``None``: there is none.
        among: for each launch, its place among those of ``dense``.
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
        same_block = launches.block[:, None] == launches.block[None, :]
        base = np.eye(count) + BLOCK_SHARE * same_block + LEVEL
        precision = np.linalg.inv(base)
        self._precision = 0.5 * (precision + precision.T)
        self._log_base = float(np.linalg.slogdet(base)[1])
        self._centred = centred
        self._weighted = self._precision @ centred
        self._quadratic = float(centred @ self._weighted)
        self.freedom = NOISE[0] + count - 1
        self._models = self._fitted()
        self._weights, self._dense_weight = self._normalised()

    # --- fitting ---

    def _evidence(self, quadratic: Array | float, log_det: Array | float) -> Array:
        """Logarithm of a Student density, up to what all models share."""
        import numpy as np

        sum_of_squares = NOISE[0] * NOISE[1] ** 2 + np.asarray(quadratic)
        return np.asarray(-0.5 * log_det - 0.5 * self.freedom * np.log(sum_of_squares))

    def _scale(self, quadratic: float) -> float:
        return (NOISE[0] * NOISE[1] ** 2 + quadratic) / self.freedom

    def _fitted(self) -> list[_Few]:
        import numpy as np

        count = len(self._settings)
        # The level of the values takes one degree of freedom, which all models share.
        self._none = math.log(PRIOR["none"]) + float(
            self._evidence(self._quadratic, self._log_base)
        )
        found: list[_Few] = []
        best: dict[int, float] = {}
        varied = [k for k in range(count) if len(self._distinct((k,))[0]) > 1]
        prior = math.log(PRIOR["one"] / max(1, count))
        for k in varied:
            models = self._with((k,), False, prior)
            best[k] = max(model.log_weight for model in models)
            found += models
        leading = sorted(best, key=lambda k: -best[k])[:PAIRED]
        pairs = max(1, count * (count - 1) // 2)
        for pair in itertools.combinations(sorted(leading), 2):
            found += self._with(pair, False, math.log(PRIOR["sum"] / pairs))
            found += self._with(pair, True, math.log(PRIOR["pair"] / pairs))
        most = max([self._none, *(model.log_weight for model in found)])
        return [m for m in found if m.log_weight >= most + np.log(NEGLIGIBLE)]

    def _distinct(self, settings: tuple[int, ...]) -> tuple[Array, Places]:
        """The distinct values of some settings together, and which of them each launch has."""
        import numpy as np

        columns = np.hstack([self._launches.rows[:, self._settings[k]] for k in settings])
        values, at = np.unique(columns, axis=0, return_inverse=True)
        return values, np.asarray(at).reshape(-1)[self._launches.which]

    def _with(self, settings: tuple[int, ...], interacts: bool, prior: float) -> list[_Few]:
        """A model of each amplitude in which these settings matter."""
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
        seen = tuple(values for values, _ in parts)
        among = self._kernel(settings, interacts, seen, seen)
        spread, directions = np.linalg.eigh(among)
        root = directions * np.sqrt(np.maximum(spread, 0.0))
        held = self._precision @ member
        information = member.T @ held
        pulled = member.T @ self._weighted
        gains, turns = np.linalg.eigh(root.T @ information @ root)
        gains = np.maximum(gains, 0.0)
        along = turns.T @ (root.T @ pulled)
        found = []
        for multiple in AMPLITUDES:
            amplitude = multiple**2
            inner = 1.0 + amplitude * gains
            quadratic = self._quadratic - amplitude * float((along**2 / inner).sum())
            log_det = self._log_base + float(np.log(inner).sum())
            weight = prior - math.log(len(AMPLITUDES)) + float(self._evidence(quadratic, log_det))
            middle = (root @ turns) * (amplitude / inner) @ (root @ turns).T
            found.append(
                _Few(
                    settings=settings,
                    interacts=interacts,
                    amplitude=amplitude,
                    log_weight=weight,
                    seen=seen,
                    pull=pulled - information @ (middle @ pulled),
                    hold=information - information @ middle @ information,
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
        """Prior covariance of effects, for an amplitude of 1."""
        import numpy as np

        if len(settings) == 1:
            return _alike(first[0], second[0])
        if not interacts:
            one, two = _alike(first[0], second[0]), _alike(first[1], second[1])
            zeros = np.zeros
            return np.block(
                [
                    [one, zeros((len(first[0]), len(second[1])))],
                    [zeros((len(first[1]), len(second[0]))), two],
                ]
            )
        width = self._settings[settings[0]].stop - self._settings[settings[0]].start
        one = _alike(first[0][:, :width], second[0][:, :width])
        two = _alike(first[0][:, width:], second[0][:, width:])
        return (one + two + one * two) * (2.0 / 3.0)

    def _normalised(self) -> tuple[Array, float]:
        """Probabilities of no effect and of each model, and that of the dense one."""
        import numpy as np

        logs = [self._none, *(model.log_weight for model in self._models)]
        dense = self._conditioned_dense()
        logs.append(dense)
        found = np.exp(np.array(logs) - max(logs))
        found /= found.sum()
        return found[:-1], float(found[-1])

    def _conditioned_dense(self) -> float:
        """Condition the dense model; the logarithm of its prior times its evidence."""
        import numpy as np
        from scipy.linalg import cho_factor, cho_solve

        if self._dense is None or self._among is None:
            return -math.inf
        whole = self._dense.relative_covariance()[np.ix_(self._among, self._among)] + LEVEL
        factor = cho_factor(whole, lower=True)
        self._dense_factor = factor
        self._dense_pull = cho_solve(factor, self._centred)
        quadratic = float(self._centred @ self._dense_pull)
        self._dense_scale = self._scale(quadratic)
        log_det = 2.0 * float(np.log(np.diag(factor[0])).sum())
        prior = math.log(PRIOR["dense"]) - DENSE_PENALTY + self._dense.log_prior
        return prior + float(self._evidence(quadratic, log_det))

    # --- what they say ---

    @property
    def dense(self) -> float:
        """Probability of the model in which every setting may matter."""
        return self._dense_weight

    @property
    def nothing(self) -> float:
        """Probability that no setting does anything."""
        return float(self._weights[0])

    def leading(self, most: int) -> list[tuple[tuple[int, ...], float]]:
        """Sets of settings that matter, the likeliest first, each with its probability."""
        found: dict[tuple[int, ...], float] = {}
        for model, weight in zip(self._models, self._weights[1:], strict=True):
            found[model.settings] = found.get(model.settings, 0.0) + float(weight)
        return sorted(found.items(), key=lambda pair: -pair[1])[:most]

    def contrasts(self, rows: Array, known: Places, weights: Array) -> tuple[Array, Array]:
        """Means and standard deviations of weighted sums of configurations.

        Args:
            rows: configurations x columns.
            known: for each, its row among the data of the dense model; -1 for none.
            weights: sums x configurations; each adds up to 0.
        """
        import numpy as np

        count = len(weights)
        mean, square = np.zeros(count), np.zeros(count)
        widen = self.freedom / max(self.freedom - 2.0, 0.5)
        alone = {k: self._alone(k, rows, weights) for m in self._models for k in m.settings}
        shapes: dict[tuple[tuple[int, ...], bool], tuple[Array, Array]] = {}
        for model, weight in zip(self._models, self._weights[1:], strict=True):
            shape = model.settings, model.interacts
            if shape not in shapes:
                shapes[shape] = self._turned(model, rows, weights, alone)
            turned, prior = shapes[shape]
            at = model.amplitude * (turned @ model.pull)
            held = ((turned @ model.hold) * turned).sum(axis=1)
            spread = np.maximum(model.amplitude * prior - model.amplitude**2 * held, 0.0)
            mean += weight * at
            square += weight * (model.scale * spread * widen + at**2)
        if self._dense is not None and self._dense_weight > 1e-6:
            at, spread = self._of_dense(rows, known, weights)
            mean += self._dense_weight * at
            square += self._dense_weight * (self._dense_scale * spread * widen + at**2)
        return mean, np.sqrt(np.maximum(square - mean**2, 0.0))

    def _alone(self, setting: int, rows: Array, weights: Array) -> tuple[Array, Array]:
        """Prior covariance of configurations by one setting, and the variance of sums of them."""
        import numpy as np

        columns = rows[:, self._settings[setting]]
        values, at = np.unique(columns, axis=0, return_inverse=True)
        at = np.asarray(at).reshape(-1)
        among = _alike(values, values)[np.ix_(at, at)]
        return among, ((weights @ among) * weights).sum(axis=1)

    def _turned(
        self,
        model: _Few,
        rows: Array,
        weights: Array,
        alone: dict[int, tuple[Array, Array]],
    ) -> tuple[Array, Array]:
        """Prior covariance of sums with what was seen, and their prior variance, unscaled."""
        asked = self._asked(model, rows)
        turned = weights @ self._across(model, asked, model.seen)
        prior = sum((alone[k][1] for k in model.settings[1:]), alone[model.settings[0]][1])
        if model.interacts:
            first, second = (alone[k][0] for k in model.settings)
            prior = (prior + ((weights @ (first * second)) * weights).sum(axis=1)) * (2.0 / 3.0)
        return turned, prior

    def _asked(self, model: _Few, rows: Array) -> tuple[Array, ...]:
        import numpy as np

        columns = [rows[:, self._settings[k]] for k in model.settings]
        return (np.hstack(columns),) if model.interacts else tuple(columns)

    def _across(self, model: _Few, first: Sequence[Array], second: Sequence[Array]) -> Array:
        """Prior covariance of the sums of effects of configurations with distinct values.

        ``second`` may hold configurations as well; then the parts of each are added up.
        """
        import numpy as np

        if model.interacts or len(model.settings) == 1:
            return self._kernel(model.settings, model.interacts, first, second)
        parts = [_alike(a, b) for a, b in zip(first, second, strict=True)]
        if second is model.seen:
            return np.hstack(parts)
        return parts[0] + parts[1]

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

    def draw(
        self, settings: tuple[int, ...], rows: Array, base: Array, rng: np.random.Generator
    ) -> Array:
        """One draw of the effects of configurations against another, where these settings matter.

        Args:
            settings: one of ``leading``.
            rows: configurations x columns.
            base: columns of the configuration that they are held against.
            rng: draws.
        """
        import numpy as np

        models = [
            (m, float(w))
            for m, w in zip(self._models, self._weights[1:], strict=True)
            if m.settings == settings
        ]
        total = sum(w for _, w in models)
        at = int(rng.choice(len(models), p=[w / total for _, w in models]))
        model = models[at][0]
        every = np.vstack([base[None, :], rows])
        asked = self._asked(model, every)
        across = self._across(model, asked, model.seen)
        among = self._across(model, asked, asked)
        mean = model.amplitude * (across @ model.pull)
        variance = model.amplitude * among - model.amplitude**2 * (across @ model.hold @ across.T)
        values, vectors = np.linalg.eigh(0.5 * (variance + variance.T))
        root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        size = math.sqrt(model.scale * self.freedom / float(rng.chisquare(self.freedom)))
        drawn = mean + size * (root @ rng.standard_normal(len(every)))
        return np.asarray(drawn[1:] - drawn[0])


def _alike(first: Array, second: Array) -> Array:
    """Correlation of the effects of two values of a setting."""
    import numpy as np

    apart = ((first[:, None, :] - second[None, :, :]) ** 2).sum(axis=2)
    return np.asarray(np.exp(-0.5 * apart / LENGTH**2))
