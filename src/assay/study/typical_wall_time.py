"""Typical wall time of a command from earlier studies."""

from __future__ import annotations

import statistics

from assay.records import Stage
from assay.store import Store


def typical_wall_s(store: Store, command: str) -> float | None:
    """Return the median wall time of the newest study of a command, without its survey, in seconds.

    Args:
        store: store of the studies.
        command: command as in the heads of studies.

    Returns:
        ``None`` without such a study.
    """
    for head in reversed(store.studies()):
        if head.command != command:
            continue
        walls = [
            s.wall_s
            for s in store.iterate_samples(head.id)
            if s.wall_s
            and s.outcome.succeeded
            and s.launch.stage not in (Stage.SURVEY, Stage.SCREEN)
        ]
        if walls:
            return statistics.median(walls)
    return None
