"""Typical wall time of a command from earlier studies."""

from __future__ import annotations

import statistics
from itertools import islice

from assay.records import Stage
from assay.store import Store, StudySelection

MAX_LAUNCHES = 1000
"""Largest number of launches that are read: a plan need not wait for the others."""


def typical_wall_s(store: Store, command: str) -> float | None:
    """Return the median wall time of the newest study of a command, in seconds.

    The launches are the first ones without the survey.

    Args:
        store: store of the studies.
        command: command as in the heads of studies.

    Returns:
        ``None`` without such a study.
    """
    for head in reversed(store.studies(StudySelection(command=command))):
        if head.command != command:
            continue
        walls = (
            s.wall_s
            for s in store.iterate_samples(head.id)
            if s.wall_s
            and s.outcome.succeeded
            and s.launch.stage not in (Stage.SURVEY, Stage.SCREEN)
        )
        if found := list(islice(walls, MAX_LAUNCHES)):
            return statistics.median(found)
    return None
