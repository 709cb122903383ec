"""Plans: cost of each part of a plan in the launcher, compared with an empty plan."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from assay.launch.driver import find_launcher
from benchmarks.overhead.native import run_quietly
from benchmarks.overhead.reading import Key, Reading
from benchmarks.overhead.schedule import Unusable

from .firsts import WALL, Firsts

NAME = "plan"
CASE = "one launch"
EMPTY = "empty plan"
GROUP = "control group"
FULL = "full plan"


def key(plan: str, quantity: str = WALL) -> Key:
    """Return the key of a figure of this part."""
    return Key(NAME, CASE, plan, quantity)


def parts() -> dict[str, dict[str, Any]]:
    """Return the parts of a plan by name; all parts together are the full plan."""
    cpus = sorted(os.sched_getaffinity(0))
    favoured = os.sched_getscheduler(0) == os.SCHED_FIFO
    # A part that left the scheduling class of a favoured run would wait for all other processes.
    group = (
        {"policy": "fifo", "priority": os.sched_getparam(0).sched_priority}
        if favoured
        else {"policy": "batch", "nice": 5}
    )
    return {
        "20 environment variables": {"env_set": {f"ASSAY_BENCH_{n}": "x" * 40 for n in range(20)}},
        "CPU affinity": {"affinity": cpus},
        "memory policy": {"mempolicy": {"mode": "bind", "nodes": [0]}},
        "scheduling class and priorities": {
            "sched": group,
            "io_priority": {"class": "best-effort", "level": 5},
        },
        "resource limits": {
            "rlimits": [{"resource": "core", "soft": 0, "hard": 0}],
            "prctl": [{"option": 41, "args": [1, 0, 0, 0]}],
        },
        "control group limits": {"limits": {"memory_bytes": 1 << 30, "pids": 100, "cpu_s": 60}},
        "counters": {"counters": ["task_clock_s", "context_switches", "page_faults"]},
        "read-back": {"observe": ["status", "environ", "maps", "threads"], "map_names": ["libc"]},
    }


def prepare(folder: Path, program: list[str]) -> dict[str, list[str]]:
    """Return a command for each plan that works here: first the empty plan, last the full one."""
    usable = {}
    for name, part in parts().items():
        command = _command(folder, name, {"argv": program, **part})
        if _works(folder, name, command):
            usable[name] = part
    full = {key: value for part in usable.values() for key, value in part.items()}
    plans = {EMPTY: {"containment": "none"}, GROUP: {}, **usable, FULL: full}
    return {name: _command(folder, name, {"argv": program, **plan}) for name, plan in plans.items()}


def visit(firsts: Firsts, commands: dict[str, list[str]], launches: int) -> Iterable[Reading]:
    """Launch every plan a few times and return the times."""
    return firsts.readings(NAME, CASE, launches, commands)


def _command(folder: Path, name: str, plan: dict[str, Any]) -> list[str]:
    """Return the command of a plan: a file, so that it is parsed and the record is written."""
    stem = folder / name.replace(" ", "-")
    stem.with_suffix(".json").write_text(json.dumps({"schema": 2, **plan}))
    launcher = str(find_launcher(os.environ))
    words = ["--plan", str(stem.with_suffix(".json")), "--record", str(stem.with_suffix(".out"))]
    return [launcher, *words]


def _works(folder: Path, name: str, command: list[str]) -> bool:
    """Return whether the launcher can apply it: containers refuse some parts."""
    try:
        run_quietly(command)
        record = json.loads((folder / name.replace(" ", "-")).with_suffix(".out").read_text())
    except (Unusable, OSError, ValueError):
        return False
    return bool(record.get("outcome") == "exited")
