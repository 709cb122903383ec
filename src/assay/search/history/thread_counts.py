"""Thread counts: settings of the number of threads that have no effect on it."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import Sample
from assay.search.history.packed_samples import select
from assay.wording.launch_notes import same_threads_note

THREAD_SETTINGS = ("threads", "threads.omp")
"""Settings of the size of thread pools that exist while the pool works. A BLAS may use threads
that OpenMP has created before, so its setting shows in no count."""
KIND = "threads_peak"
MIN_LAUNCHES = 3
"""Minimum number of launches of each value with counted threads."""


def thread_count_notes(samples: Sequence[Sample]) -> list[str]:
    """Return notes on settings that do not change the number of threads.

    A note requires more threads than the smallest value requests: a pool with little work, or a
    launch too short for a reading, may show fewer.

    Args:
        samples: samples of a study.
    """
    notes = []
    for name in THREAD_SETTINGS:
        seen = _observed_counts(name, samples)
        usual = {c for counts in seen.values() if len(counts) >= MIN_LAUNCHES for c in counts}
        known = sorted(value for value, counts in seen.items() if len(counts) >= MIN_LAUNCHES)
        if len(known) < 2 or len(usual) != 1:
            continue
        (peak,) = usual
        if peak <= known[0]:
            continue
        notes.append(same_threads_note(name, known[0], known[-1], round(peak)))
    return notes


def _observed_counts(name: str, samples: Sequence[Sample]) -> dict[int, list[float]]:
    """Return the observed numbers of threads, by value of a setting."""
    seen: dict[int, list[float]] = {}
    counted = select(
        samples,
        lambda shape: (
            shape.outcome.succeeded and name in shape.configured and KIND in shape.evidence
        ),
    )
    for sample in counted:
        value = sample.launch.configuration.get(name)
        if not isinstance(value, int):
            continue
        counts = [e.value for e in sample.evidence if e.kind == KIND and e.value is not None]
        seen.setdefault(value, []).extend(counts)
    return seen
