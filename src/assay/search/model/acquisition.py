"""Acquisition function: the configurations of a pool to launch together in the next block.

No single rule is best for every space: expected improvement is greedy where the surrogate is
overconfident, and the optimum may lie in a corner that no trend indicates. So a batch alternates
between rules, and each choice is conditioned on those before it:

- ``improve``: the launch with the largest expected gain; may be a replicate.
- ``bound``: the lowest lower bound among new ones.
- ``near``: the largest expected improvement, from a surrogate with inflated variance, among new
  ones that differ from the best in at most two parameters.
- ``probe``: the lowest bound among new ones with a value of one parameter that the best does not
  have; the parameter is drawn at random, and then the value, among those that new ones have.

The improvement of a replicate alone would be its uncertainty about a value that is known to be
good: in a space of sixty unrelated configurations a quarter of the budget went into replicates. A
replicate gains only if it changes the choice of the best, so the expected gain of a launch is that
of the knowledge gradient (Frazier, Powell and Dayanik, SIAM J. Control Optim., 2008).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.search.model.surrogate import Surrogate

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
    Places = npt.NDArray[np.intp]

BOUND_DEVIATIONS = 2.0
"""Standard deviations below the mean, for the lower bound."""
PROBE_DEVIATIONS = 1.5
"""Standard deviations below the mean, for the bound of a probe."""
NEAR_FACTOR = 1.5
"""Factor on the standard deviation near the incumbent, for the rule ``near``."""
MAX_SHORTLIST = 150
"""Maximum number of candidates of a rule; a probe has fewer of each level."""
MAX_SHORTLIST_PER_LEVEL = 3
GAIN_FACTOR = 2.0
"""Factor on the posterior deviation in the estimate of the remaining gain: a model is only as
accurate as its kernel, and a single good value among many bad ones is its typical error."""
POSTERIOR_DRAWS = 400
"""Draws from the posterior, for the estimate of the remaining gain."""
MAX_PROBED_LEVELS = 8
"""Maximum number of levels of a probed parameter, unless all parameters have more."""


@dataclass(frozen=True)
class Pool:
    """Configurations that may be launched.

    Attributes:
        rows: features, configurations x columns.
        known: row of each configuration in the surrogate's data; -1 if it was never launched.
        levels: level number of each value, configurations x parameters.
        able: whether each configuration may be proposed; false for failed ones.
        admits: predicate by index that tests a configuration before it is proposed; all are
            admitted if absent.
    """

    rows: Array
    known: Places
    levels: Places
    able: npt.NDArray[np.bool_]
    admits: Callable[[int], bool] | None = None

    def is_admitted(self, at: int) -> bool:
        """Return whether the configuration at an index may be proposed."""
        return self.admits is None or self.admits(at)


Prediction = tuple["Array", "Array"]
"""Mean and standard deviation of each configuration of a pool."""


def choose_batch(
    surrogate: Surrogate,
    pool: Pool,
    turns: Sequence[str],
    rng: np.random.Generator,
    predicted: Prediction | None = None,
) -> list[int]:
    """Return the index of a distinct configuration for each turn; fewer if the pool is small.

    Args:
        surrogate: fitted to the launches.
        pool: at least one of its configurations was launched.
        turns: the rule of each choice.
        rng: draws the values to probe.
        predicted: prediction of the surrogate for the pool, if it is known.
    """
    import numpy as np

    mean, deviation = predicted or surrogate.predict(pool.rows, pool.known)
    launched = np.flatnonzero(pool.known >= 0)
    if not len(launched):
        return []
    best = int(launched[np.argmin(mean[launched])])
    indices = _shortlist(mean, deviation, pool, best)
    chosen: list[int] = []
    short = _Shortlist(
        mean=mean[indices],
        covariance=surrogate.covariance(pool.rows[indices], pool.known[indices]),
        fresh=pool.known[indices] < 0,
        levels=pool.levels[indices],
        incumbent=pool.levels[best],
        best=float(mean[best]),
        launch_variance=surrogate.launch_variance,
    )
    for turn in turns:
        at = _admitted(short, pool, indices, turn, rng)
        if at is None:
            at = _admitted(short, pool, indices, "improve", rng)
        if at is None:
            break
        chosen.append(int(indices[at]))
        short.take(at)
    return chosen


def _admitted(
    short: _Shortlist, pool: Pool, indices: Places, rule: str, rng: np.random.Generator
) -> int | None:
    """Return the best candidate by a rule that the pool admits; others are dropped.

    Args:
        short: the candidates.
        pool: the pool.
        indices: index in the pool of each candidate.
        rule: the rule.
        rng: draws the values to probe.
    """
    while (at := short.choose(rule, rng)) is not None:
        if pool.is_admitted(int(indices[at])):
            return at
        short.drop(at)
    return None


def _shortlist(mean: Array, deviation: Array, pool: Pool, best: int) -> Places:
    """Return the candidates that any rule may choose; all if there are few."""
    import numpy as np

    able = np.flatnonzero(pool.able)
    if len(able) <= 4 * MAX_SHORTLIST:
        return able
    lower = (mean - BOUND_DEVIATIONS * deviation)[able]
    found = [
        able[np.argsort(lower)[:MAX_SHORTLIST]],
        able[np.argsort(-log_improvement(mean, deviation, mean[best])[able])[:MAX_SHORTLIST]],
        able[np.argsort(mean[able])[: MAX_SHORTLIST // 3]],
    ]
    near = able[(pool.levels[able] != pool.levels[best]).sum(axis=1) <= 2]
    found.append(near[np.argsort(lower[np.searchsorted(able, near)])[:MAX_SHORTLIST]])
    ordered = able[np.argsort(lower)]
    levels = pool.levels[ordered]
    fresh = pool.known[ordered] < 0
    for column in range(levels.shape[1]):
        for level in np.unique(levels[:, column]):
            of_level = ordered[fresh & (levels[:, column] == level)]
            found.append(of_level[:MAX_SHORTLIST_PER_LEVEL])
    return np.unique(np.concatenate(found))


class _Shortlist:
    """Candidates with their posterior, which is updated with each choice."""

    def __init__(
        self,
        *,
        mean: Array,
        covariance: Array,
        fresh: npt.NDArray[np.bool_],
        levels: Places,
        incumbent: Places,
        best: float,
        launch_variance: float,
    ) -> None:
        import numpy as np

        self._mean = mean
        self._covariance = covariance
        self._fresh = fresh
        self._levels = levels
        self._incumbent = incumbent
        self._best = best
        self._launch_variance = launch_variance
        self._free = np.ones(len(mean), dtype=bool)

    def drop(self, at: int) -> None:
        """Exclude a candidate."""
        self._free[at] = False

    def take(self, at: int) -> None:
        """Condition on a launch with the expected value: means stay, the covariance shrinks."""
        import numpy as np

        self.drop(at)
        column = self._covariance[:, at].copy()
        explained = np.outer(column, column)
        explained /= column[at] + self._launch_variance
        self._covariance -= explained

    def choose(self, rule: str, rng: np.random.Generator) -> int | None:
        """Return the best candidate by a rule; ``None`` without an eligible one."""
        import numpy as np

        deviation = np.sqrt(np.maximum(np.diag(self._covariance), 1e-12))
        allowed = self._free.copy()
        match rule:
            case "improve":
                value = self._log_gain(deviation)
            case "bound":
                value = BOUND_DEVIATIONS * deviation - self._mean
                allowed = self._preferring_fresh(allowed)
            case "near":
                value = log_improvement(self._mean, NEAR_FACTOR * deviation, self._best)
                allowed &= self._fresh & ((self._levels != self._incumbent).sum(axis=1) <= 2)
            case _:
                value = PROBE_DEVIATIONS * deviation - self._mean
                allowed &= self._fresh
                allowed &= self._probed(allowed, rng)
        indices = np.flatnonzero(allowed)
        return int(indices[np.argmax(value[indices])]) if len(indices) else None

    def _log_gain(self, deviation: Array) -> Array:
        """Return the logarithm of the expected gain of a launch of each candidate.

        A launch reduces the uncertainty of its configuration. A known configuration gains if it
        takes the place of the best one, and the best one if another takes its place.

        Args:
            deviation: posterior standard deviation of each candidate.
        """
        import numpy as np

        learnt = deviation**2 / np.sqrt(deviation**2 + self._launch_variance)
        rival = np.full(len(self._mean), self._best)
        known = np.flatnonzero(~self._fresh)
        if len(known) > 1:
            first, second = known[np.argsort(self._mean[known], kind="stable")[:2]]
            rival[first] = 2.0 * self._mean[first] - self._mean[second]
        return log_improvement(self._mean, learnt, rival)

    def _preferring_fresh(self, allowed: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Return the new candidates among the allowed ones, or all where none is new."""
        fresh = allowed & self._fresh
        return fresh if fresh.any() else allowed

    def _probed(
        self, allowed: npt.NDArray[np.bool_], rng: np.random.Generator
    ) -> npt.NDArray[np.bool_]:
        """Return the candidates with one randomly drawn value that the incumbent does not have.

        Args:
            allowed: candidates whose values are drawn.
            rng: source of the draws.
        """
        import numpy as np

        others = {
            column: np.setdiff1d(self._levels[allowed, column], self._incumbent[column])
            for column in range(self._levels.shape[1])
        }
        open_ = [column for column, levels in others.items() if len(levels)]
        if not open_:
            return np.zeros(len(self._mean), dtype=bool)
        counts = [len(np.unique(self._levels[:, column])) for column in open_]
        few = [c for c, n in zip(open_, counts, strict=True) if n <= MAX_PROBED_LEVELS]
        column = int(rng.choice(few or open_))
        found: npt.NDArray[np.bool_] = self._levels[:, column] == rng.choice(others[column])
        return found


