"""Two arms of one distribution under the rules of assay and of other tools."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assay.stats.median import median_sequence, tail_rank
from assay.stats.peeking import simulate_studies

from .noise import Stream, dealt, stream
from .peers import LONGEST, RULES, pyperf_unequal
from .recorded import as_recorded, in_runs, repeats
from .tally import ALPHA, Row, Share, row_of


@dataclass(frozen=True)
class Compared:
    """Row of assay for one noise, and the error rate of each other rule."""

    row: Row
    others: dict[str, Share]


def generator(seed: int, name: str) -> np.random.Generator:
    """Return the random generator of a row."""
    return np.random.default_rng([seed, zlib.crc32(name.encode())])


def simulated(name: str, studies: int, blocks: int, seed: int) -> Compared:
    """Return the results for a noise of :mod:`noise`."""
    rng = generator(seed, name)
    return _compared(name, stream(name, rng, studies, max(2 * blocks, LONGEST)), rng, blocks)


def recorded(path: Path, studies: int, blocks: int, seed: int, *, whole: bool) -> Compared:
    """Return the results for recorded repeats, unchanged or as runs of longer studies."""
    program = path.name.split(".")[0].split("_")[0]
    name = f"recorded, {program}, {'as it is' if whole else 'in runs'}"
    rng = generator(seed, name)
    recording = repeats(path)
    if whole:
        drawn = as_recorded(recording, rng, studies)
        return _compared(name, drawn, rng, drawn.launches.shape[1] // 2)
    drawn = in_runs(recording, rng, studies, max(2 * blocks, LONGEST))
    return _compared(name, drawn, rng, blocks)


def _compared(name: str, drawn: Stream, rng: np.random.Generator, blocks: int) -> Compared:
    row = row_of(name, simulate_studies(*dealt(drawn.launches[:, : 2 * blocks], rng)))
    studies, launches = drawn.launches.shape
    if launches < LONGEST:
        return Compared(row, {})
    found = {rule: int(says(drawn, rng).sum()) for rule, says in RULES.items()}
    return Compared(row, {rule: Share(count, studies) for rule, count in found.items()})


def unequal_numbers(studies: int, seed: int) -> Share:
    """Return how often pyperf distinguishes identical arms if one lost a process."""
    rng = generator(seed, "unequal numbers")
    drawn = stream("Gaussian", rng, studies, LONGEST)
    return Share(int(pyperf_unequal(drawn, rng).sum()), studies)


def medians(studies: int, blocks: int, seed: int, censored: float = 0.3) -> Share:
    """Return how often the interval of a median ever misses, with a share of censored values."""
    rng = generator(seed, "medians")
    values = rng.standard_t(2.0, (studies, blocks))
    ranks = np.array([tail_rank(n, ALPHA) for n in range(1, blocks + 1)])
    capped = rng.random((studies, blocks)) < censored
    cap = values - rng.exponential(1.0, values.shape)
    low, high = np.where(capped, cap, values), np.where(capped, np.inf, values)
    not_above = np.cumsum(low <= 0.0, axis=1)
    not_below = np.cumsum(high >= 0.0, axis=1)
    missed = (not_above < ranks) | (not_below < ranks)
    for i in np.flatnonzero(missed.any(axis=1))[:20]:  # check with the public function
        k = int(np.flatnonzero(missed[i])[0]) + 1
        assert 0.0 not in median_sequence(list(low[i, :k]), list(high[i, :k]), ALPHA)
    return Share(int(missed.any(axis=1).sum()), studies)
