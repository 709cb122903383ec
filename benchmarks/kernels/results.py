"""Documents of runs of the benchmark, and their combination."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from assay.workloads.kernels import Kernel
from benchmarks.overhead.reading import Table

from .pieces import Piece


def combined(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Return the results of a run, with those of an older run for all other kernels.

    Args:
        old: document of the older run.
        new: document of the run.
    """
    names = {one["kernel"] for one in new["kernels"]}
    merged = dict(new)
    for key, part in {"kernels": "kernel", "readings": "part", "python": "kernel"}.items():
        kept = [one for one in old.get(key, []) if one[part] not in names]
        merged[key] = sorted([*kept, *new[key]], key=lambda one: str(one[part]))
    return merged


def tables(document: dict[str, Any]) -> tuple[Table, list[Piece]]:
    """Return the readings and the pieces of work of a document."""
    found = [
        Piece(Path(), msgspec.convert(one, Kernel), one["case"]) for one in document["kernels"]
    ]
    return Table.of(document["readings"]), found
