"""Agreement of a low and the full fidelity, and promotion between them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.records.workload import Goal
from assay.stats.progress.reports import Array

MIN_CONFIGURATIONS = 8
"""Smallest number of configurations with an interval of Kendall's tau."""
_RESAMPLES = 1000
TOP = 3
"""Number of the best configurations at full fidelity that low fidelity should find."""


@dataclass(frozen=True, slots=True)
class FidelityAgreement:
    """Order of configurations at low fidelity, compared with that at full fidelity.

    Attributes:
        tau: Kendall's tau-b: 1 for the same order, 0 for unrelated orders.
        lo, hi: bootstrap interval of tau over configurations; absent below eight.
        ceiling: tau between two halves of the launches of one fidelity, the largest that noise
            permits; absent without such halves.
        configurations: number of configurations with both values.
        top_found: how many of the best ``TOP`` at full fidelity are in the best quarter at low
            fidelity.
    """

    tau: float
    lo: float | None
    hi: float | None
    ceiling: float | None
    configurations: int
    top_found: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """Estimated logarithm of the value of a configuration.

    Attributes:
        mean: mean over its launches.
        sd: standard error of the mean, from the variances between and within launches.
    """

    mean: float
    sd: float


def kendall_tau(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return Kendall's tau-b of two series of values of the same items.

    Args:
        first, second: values in the same order of items.

    Returns:
        Tau; ``None`` if a series is shorter than two or has equal values only.
    """
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    a, b = np.sign(np.subtract.outer(x, x)), np.sign(np.subtract.outer(y, y))
    scale = math.sqrt(float((a * a).sum()) * float((b * b).sum()))
    return float((a * b).sum()) / scale if scale > 0.0 else None


def fidelity_agreement(
    low: Sequence[float],
    full: Sequence[float],
    *,
    goal: Goal,
    halves: tuple[Sequence[float], Sequence[float]] | None = None,
    low_only: Sequence[float] = (),
    alpha: float = 0.05,
    seed: int = 0,
) -> FidelityAgreement | None:
    """Compare the order of configurations at low and at full fidelity.

    Args:
        low, full: value of each configuration that was measured at both.
        goal: direction of better values.
        halves: values of each configuration from two halves of its launches at one fidelity.
        low_only: values of the configurations that were measured at low fidelity alone; they count
            for the best quarter.
        alpha: accepted probability that tau is outside its interval, approximately.
        seed: seed of the bootstrap.

    Returns:
        The agreement; ``None`` if tau is not defined.
    """
    tau = kendall_tau(low, full)
    if tau is None:
        return None
    n = len(low)
    lo = hi = None
    if n >= MIN_CONFIGURATIONS:
        lo, hi = _bootstrap(np.asarray(low), np.asarray(full), alpha, seed)
    sign = 1.0 if goal is Goal.LOWER else -1.0
    best_full = np.argsort(sign * np.asarray(full), kind="stable")[:TOP].tolist()
    every = np.asarray([*low, *low_only])
    quarter = np.argsort(sign * every, kind="stable")[: math.ceil(len(every) / 4)].tolist()
    return FidelityAgreement(
        tau=tau,
        lo=lo,
        hi=hi,
        ceiling=kendall_tau(*halves) if halves is not None else None,
        configurations=n,
        top_found=len(set(best_full) & set(quarter)),
    )


def promoted(
    estimates: Sequence[Estimate], *, goal: Goal, share: float = 0.25, deviations: float = 2.0
) -> list[int]:
    """Return the configurations whose interval reaches into the best share.

    A single noisy value loses the best configuration often; an interval keeps it until launches
    have separated it from the others (successive halving on intervals).

    Args:
        estimates: one estimate for each configuration.
        goal: direction of better values.
        share: share of the configurations that is promoted if the noise permits it.
        deviations: standard errors on each side of the mean.

    Returns:
        Indices in the order of the means, the best first.
    """
    if not estimates:
        return []
    sign = 1.0 if goal is Goal.LOWER else -1.0
    means = sign * np.array([one.mean for one in estimates])
    reach = deviations * np.array([one.sd for one in estimates])
    count = max(1, math.ceil(share * len(estimates)))
    limit = float(np.sort(means + reach)[count - 1])
    order = np.argsort(means, kind="stable").tolist()
    return [at for at in order if means[at] - reach[at] <= limit]


def needs_launches(launch_sd: float, step_variance: float, steps: float) -> bool:
    """Return whether another launch tells more than longer ones.

    Args:
        launch_sd: standard deviation between launches, relative.
        step_variance: long-run variance of a step, relative.
        steps: steady steps of a launch.
    """
    return step_variance / steps < launch_sd**2


def _bootstrap(low: Array, full: Array, alpha: float, seed: int) -> tuple[float, float]:
    """Return the percentile interval of tau over resampled configurations."""
    rng = np.random.default_rng(seed)
    n = len(low)
    products = np.sign(np.subtract.outer(low, low)), np.sign(np.subtract.outer(full, full))
    taus = []
    for rows in rng.integers(0, n, size=(_RESAMPLES, n)):
        a, b = (signs[np.ix_(rows, rows)] for signs in products)
        scale = math.sqrt(float((a * a).sum()) * float((b * b).sum()))
        if scale > 0.0:
            taus.append(float((a * b).sum()) / scale)
    lo, hi = np.quantile(taus, (alpha / 2, 1 - alpha / 2))
    return float(lo), float(hi)
