"""Termination: launches that had to be killed, and commands of ``--stop`` that failed."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import Evidence, Sample
from assay.records.sample import KILLED_AFTER, STOP_FAILED
from assay.units import show_count, show_duration

_WAYS = {
    "SIGTERM": ("SIGTERM", "--grace gives more time (0s: none), --stop asks in another way"),
    "command": ("the command of --stop", "--grace gives more time"),
}
"""Method of termination -> its description, and the next step."""


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


def termination_problem(sample: Sample) -> str:
    """Describe a problem with the termination of a launch; empty without a problem.

    Args:
        sample: sample of the launch.
    """
    told = [f", --stop failed ({piece.note})" for piece in _pieces([sample], STOP_FAILED)]
    for piece in _pieces([sample], KILLED_AFTER):
        by, _ = _WAYS.get(piece.note or "", _WAYS["SIGTERM"])
        after = _after(piece)
        told.append(f", and was killed {after} after {by}")
    return "".join(told)


def _pieces(samples: Sequence[Sample], kind: str) -> list[Evidence]:
    return [piece for sample in samples for piece in sample.evidence if piece.kind == kind]


def _killed(way: str, pieces: Sequence[Evidence]) -> str:
    by, step = _WAYS[way]
    launches = show_count(len(pieces), "launch", "launches")
    after = _after(min(pieces, key=lambda piece: piece.value or 0.0))
    return f"{launches} had not ended {after} after {by}, and had to be killed: {step}"


def _after(piece: Evidence) -> str:
    """Return the time after which a launch was killed, including a small delay."""
    return show_duration(float(f"{piece.value or 0.0:.2g}"))


def _failed(pieces: Sequence[Evidence]) -> list[str]:
    return [stop_failed_note(len(pieces), pieces[0].note)] if pieces else []
