"""Remaining processes: processes that outlived their program and were ended by assay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from assay.records import Outcome, Sample
from assay.records.sample import REMAINING_PROCESSES
from assay.search.history.packed_samples import with_evidence
from assay.untrusted import clean
from assay.wording.launch_notes import left_running_note

MAX_NAMES = 3


def remaining_process_notes(samples: Sequence[Sample]) -> list[str]:
    """Return notes on the number and names of processes that programs left running.

    Args:
        samples: samples of one stratum.
    """
    pieces = [
        [piece for piece in sample.evidence if piece.kind == REMAINING_PROCESSES and piece.note]
        for sample in with_evidence(samples, REMAINING_PROCESSES)
        if sample.outcome is not Outcome.ENOUGH  # the end that assay requested may leave some
    ]
    counts = [int(sum(piece.value or 0.0 for piece in of_one)) for of_one in pieces]
    launches = sum(1 for count in counts if count)
    if not launches:
        return []
    names = Counter(
        name
        for of_one in pieces
        for piece in of_one
        for name in map(clean, (piece.note or "").split("\n"))
        if name
    )
    shown = [name for name, _ in names.most_common(MAX_NAMES)]
    more = len(names) > MAX_NAMES
    return [left_running_note(sum(counts), shown, launches, len(samples), more=more)]
