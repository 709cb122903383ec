"""Termination: launches that had to be killed, and commands of ``--stop`` that failed."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import Evidence, Sample
from assay.records.sample import KILLED_AFTER, STOP_FAILED
from assay.search.history.packed_samples import with_evidence
from assay.wording.launch_notes import TERMINATION_REQUESTS, killed_note, stop_failed_note


def termination_notes(samples: Sequence[Sample]) -> list[str]:
    """Return notes on launches that did not terminate in time.

    Args:
        samples: samples of one stratum.
    """
    killed = _pieces(samples, KILLED_AFTER)
    by_way = {way: [piece for piece in killed if piece.note == way] for way in TERMINATION_REQUESTS}
    return [
        *(_killed(way, pieces) for way, pieces in by_way.items() if pieces),
        *_failed(_pieces(samples, STOP_FAILED)),
    ]


def _pieces(samples: Sequence[Sample], kind: str) -> list[Evidence]:
    found = with_evidence(samples, kind)
    return [piece for sample in found for piece in sample.evidence if piece.kind == kind]


def _killed(way: str, pieces: Sequence[Evidence]) -> str:
    return killed_note(way, len(pieces), min(piece.value or 0.0 for piece in pieces))


def _failed(pieces: Sequence[Evidence]) -> list[str]:
    return [stop_failed_note(len(pieces), pieces[0].note)] if pieces else []
