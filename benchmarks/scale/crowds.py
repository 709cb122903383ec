"""Programs with many children or threads, under assay and without it."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.overhead.native import SOURCES

from .cost import output_of

ROUNDS = {"children": 15, "threads": 21}
"""Default number of rounds. Times of threads depend on their placement, and vary by a third."""
RUNS = 2
Times = dict[str, list[tuple[float, float]]]
"""Wall and CPU times of the program by the way it was launched, in seconds."""


def measure(kind: str, size: int, folder: Path, rounds: int | None = None) -> dict[str, float]:
    """Launch a program directly, by ``run`` and by ``measure``, in turn.

    Args:
        kind: ``children`` or ``threads``.
        size: number of children or threads.
        folder: folder for the program and the store.
        rounds: number of rounds (default: see ``ROUNDS``).
    """
    program = [str(_built(folder)), kind, str(size)]
    ways: dict[str, Callable[[], tuple[float, float]]] = {
        "direct": partial(_direct, program),
        "run": partial(_run, program),
        "measure": partial(_measured, program, folder / "assay.db"),
    }
    times: Times = {name: [] for name in ways}
    for number in range(rounds or ROUNDS[kind]):
        for name in list(ways)[number % len(ways) :] + list(ways)[: number % len(ways)]:
            times[name].append(ways[name]())
    return _ratios(times)


def _ratios(times: Times) -> dict[str, float]:
    """Return the ratios of the medians."""
    usual = {
        name: [median(column) for column in zip(*own, strict=True)] for name, own in times.items()
    }
    return {
        f"{name} {quantity}": usual[name][place] / usual["direct"][place]
        for name in ("run", "measure")
        for place, quantity in enumerate(("wall", "CPU"))
    }


def _built(folder: Path) -> Path:
    program = folder / "crowd"
    words = ["c++", "-O2", "-static", "-pthread", "-o", str(program), str(SOURCES / "crowd.cpp")]
    subprocess.run(words, check=True)
    return program


def _direct(program: list[str]) -> tuple[float, float]:
    begin = time.perf_counter()
    pid = os.posix_spawn(program[0], program, os.environ)
    _, _, usage = os.wait4(pid, 0)
    return time.perf_counter() - begin, usage.ru_utime + usage.ru_stime


def _run(program: list[str]) -> tuple[float, float]:
    return _times(json.loads(output_of("assay", ["run", "--record", "-", "--", *program])))


def _measured(program: list[str], store: Path) -> tuple[float, float]:
    words = ["measure", "-q", "--json", "--runs", str(RUNS), "--db", str(store), "--", *program]
    samples = json.loads(output_of("assay", words))["samples"]
    return _times(samples[-1])


def _times(sample: dict[str, Any]) -> tuple[float, float]:
    return sample["wall_s"], sample["user_s"] + sample["sys_s"]


children = partial(measure, "children")
threads = partial(measure, "threads")
