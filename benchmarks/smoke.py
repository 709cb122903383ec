"""Smoke test: one short run of each benchmark, whose figures do not count."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
RUNS = (
    ("search", "--quick"),
    ("recommendations", "--quick"),
    ("warm", "--quick"),
    ("verdicts", "--quick"),
    ("programs", "--quick"),
    ("overhead", "--smoke"),
    ("start", "--smoke"),
    ("kernels", "--smoke"),
)
"""Benchmarks that may run in pairs."""
ALONE = (("partition", "--quick"), ("tier", "--quick"))
"""Benchmarks that take CPUs or memory of the machine for themselves."""


def main() -> int:
    """Run all benchmarks and print which failed."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        passed = report(pool.map(smoke, RUNS))
    passed += report(map(smoke, ALONE))
    failed = len(RUNS) + len(ALONE) - passed
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
