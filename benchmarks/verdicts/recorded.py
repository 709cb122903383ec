"""Recorded repeats of real programs, as streams of launches."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import numpy as np

from .noise import Array, Stream

RUN = 8
"""Number of consecutive repeats that are drawn together."""
MIN_REPEATS = 2 * RUN
"""Least number of repeats of a configuration."""


def repeats(path: Path) -> Array:
    """Return logarithms, configurations x repeats, in the order of the measurement.

    Args:
        path: table with columns t0, t1, ... and a line for each configuration; may be gzipped.
    """
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()
    rows = []
    for line in csv.DictReader(io.StringIO(text)):
        found = [line[k] for k in line if k[0] == "t" and k[1:].isdigit() and line[k]]
        values = np.array([float(v) for v in found])
        if len(values) >= MIN_REPEATS and (values > 0.0).all():
            rows.append(np.log(values))
    length = min(map(len, rows)) // 2 * 2
    return np.array([row[:length] for row in rows])


def as_recorded(recording: Array, rng: np.random.Generator, studies: int) -> Stream:
    """Return studies of one configuration each, with unchanged repeats."""
    return Stream(recording[rng.integers(0, len(recording), studies)])


def in_runs(recording: Array, rng: np.random.Generator, studies: int, launches: int) -> Stream:
    """Return longer studies of one configuration each, from contiguous runs of its repeats."""
    chosen = rng.integers(0, len(recording), (studies, 1, 1))
    starts = rng.integers(0, recording.shape[1] - RUN + 1, (studies, -(-launches // RUN), 1))
    drawn = recording[chosen, starts + np.arange(RUN)]
    return Stream(drawn.reshape(studies, -1)[:, :launches])
