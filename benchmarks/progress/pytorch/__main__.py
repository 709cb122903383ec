"""Command line of the benchmark: ``make bench-pytorch``.

It tunes the training loop within 15 minutes, and estimates from the same launches how long whole
launches of 200 steps would take for the same verdict.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from .study import DEFAULT_BATCH, PROVEN, document, python_with_pytorch, tuned

RESULTS = Path(__file__).with_name("results.json")
HOUR_S = 3600.0


def main(words: list[str]) -> int:
    """Run one study, and print its figures."""
    options = _parsed(words)
    python = options.python or python_with_pytorch()
    if python is None:
        print("PyTorch is missing. `make bench-pytorch` installs it, or name --python.")
        return 2
    batch = options.batch or DEFAULT_BATCH[options.model]
    began_s = time.time()
    with tempfile.TemporaryDirectory() as folder:
        db = options.db or Path(folder) / "studies.db"
        result = tuned(python, options.model, batch, options.budget, options.seed, db)
        found = document(result, options.model, options.budget, began_s)
        if options.report:
            result.report(options.report)
    print("\n".join(summary(found)))
    if options.write:
        known = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
        RESULTS.write_text(json.dumps([*known, found], indent=1) + "\n")
    return 0


def summary(found: dict[str, Any]) -> list[str]:
    """Return the lines that state the figures and the verdict on the target."""
    step_s, whole = found["step_s"], found["whole"]
    lines = [
        f"{found['launches']} launches in {found['elapsed_s']:.0f} s: {found['status']}",
        f"settings: {found['settings']}",
        f"load average: {found['load_average'][0]:.1f}",
    ]
    if step_s is not None:
        lines.append(f"step of the default: {step_s:.2f} s")
    if whole is None:
        return [*lines, "missed: no gain was proven"]
    is_long = whole["confirmation_s"] > HOUR_S
    met = "met" if found["status"] == PROVEN and is_long else "missed"
    return [
        *lines,
        f"whole launches: {whole['default_s']:.0f} s and {whole['best_s']:.0f} s",
        f"their confirmation: {whole['blocks']} blocks, {whole['confirmation_s']:.0f} s",
        f"their whole study: {whole['study_s']:.0f} s",
        f"{met}: a proven gain where a confirmation by whole launches needs over an hour",
    ]


def _parsed(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.progress.pytorch", description=__doc__)
    parser.add_argument("--model", choices=tuple(DEFAULT_BATCH), default="conv")
    parser.add_argument("--batch", type=int, help="samples of a default step (default: by model)")
    parser.add_argument("--budget", default="15m", help="time of the study (default: 15m)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the study (default: 1)")
    parser.add_argument(
        "--python", type=Path, help="interpreter with PyTorch (default: that of the benchmarks)"
    )
    parser.add_argument("--db", type=Path, help="file of the studies (default: a temporary one)")
    parser.add_argument("--report", type=Path, help="also write the report to this HTML file")
    parser.add_argument("--write", action="store_true", help=f"append to {RESULTS.name}")
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
