"""Parts of the benchmark: their visits, rounds and usual durations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from . import cost, database, killing, memory, output, programs, startup, timing
from .bench import Bench
from .schedule import Visit


@dataclass(frozen=True)
class Part:
    """A part of the benchmark.

    Attributes:
        visits: function that returns the visits of the part.
        about: subject, for the page.
        rounds: number of rounds of its visits.
        minutes: duration on two CPUs of an AMD EPYC, with all peers.
    """

    visits: Callable[[Bench], list[Visit]]
    about: str
    rounds: int = 12
    minutes: float = 1.0


PARTS = {
    timing.NAME: Part(timing.visits, "reported wall time", timing.ROUNDS, 12),
    programs.NAME: Part(
        programs.visits, "programs that switch contexts or start processes", programs.ROUNDS, 9
    ),
    database.NAME: Part(database.visits, "PostgreSQL and pgbench", database.ROUNDS, 5),
    cost.NAME: Part(cost.visits, "launch of `/bin/true`", minutes=3),
    startup.NAME: Part(startup.visits, "start of a command"),
    memory.NAME: Part(memory.visits, "reported memory", minutes=2),
    killing.NAME: Part(killing.visits, "end of a process tree at a time limit", minutes=2),
    output.NAME: Part(output.visits, "program with much output"),
}
