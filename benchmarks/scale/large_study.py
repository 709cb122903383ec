"""Reports, exports and resumption of one large study."""

from __future__ import annotations

import time
from itertools import islice
from pathlib import Path

from assay.store import open_store

from .cost import MB, begun, command_cost
from .launches import stored_launches
from .stores import write_compared, write_measured

COMPARED, MEASURED = "compared.db", "measured.db"
EXPORTS = {"csv": "study.csv", "json": "study.json", "bundle": "study.zip"}
FURTHER_LAUNCHES = 20
WRITTEN_SAMPLES = 2000
"""Maximum number of samples that are written to measure the cost of one."""


def measure(size: int, folder: Path) -> dict[str, float]:
    """Write a comparison of two commands, then read it with each verb.

    Args:
        size: number of samples.
        folder: folder for the store and the exports.
    """
    store = folder / COMPARED
    study = write_compared(store, size)
    found = {"bytes": _stored_bytes(store) / size, "writing": _writing_us(store, study)}
    page = folder / "report.html"
    report = command_cost(["report", study, "-q", "-o", str(page)], store)
    found |= {"report": report.cpu_s, "report memory": report.peak_mb}
    found["page"] = page.stat().st_size / MB
    for name, file in EXPORTS.items():
        path = folder / file
        option = "--bundle" if name == "bundle" else "-o"
        cost = command_cost(["study", "export", study, "-q", option, str(path)], store)
        found |= {name: cost.cpu_s, f"{name} memory": cost.peak_mb}
    for name, words in {
        "show": ["study", "show", study],
        "verify": ["study", "verify", str(folder / EXPORTS["bundle"])],
    }.items():
        cost = command_cost([*words, "-q"], store)
        found |= {name: cost.cpu_s, f"{name} memory": cost.peak_mb}
    return found | _resumption(size, folder)


def _writing_us(store: Path, study: str) -> float:
    """Return the CPU time to store one sample, in microseconds."""
    with open_store(store) as opened:
        record = opened.study(study)
        samples = list(islice(opened.iterate_samples(study), WRITTEN_SAMPLES))
        copy = opened.create_study(record.spec, record.strata[0], record.created_at - 1.0)
        begin = time.process_time()
        for sample in samples:
            opened.add_sample(copy, 0, sample)
        taken_s = time.process_time() - begin
        opened.delete(copy)
    return 1e6 * taken_s / len(samples)


def _resumption(size: int, folder: Path) -> dict[str, float]:
    """Resume a measurement, and return the CPU time until its next sample."""
    store = folder / MEASURED
    study = write_measured(store, size)
    words = ["study", "resume", study, "-q", "--runs", str(FURTHER_LAUNCHES)]
    next_s = None
    with begun(words, store) as command:
        for launches, cpu_s in command.readings(lambda: stored_launches(store)):
            if next_s is None and launches > size:
                next_s = cpu_s
        cost = command.end()
    found = {"resumed": cost.cpu_s, "resumed memory": cost.peak_mb}
    return found | ({"next launch": next_s} if next_s is not None else {})


def _stored_bytes(store: Path) -> int:
    return sum(path.stat().st_size for path in store.parent.glob(f"{store.name}*"))
