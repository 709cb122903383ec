"""Studies of real programs, and controls of the settings that they recommend."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
INPUT = ROOT / "build" / "examples" / "stdlib.tar"
CHECK = ["--check", "check=ok"]
PROGRAMS = {
    "digits": ["--", sys.executable, "examples/digits/digits.py"],
    "compress": [
        *("--", "examples/compress/compress.sh", "-p", "xz", "-l", "1"),
        *("-t", "{threads}", str(INPUT)),
    ],
}
ASKED = {"digits": [], "compress": ["arg.threads=1,2"]}
DEFAULTS: dict[str, dict[str, Any]] = {"digits": {}, "compress": {"arg.threads": 1}}
"""Values that a command has no default for by itself."""
ALL = "all"
"""Name of the control without any setting, where there are several."""


def tuned(program: str, budget: str, seed: int, *, pairs: int, db: Path) -> dict[str, Any]:
    """Tune a program and hold the settings of the recommendation against controls.

    Args:
        program: one of ``PROGRAMS``.
        budget: of the study, as a duration.
        seed: of the study.
        pairs: launches of each side of a control.
        db: where the studies are kept.

    Raises:
        subprocess.CalledProcessError: a command of assay failed.
    """
    words = ["--seed", str(seed), "--budget", budget, *CHECK, *ASKED[program], *PROGRAMS[program]]
    found = _assay("tune", db, *words)
    chosen = found["recommendation"]
    return {
        "program": program,
        "budget": budget,
        "seed": seed,
        "date": time.strftime("%Y-%m-%d"),
        "launches": found["launches"],
        "status": chosen["status"],
        "settings": chosen["settings"],
        "controls": list(controls(program, chosen["settings"], pairs, db)),
    }


def controls(
    program: str, settings: dict[str, Any], pairs: int, db: Path
) -> Iterator[dict[str, Any]]:
    """Yield what a recommendation loses without each of its settings, and without all.

    Args:
        program, pairs, db: as for ``tuned``.
        settings: of the recommendation.
    """
    if not settings:
        return
    arms = {"whole": settings}
    arms |= {name: {n: v for n, v in settings.items() if n != name} for name in settings}
    if len(settings) > 1:
        arms[ALL] = {}
    words = ["--runs", str(len(arms) * (pairs + 1)), *CHECK]
    for name, arm in arms.items():
        pairs_of = (DEFAULTS[program] | arm).items()
        words += ["--arm", " ".join(f"{n}={v}" for n, v in pairs_of), "--name", name]
    for claim in _assay("compare", db, *words, *PROGRAMS[program])["claims"]:
        yield {name: claim[name] for name in ("b", "verdict", "ratio", "ci", "blocks")}


def _assay(verb: str, db: Path, *words: str) -> dict[str, Any]:
    """Run a command of assay and return its document."""
    argv = [str(Path(sys.executable).parent / "assay"), verb, "--db", str(db), "--json", *words]
    done = subprocess.run(argv, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found