def log_improvement(mean: Array, deviation: Array, best: float | Array) -> Array:
    """Return the logarithm of the expected improvement below ``best``, up to a constant.

    Far above ``best`` the expectation underflows to 0, and candidates could not be ranked (Ament et
    al., NeurIPS 2023); there its asymptote is used.
    """
    import numpy as np
    from scipy.special import ndtr

    z = (best - mean) / deviation
    found = np.empty_like(z)
    close = z > -6.0
    density = np.exp(-0.5 * z[close] ** 2) / math.sqrt(2.0 * math.pi)
    found[close] = np.log(np.maximum(z[close] * ndtr(z[close]) + density, 1e-300))
    far = ~close
    found[far] = -0.5 * z[far] ** 2 - 0.5 * math.log(2.0 * math.pi) - 2.0 * np.log(-z[far])
    return np.asarray(found + np.log(deviation))


def remaining_gain(
    surrogate: Surrogate,
    pool: Pool,
    confidence: float,
    rng: np.random.Generator,
    predicted: Prediction | None = None,
) -> float:
    """Return an upper bound of the gain of the best of a pool over the best that was launched.

    A difference of logarithms that holds with this confidence, from draws of the joint posterior of
    the candidates with the lowest bounds, with inflated deviation.

    Args:
        surrogate, pool, predicted: as for ``choose_batch``.
        confidence: probability that the bound holds.
        rng: draws from the posterior.
    """
    import numpy as np

    mean, deviation = predicted or surrogate.predict(pool.rows, pool.known)
    launched = np.flatnonzero((pool.known >= 0) & pool.able)
    able = np.flatnonzero(pool.able)
    if not len(launched) or not len(able):
        return math.inf
    best = int(launched[np.argmin(mean[launched])])
    lower = (mean - BOUND_DEVIATIONS * deviation)[able]
    indices = np.unique([best, *able[np.argsort(lower)[:MAX_SHORTLIST]]])
    covariance = surrogate.covariance(pool.rows[indices], pool.known[indices])
    root = GAIN_FACTOR * _root(covariance)
    drawn = mean[indices] + rng.standard_normal((POSTERIOR_DRAWS, len(indices))) @ root
    gains = drawn[:, np.searchsorted(indices, best)] - drawn.min(axis=1)
    return float(np.quantile(gains, confidence))


def sample_best(
    surrogate: Surrogate, pool: Pool, among: Sequence[int], rng: np.random.Generator
) -> int:
    """Draw one of ``among`` with the probability that it is the best (Thompson sampling)."""
    import numpy as np

    indices = np.array(among, dtype=np.intp)
    mean, _ = surrogate.predict(pool.rows[indices], pool.known[indices])
    covariance = surrogate.covariance(pool.rows[indices], pool.known[indices])
    drawn = mean + _root(covariance) @ rng.standard_normal(len(indices))
    return int(indices[np.argmin(drawn)])


def _root(covariance: Array) -> Array:
    """Return the symmetric square root, which does not depend on arbitrary signs of a factor."""
    import numpy as np

    values, vectors = np.linalg.eigh(covariance)
    root: Array = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return root
