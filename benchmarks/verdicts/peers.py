"""Decision rules of other tools, on the same streams as assay's rules.

Each rule is reimplemented from the sources of the tool, with its order of launches. It returns for
each study whether the tool finds a difference between two identical arms.

pyperf: psf/pyperf at ab7fd04, ``_utils.is_significant``, ``_compare.is_significant_benchs``.
hyperfine: sharkdp/hyperfine at 327d5f4, ``relative_speed.rs``, ``scripts/welch_ttest.py``.
temci: parttimenerd/temci at 0f30952, ``run_processor.py``, ``rundata.py``, ``testers.py``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from .noise import Array, Stream, shuffled
from .student import critical, critical_between

Flags = npt.NDArray[np.bool_]
Rule = Callable[[Stream, np.random.Generator], Flags]

PROCESSES, IN_PROCESS = 20, 3
"""Processes of pyperf for each benchmark, and values in each process."""
PYPERF_CRITICAL = 1.984
"""Value in pyperf's table for 100 to 199 degrees of freedom."""
HYPERFINE_RUNS = 10
TEMCI_RUNS = (20, 100)
TEMCI_UNSURE = (0.05, 0.15)
"""Range of p in which temci continues."""
PEEKS = (5, 50)
PAIRS = 30


def pyperf(stream: Stream, rng: np.random.Generator) -> Flags:
    """Apply ``compare_to``: all processes of A before all of B, with pooled values."""
    a, b = _processes(stream)
    return pyperf_significant(a, b)


def pyperf_unequal(stream: Stream, rng: np.random.Generator) -> Flags:
    """Apply ``compare_to`` if one process of B was lost."""
    a, b = _processes(stream)
    return pyperf_significant(a, b[:, IN_PROCESS:])


def pyperf_significant(a: Array, b: Array) -> Flags:
    """Apply a two-sample t test with pooled variance; unequal numbers count as significant."""
    n = a.shape[1]
    if n != b.shape[1]:
        return np.ones(a.shape[0], dtype=np.bool_)
    found: Flags = np.abs(_pooled_t(a, b)) >= PYPERF_CRITICAL
    return found


def welch(stream: Stream, rng: np.random.Generator) -> Flags:
    """Apply hyperfine's script, Welch's t test with p < 0.05, to the runs of A and then of B."""
    a, b = _blocked(stream.launches, HYPERFINE_RUNS)
    n = HYPERFINE_RUNS
    errors = a.var(axis=1, ddof=1) / n, b.var(axis=1, ddof=1) / n
    total = errors[0] + errors[1]
    with np.errstate(invalid="ignore", divide="ignore"):
        t = (a.mean(axis=1) - b.mean(axis=1)) / np.sqrt(total)
        degrees = total**2 / ((errors[0] ** 2 + errors[1] ** 2) / (n - 1))
    found: Flags = np.abs(t) > critical_between(np.nan_to_num(degrees, nan=n))
    return found


def times_faster(stream: Stream, rng: np.random.Generator) -> Flags:
    """Apply the output of hyperfine: the ratio of means minus one standard error is above 1."""
    a, b = _blocked(stream.launches, HYPERFINE_RUNS)
    means = np.stack([a.mean(axis=1), b.mean(axis=1)])
    ratio = means.max(axis=0) / means.min(axis=0)
    relative = np.stack([a.std(axis=1, ddof=1), b.std(axis=1, ddof=1)]) / means
    found: Flags = ratio - ratio * np.sqrt((relative**2).sum(axis=0)) > 1.0
    return found


def temci(stream: Stream, rng: np.random.Generator) -> Flags:
    """Apply a t test after each shuffled round from the 20th, until p leaves 0.05 to 0.15."""
    a, b = _rounds(stream, rng, TEMCI_RUNS[1])
    first, last = TEMCI_RUNS
    differs = np.zeros(a.shape[0], dtype=np.bool_)
    unsure = np.ones(a.shape[0], dtype=np.bool_)
    low, high = TEMCI_UNSURE
    for n, t in _t_after(a, b, first, last):
        differs |= unsure & (t > critical(2 * n - 2, low))
        # Values that are all equal have no p, which counts as unsure.
        unsure &= ~((t > critical(2 * n - 2, low)) | (t < critical(2 * n - 2, high)))
    return differs


def peeking(stream: Stream, rng: np.random.Generator) -> Flags:
    """Apply a two-sample t test after each round from 5 to 50, until p < 0.05."""
    a, b = _rounds(stream, rng, PEEKS[1])
    found = [t > critical(2 * n - 2) for n, t in _t_after(a, b, *PEEKS)]
    ever: Flags = np.any(found, axis=0)
    return ever


def paired(stream: Stream, rng: np.random.Generator) -> Flags:
    """Apply one paired t test to the logarithms of thirty pairs in random order."""
    a, b = shuffled(stream.launches[:, : 2 * PAIRS], rng)
    ratios = b - a
    error = ratios.std(axis=1, ddof=1) / np.sqrt(PAIRS)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Flags = np.abs(ratios.mean(axis=1) / error) > critical(PAIRS - 1)
    return found


RULES: dict[str, Rule] = {
    "pyperf `compare_to`": pyperf,
    "hyperfine, Welch": welch,
    "hyperfine, ± sd": times_faster,
    "temci": temci,
    "t test, repeated": peeking,
    "paired t, once": paired,
}
LONGEST = max(2 * PROCESSES * IN_PROCESS, 2 * TEMCI_RUNS[1])
"""Number of launches of a stream that the rules use."""


def _processes(stream: Stream) -> tuple[Array, Array]:
    """Return the values of the processes of A, and of B after them."""
    count = PROCESSES * IN_PROCESS
    if stream.within is None:
        return _blocked(stream.launches, count)
    values = np.exp(stream.within[:, : 2 * PROCESSES, :IN_PROCESS])
    flat = values.reshape(len(values), 2 * count)
    return flat[:, :count], flat[:, count:]


def _blocked(launches: Array, runs: int) -> tuple[Array, Array]:
    """Return the times of A, and of B after them."""
    times = np.exp(launches[:, : 2 * runs])
    return times[:, :runs], times[:, runs:]


def _rounds(stream: Stream, rng: np.random.Generator, rounds: int) -> tuple[Array, Array]:
    a, b = shuffled(stream.launches[:, : 2 * rounds], rng)
    return np.exp(a), np.exp(b)


def _pooled_t(a: Array, b: Array) -> Array:
    n = a.shape[1]
    error = (a.var(axis=1, ddof=1) + b.var(axis=1, ddof=1)) / n
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Array = (a.mean(axis=1) - b.mean(axis=1)) / np.sqrt(error)
    return found


def _t_after(a: Array, b: Array, first: int, last: int) -> list[tuple[int, Array]]:
    """Return the absolute t of the first n rounds, for each n; NaN without variation."""
    return [(n, np.abs(_pooled_t(a[:, :n], b[:, :n]))) for n in range(first, last + 1)]
