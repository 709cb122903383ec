"""Studies of real programs, and controls of the settings that they recommend."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
INPUT = ROOT / "build" / "examples" / "stdlib.tar"
CHECK = ("--check", "check=ok")


@dataclass(frozen=True)
class Program:
    """A program that is tuned.

    Attributes:
        argv: command, with settings that are part of it.
        options: options of all its studies.
        settings: settings in addition to those that ``tune`` chooses.
        defaults: default values of these settings, which the command itself lacks.
    """

    argv: tuple[str, ...]
    options: tuple[str, ...] = CHECK
    settings: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)


PROGRAMS = {
    "digits": Program((sys.executable, "examples/digits/digits.py")),
    "compress": Program(
        ("examples/compress/compress.sh", "-p", "xz", "-l", "1", "-t", "{threads}", str(INPUT)),
        settings=("arg.threads=1,2",),
        defaults={"arg.threads": 1},
    ),
}
QUICK = Program(("sleep", "{s}"), (), ("arg.s=0.03,0.01",), {"arg.s": "0.03"})
"""Program of a smoke test, with one effective setting."""
ALL = "all"
"""Name of the control without all settings, if there are several."""


def tuned(
    name: str, program: Program, budget: str, seed: int, *, pairs: int, db: Path
) -> dict[str, Any]:
    """Tune a program and compare the recommendation with controls.

    Args:
        name: name of the program.
        program: program to tune.
        budget: budget of the study, as a duration.
        seed: seed of the study.
        pairs: launches of each side of a control.
        db: file of the studies.

    Raises:
        subprocess.CalledProcessError: a command of assay failed.
    """
    words = ("--seed", str(seed), "--budget", budget, *program.options, *program.settings)
    found = _assay("tune", db, *words, "--", *program.argv)
    chosen = found["recommendation"]
    return {
        "program": name,
        "budget": budget,
        "seed": seed,
        "date": time.strftime("%Y-%m-%d"),
        "launches": found["launches"],
        "status": chosen["status"],
        "settings": chosen["settings"],
        "controls": list(controls(program, chosen["settings"], pairs, db)),
    }


def controls(
    program: Program, settings: dict[str, Any], pairs: int, db: Path
) -> Iterator[dict[str, Any]]:
    """Yield the controls of a recommendation: without each of its settings, and without all.

    Args:
        program, pairs, db: as for ``tuned``.
        settings: settings of the recommendation.
    """
    if not settings:
        return
    arms = {"whole": settings}
    arms |= {name: {n: v for n, v in settings.items() if n != name} for name in settings}
    if len(settings) > 1:
        arms[ALL] = {}
    words = ["--runs", str(len(arms) * (pairs + 1)), *program.options]
    for name, arm in arms.items():
        whole = {**program.defaults, **arm}
        words += ["--arm", " ".join(f"{n}={v}" for n, v in whole.items()), "--name", name]
    for claim in _assay("compare", db, *words, "--", *program.argv)["claims"]:
        yield {name: claim[name] for name in ("b", "verdict", "ratio", "ci", "blocks")}


def _assay(verb: str, db: Path, *words: str) -> dict[str, Any]:
    """Run a command of assay and return its document."""
    argv = [str(Path(sys.executable).parent / "assay"), verb, "--db", str(db), "--json", *words]
    done = subprocess.run(argv, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found
