"""Table of levels in ``assay.stats.confidence_sequence``, by importance sampling."""

from __future__ import annotations

import math

import numpy as np

from assay.stats.confidence_sequence import MIN_CLAIM_VALUES, PRIOR_VARIANCE

WANTED = (0.0001, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2)
SAFETY = 0.92


def levels(studies: int, analyses: int, seed: int) -> list[tuple[float, float]]:
    """Return pairs of alpha and level / alpha.

    The level is the largest at which P(ever E_n >= 1/level, n >= 6) <= alpha. By importance
    sampling under the mixture, P0(hit) = E1[1 / E at the hit]. Studies without a hit after the last
    simulated analysis add at most level * P1(no hit).
    """
    rng = np.random.default_rng([seed, 4004])
    tried = np.geomspace(0.6, 5e-5, 200)
    limits = -np.log(tried)
    mean = math.sqrt(PRIOR_VARIANCE) * rng.standard_normal(studies)
    total, square = np.zeros(studies), np.zeros(studies)
    passed = np.zeros(studies, dtype=np.int64)
    weight = np.zeros(len(tried) + 1)
    for n in range(1, analyses + 1):
        x = mean + rng.standard_normal(studies)
        total += x
        square += x * x
        if n < MIN_CLAIM_VALUES:
            continue
        k, explained = 1.0 + n * PRIOR_VARIANCE, total * total / n
        r = explained / np.maximum(square - explained, 1e-300)
        log_e = -0.5 * math.log(k) + 0.5 * n * (np.log1p(r) - np.log1p(r / k))
        now = np.searchsorted(limits, log_e, side="right")
        new = now > passed
        np.add.at(weight, passed[new], np.exp(-log_e[new]))
        np.add.at(weight, now[new], -np.exp(-log_e[new]))
        passed[new] = now[new]
    hit = np.cumsum(weight)[:-1] / studies
    alive = np.array([(passed <= i).mean() for i in range(len(tried))])
    bound = hit + tried * alive
    found = np.exp(np.interp(np.log(WANTED), np.log(bound[::-1]), np.log(tried[::-1])))
    return [(alpha, float(at) / alpha) for alpha, at in zip(WANTED, found, strict=True)]
