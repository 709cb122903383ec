"""Launches of commands whose program records its first moment."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.overhead.native import Programs, run_quietly
from benchmarks.overhead.reading import Key, Reading

FIRST, WALL, CPU = "first_s", "wall_s", "cpu_s"
"""Times from the spawn to the first moment of the program and to the end of the command, and CPU
time of the command."""


class Firsts:
    """Launcher of commands, with a small C++ program.

    Args:
        programs: built programs.
        rng: random numbers for the orders.
    """

    def __init__(self, programs: Programs, rng: random.Random) -> None:
        self._program = str(programs.folder / "firsts")
        self._note = str(programs.folder / "note")
        self._out = programs.folder / "firsts.out"
        self._rng = rng

    @property
    def noting(self) -> list[str]:
        """Command of the program that records its first moment."""
        return [self._program, "--note", self._note]

    def readings(
        self, part: str, case: str, launches: int, commands: Mapping[str, Sequence[str]]
    ) -> Iterator[Reading]:
        """Launch each command the given number of times.

        Raises:
            Unusable: a command failed.
        """
        words = [self._program, str(self._rng.randrange(1 << 30)), str(launches)]
        words += [str(self._out), self._note]
        for command in commands.values():
            words += ["---", *command]
        run_quietly(words, timeout_s=600.0)
        names = list(commands)
        for line in Path(self._out).read_text().splitlines():
            index, *found_ns = map(int, line.split())
            for quantity, value_ns in zip((FIRST, WALL, CPU), found_ns, strict=True):
                if value_ns >= 0:
                    yield Reading(Key(part, case, names[index], quantity), value_ns / 1e9)
