"""Helpers for tests of sessions."""

from __future__ import annotations

import assay
from assay.api.composition import opened_store
from assay.records import Sample, Status

SPACE = {"batch": [32, 64]}


def samples_of(session: assay.Session) -> list[Sample]:
    assert session.id is not None
    with opened_store(None) as store:
        return store.samples(session.id)


def status_of(session: assay.Session) -> Status:
    assert session.id is not None
    with opened_store(None) as store:
        return store.study(session.id).status


def run(session: assay.Session, gain: float = 1.0) -> int:
    """Run a session to its end; return the number of its trials."""
    count = 0
    for trial in session:
        trial.report(sps=100.0 * (gain if trial["batch"] == 64 else 1.0))
        count += 1
    return count
