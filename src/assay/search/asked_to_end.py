"""Asked to end: launches that had to be killed, and commands of ``--stop`` that failed."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import Evidence, Sample
from assay.records.sample import KILLED_AFTER, STOP_FAILED
from assay.units import show_count, show_duration

_BY = {"SIGTERM": "SIGTERM", "command": "the command of --stop"}


def asked_to_end_notes(samples: Sequence[Sample]) -> list[str]:
    """Say how many launches did not end in time when they were asked to.

    Args:
        samples: of a stratum.
    """
    return [*_killed(_pieces(samples, KILLED_AFTER)), *_failed(_pieces(samples, STOP_FAILED))]


def _pieces(samples: Sequence[Sample], kind: str) -> list[Evidence]:
    return [piece for sample in samples for piece in sample.evidence if piece.kind == kind]


def _killed(pieces: Sequence[Evidence]) -> list[str]:
    if not pieces:
        return []
    least_s = float(f"{min(piece.value or 0.0 for piece in pieces):.2g}")
    by = _BY.get(pieces[0].note or "", "SIGTERM")
    return [
        f"{show_count(len(pieces), 'launch', 'launches')} had not ended {show_duration(least_s)} "
        f"after {by}, and had to be killed: --grace gives more time (0s: none), --stop asks in "
        "another way"
    ]


def _failed(pieces: Sequence[Evidence]) -> list[str]:
    if not pieces:
        return []
    times = show_count(len(pieces), "time", "times")
    return [
        f"the command of --stop failed {times} ({pieces[0].note}), and SIGTERM was sent in its "
        "place: run it by hand while the program runs, whose process is ASSAY_PID"
    ]
