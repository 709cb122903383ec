"""How long a launch of a command usually takes, as earlier studies show it."""

from __future__ import annotations

import statistics

from assay.records import Outcome, Stage
from assay.store import Store


def typical_wall_s(store: Store, command: str) -> float | None:
    """Median wall time of the good launches of the newest study of a command, the survey apart.

    Args:
        store: where it may be.
        command: its words, as the heads of studies have them.

    Returns:
        ``None`` where no study tells.
    """
    for head in reversed(store.studies()):
        if head.command != command:
            continue
        walls = [
            s.wall_s
            for s in store.samples(head.id)
            if s.wall_s and s.outcome is Outcome.OK and s.launch.stage is not Stage.SURVEY
        ]
        if walls:
            return statistics.median(walls)
    return None
