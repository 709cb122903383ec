"""Default configuration of a study of a recorded space."""

from __future__ import annotations

import enum
import random

from assay.testing.replay.table import Table

RANK_DIVISOR = 10


class Start(enum.StrEnum):
    """Quality of the default."""

    RANDOM = "random"
    MEDIAN = "median"
    GOOD = "best tenth"


def default_of(table: Table, start: Start, seed: int) -> int | None:
    """Return the point that is the default; ``None`` for a random one.

    Args:
        table: recorded space.
        start: quality of the default.
        seed: seed of the choice.
    """
    if start is Start.RANDOM:
        return None
    ranked = sorted(table.working, key=lambda point: table.means[point] or 0.0)
    if start is Start.MEDIAN:
        return ranked[len(ranked) // 2]
    return random.Random(f"{seed}/{table.name}").choice(
        ranked[: max(1, len(ranked) // RANK_DIVISOR)]
    )
