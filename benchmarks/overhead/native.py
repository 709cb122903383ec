"""Small C++ programs of the benchmarks: their build, and plain spawn and wait."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .schedule import Unusable

SOURCES = Path(__file__).parent.parent / "native"
TIMEOUT_S = 120.0


@dataclass(frozen=True)
class Programs:
    """Built programs in their folder."""

    folder: Path

    @property
    def spawnwait(self) -> str:
        return str(self.folder / "spawnwait")

    @property
    def moments(self) -> str:
        return str(self.folder / "moments")

    @property
    def spin(self) -> str:
        return str(self.folder / "spin")

    @property
    def touch(self) -> str:
        return str(self.folder / "touch")

    @property
    def pingpong(self) -> str:
        return str(self.folder / "pingpong")

    @property
    def crowd(self) -> str:
        return str(self.folder / "crowd")

    @property
    def escape(self) -> str:
        return str(self.folder / "escape")

    @property
    def flood(self) -> str:
        return str(self.folder / "flood")


def build(folder: Path) -> Programs:
    """Compile the programs statically, so that a launch has a small, constant cost."""
    folder.mkdir()
    for source in SOURCES.glob("*.cpp"):
        subprocess.run(
            ["g++", "-O2", "-std=c++20", "-static", "-o", folder / source.stem, source], check=True
        )
    return Programs(folder)


@dataclass(frozen=True)
class Plain:
    """Times of a launch by plain spawn and wait, in seconds.

    Attributes:
        spawn_s: time from before the spawn to after the wait.
        exec_s: time from just before exec, which the child reads, to after the wait.
        cpu_s: CPU time of the child and of the processes that it waited for.
    """

    spawn_s: float
    exec_s: float
    cpu_s: float


def spawned(
    programs: Programs, rng: random.Random, launches: int, commands: Sequence[Sequence[str]]
) -> list[list[Plain]]:
    """Launch each command by plain spawn and wait, interleaved at random.

    Raises:
        Unusable: a command failed.
    """
    out = programs.folder / "walls"
    words = [programs.spawnwait, str(rng.randrange(1 << 30)), str(launches), str(out)]
    for command in commands:
        words += ["---", *command]
    run_quietly(words)
    found: list[list[Plain]] = [[] for _ in commands]
    for line in out.read_text().splitlines():
        index, spawn_ns, exec_ns, cpu_us = map(int, line.split())
        found[index].append(Plain(spawn_ns / 1e9, exec_ns / 1e9, cpu_us / 1e6))
    return found


def spawn_walls_s(
    programs: Programs, rng: random.Random, launches: int, commands: Sequence[Sequence[str]]
) -> list[list[float]]:
    """Return the wall times of each command, from before the spawn to after the wait.

    Raises:
        Unusable: a command failed.
    """
    found = spawned(programs, rng, launches, commands)
    return [[launch.spawn_s for launch in launches_of] for launches_of in found]


@dataclass(frozen=True)
class Ends:
    """Time of a plain spawn and wait before and after the work of a program, in seconds.

    Attributes:
        before_s: time from before the spawn to the first instruction of ``main``.
        after_s: time from the program's last reading of the clock to the return of the wait.
    """

    before_s: float
    after_s: float


def spin_ends(programs: Programs, launches: int, milliseconds: int) -> list[Ends]:
    """Measure the ends of a spin with a program that records both moments.

    Raises:
        Unusable: the program failed.
    """
    out = programs.folder / "moments.out"
    run_quietly([programs.moments, str(launches), str(out), str(milliseconds)])
    lines = (line.split() for line in out.read_text().splitlines())
    return [Ends(int(before) / 1e9, int(after) / 1e9) for before, after in lines]


def run_quietly(words: Sequence[str], *, timeout_s: float = TIMEOUT_S) -> None:
    """Run a command and discard its output.

    Raises:
        Unusable: the command failed, or took too long.
    """
    try:
        answer = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=timeout_s,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unusable(str(error)) from error
    if answer.returncode != 0:
        last = answer.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise Unusable(f"{Path(words[0]).name}: status {answer.returncode}: {' '.join(last)}")
