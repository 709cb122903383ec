"""Programs: whether the settings that studies of real programs recommend matter there.

    python -m benchmarks.recommendations.programs --write

tunes each program with each budget several times. The settings of each recommendation are then
held against controls: the recommendation without one of them, launched in the same blocks. With the
defaults that takes about an hour; what was measured is kept, and a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import markdown

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "build" / "bench-programs.jsonl"
PAGE = ROOT / "docs" / "benchmarks" / "programs.md"
INPUT = ROOT / "build" / "examples" / "stdlib.tar"
PROGRAMS = {
    "digits": ["--check", "check=ok", "--", sys.executable, "examples/digits/digits.py"],
    "compress": [
        *("--check", "check=ok", "arg.threads=1,2", "--", "examples/compress/compress.sh"),
        *("-p", "xz", "-l", "1", "-t", "{threads}", str(INPUT)),
    ],
}
DEFAULTS: dict[str, dict[str, Any]] = {"digits": {}, "compress": {"arg.threads": 1}}
"""Values that a command has no default for by itself."""
BUDGETS = ("2m", "5m")
REPEATS = 3
LAUNCHES = 20
"""Of each side of a control: 40 in all."""


def assay(*words: str) -> dict[str, Any]:
    """Run a command of assay with a store of its own, and return its document."""
    argv = [str(Path(sys.executable).parent / "assay"), *words]
    done = subprocess.run(argv, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def tuned(program: str, budget: str, seed: int) -> dict[str, Any]:
    """Tune a program and hold the settings of the recommendation against controls."""
    db = str(KEPT.with_suffix(".db"))
    words = ["--db", db, "--json", "--seed", str(seed), "--budget", budget]
    found = assay("tune", *words, *PROGRAMS[program])
    chosen = found["recommendation"]
    return {
        "program": program,
        "budget": budget,
        "seed": seed,
        "date": time.strftime("%Y-%m-%d"),
        "status": chosen["status"],
        "settings": chosen["settings"],
        "told": found.get("sentence"),
        "controls": list(controls(program, chosen["settings"], db)),
    }


def controls(program: str, settings: dict[str, Any], db: str) -> Iterator[dict[str, Any]]:
    """Yield what becomes of a recommendation without each of its settings, and without all."""
    if not settings:
        return
    without = {name: {n: v for n, v in settings.items() if n != name} for name in settings}
    arms = [settings, *without.values(), *([{}] if len(settings) > 1 else [])]
    names = ["whole", *without, *(["all"] if len(settings) > 1 else [])]
    words = ["--db", db, "--json", "--runs", str(len(arms) * (LAUNCHES + 1))]
    for name, arm in zip(names, arms, strict=True):
        whole = DEFAULTS[program] | arm
        words += ["--arm", " ".join(f"{n}={v}" for n, v in whole.items()), "--name", name]
    at = PROGRAMS[program].index("--")
    checks = PROGRAMS[program][: 2 if PROGRAMS[program][0] == "--check" else 0]
    found = assay("compare", *words, *checks, *PROGRAMS[program][at:])
    for claim in found["claims"]:
        yield {name: claim[name] for name in ("b", "verdict", "ratio", "ci", "blocks")}


def main(words: list[str]) -> int:
    """Measure what is not kept yet, and show the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--budget", action="append", help="only these (2m, 5m)")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="studies of each (3)")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks/programs.md")
    arguments = parser.parse_args(words)
    KEPT.parent.mkdir(exist_ok=True)
    if not INPUT.exists():
        INPUT.parent.mkdir(parents=True, exist_ok=True)
        make = [sys.executable, str(ROOT / "examples" / "compress" / "make_input.py"), str(INPUT)]
        subprocess.run(make, check=True)
    known = [json.loads(line) for line in KEPT.read_text().splitlines()] if KEPT.exists() else []
    for seed in range(arguments.repeats):
        for budget in arguments.budget or BUDGETS:
            for program in PROGRAMS:
                key = (program, budget, seed)
                if key in {(one["program"], one["budget"], one["seed"]) for one in known}:
                    continue
                known.append(tuned(*key))
                with KEPT.open("a") as kept:
                    print(json.dumps(known[-1]), file=kept)
    print(json.dumps(known, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
