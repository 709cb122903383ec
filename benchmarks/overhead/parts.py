"""Parts: visits, rounds, and the usual length of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from . import cost, database, killing, memory, output, programs, startup, timing
from .bench import Bench
from .schedule import Visit


@dataclass(frozen=True)
class Part:
    """One part.

    Attributes:
        rounds: of its visits.
        minutes: that it took on two CPUs of an AMD EPYC, with all peers.
    """

    visits: Callable[[Bench], list[Visit]]
    about: str
    rounds: int = 12
    minutes: float = 1.0


PARTS = {
    timing.NAME: Part(timing.visits, "the reported wall time", timing.ROUNDS, 12),
    programs.NAME: Part(
        programs.visits, "programs that switch contexts or start processes", programs.ROUNDS, 9
    ),
    database.NAME: Part(database.visits, "PostgreSQL and pgbench", database.ROUNDS, 5),
    cost.NAME: Part(cost.visits, "a launch of /bin/true", minutes=3),
    startup.NAME: Part(startup.visits, "the start of a command"),
    memory.NAME: Part(memory.visits, "the reported memory", minutes=2),
    killing.NAME: Part(killing.visits, "the end of a tree at a time limit", minutes=2),
    output.NAME: Part(output.visits, "a program that prints much"),
}
