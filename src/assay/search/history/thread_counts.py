"""Same threads: a setting asks for several numbers of threads, and all launches have as many."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import Outcome, Sample
from assay.wording.launch_notes import same_threads_note

THREAD_SETTINGS = ("threads", "threads.omp")
"""Settings that size pools whose threads are there while the pool works. A BLAS may work with
threads that OpenMP has made before, so its own setting shows in no count."""
KIND = "threads_peak"
MIN_LAUNCHES = 3
"""Launches of each value whose threads were counted."""


def thread_count_notes(samples: Sequence[Sample]) -> list[str]:
    """Say that the number of threads does not follow the setting that asks for it.

    Told only where more were seen than the smallest value asks for: a pool that has little work, or
    a launch too short for a reading, may have fewer.

    Args:
        samples: of a study.
    """
    notes = []
    for name in THREAD_SETTINGS:
        seen = _seen(name, samples)
        usual = {c for counts in seen.values() if len(counts) >= MIN_LAUNCHES for c in counts}
        known = sorted(value for value, counts in seen.items() if len(counts) >= MIN_LAUNCHES)
        if len(known) < 2 or len(usual) != 1:
            continue
        (peak,) = usual
        if peak <= known[0]:
            continue
        notes.append(same_threads_note(name, known[0], known[-1], round(peak)))
    return notes


def _seen(name: str, samples: Sequence[Sample]) -> dict[int, list[float]]:
    """Return the numbers of threads that were seen, by value of a setting."""
    seen: dict[int, list[float]] = {}
    for sample in samples:
        value = sample.launch.configuration.get(name)
        if sample.outcome is not Outcome.OK or not isinstance(value, int):
            continue
        counts = [e.value for e in sample.evidence if e.kind == KIND and e.value is not None]
        seen.setdefault(value, []).extend(counts)
    return seen
