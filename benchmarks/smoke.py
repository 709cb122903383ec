"""Smoke test: one short run of each benchmark, whose figures do not count.

python benchmarks/smoke.py            all benchmarks
python benchmarks/smoke.py --half 0   half of those that measure programs, and all others
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
MEASURING = ((("overhead", "--smoke"),), (("kernels", "--smoke"), ("start", "--smoke")))
"""Benchmarks that launch many programs, in two halves; the longest first."""
RUNS = (
    ("warm", "--quick"),
    ("programs", "--quick"),
    ("progress", "--quick"),
    ("scale", "--quick"),
    ("recommendations", "--quick"),
    ("verdicts", "--quick"),
    ("search", "--quick"),
)
"""Further benchmarks that may run in pairs."""
ALONE = ((("partition", "--quick"),), (("tier", "--quick"),))
"""Benchmarks that take CPUs or memory of the machine for themselves, in two halves."""


def main() -> int:
    """Run benchmarks and print which failed."""
    parser = argparse.ArgumentParser(description="Run each benchmark once, and shortly.")
    parser.add_argument(
        "--half",
        type=int,
        choices=(0, 1),
        help="half of the benchmarks that measure (default: both)",
    )
    half = parser.parse_args().half
    halves = (0, 1) if half is None else (half,)
    pairs = [*(run for one in halves for run in MEASURING[one]), *RUNS]
    alone = [run for one in halves for run in ALONE[one]]
    with ThreadPoolExecutor(max_workers=2) as pool:
        passed = report(pool.map(smoke, pairs))
    passed += report(map(smoke, alone))
    failed = len(pairs) + len(alone) - passed
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def smoke(run: tuple[str, str]) -> tuple[str, subprocess.CompletedProcess[str]]:
    """Run a benchmark with the option for a short run, and return its name and its answer."""
    name, option = run
    words = [sys.executable, "-m", f"{HERE.name}.{name}", option]
    return name, subprocess.run(words, cwd=HERE.parent, capture_output=True, text=True)


def report(answers: Iterable[tuple[str, subprocess.CompletedProcess[str]]]) -> int:
    """Print the outputs of failed benchmarks, and return the number of others."""
    passed = 0
    for name, answer in answers:
        print(f"== benchmark {name}: status {answer.returncode}", flush=True)
        if answer.returncode == 0:
            passed += 1
        else:
            print(answer.stdout + answer.stderr)
    return passed


if __name__ == "__main__":
    sys.exit(main())
