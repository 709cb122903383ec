"""Lists of a store with many studies."""

from __future__ import annotations

import time
from pathlib import Path

import assay
from assay.records import Status
from assay.store import open_store

from .cost import command_cost

LABEL = "nightly"
LABELLED_SHARE = 10
"""One of so many studies has the label."""
LAUNCHES = 6
GAP_S = 72.0
"""Time between two studies, in seconds: 50 benchmarks an hour."""
FILTERS = {
    "label": ["--label", LABEL],
    "command": ["--command", "true"],
    "date": ["--since", "7d"],
    "machine": ["--machine", "a"],
}
LIMIT = ["--limit", "20"]


def measure(size: int, folder: Path) -> dict[str, float]:
    """List a store with each filter, and plan to prune it.

    Args:
        size: number of studies.
        folder: folder for the store.
    """
    store = folder / "assay.db"
    write(store, size)
    found = {"list": command_cost(["study", "list", *LIMIT], store).cpu_s}
    for name, words in FILTERS.items():
        found[name] = command_cost(["study", "list", *LIMIT, *words], store).cpu_s
    found["filter"] = max(found[name] for name in FILTERS)
    whole = command_cost(["study", "list"], store)
    found |= {"whole list": whole.cpu_s, "memory": whole.peak_mb}
    words = ["study", "prune", "--keep-last", str(size // 2)]
    found["prune"] = command_cost(words, store).cpu_s
    return found


def write(store: Path, size: int) -> None:
    """Write copies of a short study of ``true``.

    Args:
        store: file of the store; created if absent.
        size: number of studies.
    """
    result = assay.measure(["true"], runs=LAUNCHES, db=store)
    now_s = time.time()
    with open_store(store) as opened:
        real = opened.study(result.id)
        samples = opened.samples(result.id)
        for number in range(size - 1):
            created_at = now_s - GAP_S * (size - number)
            study = opened.create_study(real.spec, real.strata[0], created_at)
            for sample in samples[:2]:
                opened.add_sample(study, 0, sample)
            if real.conclusion is not None:
                opened.set_conclusion(study, real.conclusion)
            opened.set_status(study, Status.DONE)
            opened.release(study)
            if number % LABELLED_SHARE == 0:
                opened.add_label(study, LABEL)
