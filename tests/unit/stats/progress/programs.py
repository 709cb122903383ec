"""Simulated launches for the tests of progress."""

from __future__ import annotations

import numpy as np

from assay.stats.progress.reports import Reports


def program(
    steps: int,
    *,
    seed: int = 0,
    step_s: float = 0.2,
    start_s: float = 10.0,
    warm_up: int = 100,
    slower: float = 0.5,
    shape: str = "abrupt",
    step_sd: float = 0.05,
    correlation: float = 0.6,
    checkpoint_s: float = 2.0,
    every: int = 50,
    launch: float = 1.0,
    report_every: int = 1,
    work: float = 32.0,
) -> Reports:
    """Return the reports of a program that prints the rate of each report interval."""
    rng = np.random.default_rng(seed)
    noise = np.zeros(steps)
    state = rng.standard_normal()
    for at in range(steps):
        state = correlation * state + np.sqrt(1 - correlation**2) * rng.standard_normal()
        noise[at] = state
    at = np.arange(steps)
    extra = {
        "abrupt": (at < warm_up) * 1.0,
        "linear": np.clip(1 - at / max(warm_up, 1), 0, None),
        "exponential": np.exp(-at / max(warm_up / 4, 1)),
    }[shape]
    seconds = step_s * (1 + slower * extra) * (1 + step_sd * noise)
    if every:
        seconds[every - 1 :: every] += checkpoint_s
    times = start_s + np.cumsum(seconds * launch)
    reported = np.arange(report_every, steps + 1, report_every)
    previous = np.concatenate(([start_s], times[reported[:-1] - 1]))
    times = times[reported - 1]
    values = work * report_every / (times - previous)
    return Reports(reported.astype(float), times, values)
