"""Schedule of the visits of a part: rounds in random order."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from .reading import Reading, Table


class Unusable(Exception):
    """Failure of a tool, which the message describes."""


@dataclass(frozen=True)
class Visit:
    """A few launches of one case by one tool, or by several tools interleaved.

    Attributes:
        group: name of a group, whose visits follow one another.
        name: name of the visit.
        make: function that makes the launches and returns the readings.
        every: interval between its rounds; 1 for each round.
    """

    group: str
    name: str
    make: Callable[[], Iterable[Reading]]
    every: int = 1


@dataclass(frozen=True)
class Scale:
    """Amount of work in each visit.

    Attributes:
        launches: launches of direct launchers, of assay's loop and of tools with little overhead.
        few: launches of tools that take tens or hundreds of milliseconds per launch.
        spins: launches of each spin.
        output_mib: output of the program with much output, in MiB.
        peers_everywhere: true if other tools run all cases.
        seldom: interval between visits that take seconds, in rounds.
        rare: interval between runs of programs that start thousands of children, in rounds.
        crowd: number of children that one of them starts; other sizes follow from it.
        transactions: transactions in each run of the database.
        accounts: accounts of the database, in units of 100,000.
    """

    launches: int
    few: int
    spins: int
    output_mib: int
    seldom: int
    rare: int
    crowd: int
    transactions: int
    accounts: int
    peers_everywhere: bool = True


SMOKE = Scale(
    launches=3,
    few=2,
    spins=2,
    output_mib=4,
    seldom=1,
    rare=1,
    crowd=100,
    transactions=50,
    accounts=1,
    peers_everywhere=False,
)


def carry_out(
    visits: Sequence[Visit],
    rounds: int,
    rng: random.Random,
    began: Callable[[int], None],
) -> tuple[Table, list[str]]:
    """Make all visits; record failed tools and continue with the others.

    Args:
        visits: visits of all parts.
        rounds: number of rounds.
        rng: random numbers for the orders.
        began: called with the number of each round.

    Returns:
        The readings, and the failures as sentences.
    """
    table = Table()
    failures: list[str] = []
    for number in range(rounds):
        began(number)
        for visit in _order([v for v in visits if number % v.every == 0], rng):
            try:
                table.add(number, visit.make())
            except Unusable as error:
                failures.append(f"{visit.group}, {visit.name}: {error}")
    return table, failures


def _order(visits: Sequence[Visit], rng: random.Random) -> list[Visit]:
    """Return the visits, with the groups in random order."""
    groups: dict[str, list[Visit]] = {}
    for visit in visits:
        groups.setdefault(visit.group, []).append(visit)
    chosen = rng.sample(list(groups.values()), len(groups))
    return [visit for group in chosen for visit in rng.sample(group, len(group))]
