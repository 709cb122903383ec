"""Cost of assay for programs that switch contexts or start processes.

Each round launches the program directly and in each way under assay, in random order. The wall time
and CPU time of plain spawn and wait are compared with those that assay reports.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import cache, partial

from . import tools
from .bench import Bench
from .native import run_quietly, spawned
from .reading import Key, Reading
from .schedule import Visit

NAME = "programs"
ROUNDS = 30
DIRECT = "directly"
RUN = "assay run"
FROM = "assay run --from"
MEASURE = "assay measure"
UNDER = (RUN, FROM, MEASURE)
PINGPONG = "pipe ping-pong"
SCRIPT = "script of 50 short processes"
CHILDREN = "10,000 short children"
THREADS = "5,000 threads"
QUANTITIES = ("wall_s", "cpu_s")


def key(case: str, tool: str, quantity: str) -> Key:
    """Return the key of a figure."""
    return Key(NAME, case, tool, quantity)


def cases(bench: Bench) -> dict[str, tuple[list[str], int]]:
    """Return the command of each case, and the interval between its rounds."""
    size = bench.scale.crowd
    loop = f"i=0; while [ $i -lt {max(2, size // 200)} ]; do /bin/true; i=$((i+1)); done"
    programs = bench.programs
    return {
        PINGPONG: ([programs.pingpong, str(size * 10)], 1),
        SCRIPT: (["/bin/sh", "-c", loop], 1),
        CHILDREN: ([programs.crowd, "children", str(size)], bench.scale.rare),
        THREADS: ([programs.crowd, "threads", str(size // 2)], bench.scale.rare),
    }


def visits(bench: Bench) -> list[Visit]:
    """Return all visits of this part."""
    recommending = cache(lambda: tools.recommending(bench.folder))
    found = []
    for case, (argv, every) in cases(bench).items():
        ways: dict[str, Callable[[], tuple[float, float]]] = {
            DIRECT: partial(_direct, bench, argv),
            RUN: partial(_run, bench, argv, list),
            FROM: partial(_run, bench, argv, lambda: ["--from", "last", "--db", recommending()]),
            MEASURE: partial(_measure, bench, argv),
        }
        for way, make in ways.items():
            found.append(Visit(case, way, partial(_readings, case, way, make), every))
    return found


def _readings(case: str, way: str, make: Callable[[], tuple[float, float]]) -> Iterable[Reading]:
    for quantity, value in zip(QUANTITIES, make(), strict=True):
        yield Reading(key(case, way, quantity), value)


def _direct(bench: Bench, argv: list[str]) -> tuple[float, float]:
    launch = spawned(bench.programs, bench.rng, 1, [argv])[0][0]
    return launch.spawn_s, launch.cpu_s


def _run(bench: Bench, argv: list[str], more: Callable[[], list[str]]) -> tuple[float, float]:
    record = bench.folder / "record.json"
    run_quietly([*tools.assay(), "run", "-q", *more(), "--record", str(record), "--", *argv])
    sample = json.loads(record.read_text())
    return sample["wall_s"], sample["user_s"] + sample["sys_s"]


def _measure(bench: Bench, argv: list[str]) -> tuple[float, float]:
    sample = tools.measured(argv, 1, bench.folder)[0]
    return sample["wall_s"], sample["user_s"] + sample["sys_s"]
