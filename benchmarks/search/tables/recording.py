"""Recording of a table from a program and its parameters."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

Parameters = Mapping[str, Sequence[int | str]]
Row = tuple[int | str, ...]
Take = Callable[[Row], float]
"""Function that launches a row and returns its seconds."""


def grid(parameters: Parameters) -> list[Row]:
    """Return all combinations of the parameters."""
    return list(itertools.product(*parameters.values()))


def record(rows: Sequence[Row], take: Take, rounds: int = 3) -> list[float]:
    """Return the smallest time of several launches of each row, in rounds of random order.

    Other processes can only lengthen a launch.
    """
    least = [float("inf")] * len(rows)
    for number in range(rounds):
        order = list(range(len(rows)))
        random.Random(number).shuffle(order)
        for at in order:
            least[at] = min(least[at], take(rows[at]))
    return least


def write(path: Path, columns: Sequence[str], rows: Sequence[Row], means: Sequence[float]) -> None:
    """Write a table of means; equal figures give equal bytes."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*columns, "mean"])
    writer.writerows([*row, f"{mean:.5g}"] for row, mean in zip(rows, means, strict=True))
    path.write_bytes(gzip.compress(text.getvalue().encode(), 9, mtime=0))
