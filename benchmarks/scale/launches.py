"""Cost of many launches of one command."""

from __future__ import annotations

from pathlib import Path

from assay.store import open_store

from .cost import begun
from .growth import cost_between

NEVER = "0.0001%"
"""Precision that is out of reach, so that the number of launches decides."""
FIRST_SHARE = 0.02
"""Share of the launches that is left out, as assay starts in that time."""


def measure(size: int, folder: Path) -> dict[str, float]:
    """Measure ``true`` many times.

    Args:
        size: number of launches.
        folder: folder for the store.
    """
    store = folder / "assay.db"
    with begun([*words_of(size), "-q", "--", "true"], store) as command:
        readings = list(command.readings(lambda: stored_launches(store)))
        cost = command.end()
    begin = max(readings[0][0], FIRST_SHARE * size, 1)
    found = {"memory": cost.peak_mb, "all": cost.cpu_s}
    mean = cost_between(readings, begin, size)
    first = cost_between(readings, begin, begin + 0.1 * size)
    last = cost_between(readings, 0.9 * size, size)
    if mean is not None:
        found["mean"] = 1e3 * mean
    if first and last:
        found["ratio"] = last / first
    return found


def words_of(size: int) -> list[str]:
    """Return the words of a measurement with this number of launches, without its command."""
    return ["measure", "--runs", str(size), "--precision", NEVER, "--budget", "1h"]


def stored_launches(store: Path) -> int:
    """Return the number of launches of the largest study of a store; 0 if there is none."""
    if not store.exists():
        return 0
    with open_store(store) as opened:
        return max((study.launches for study in opened.studies()), default=0)
