"""Smoke test: one short run of each benchmark, whose figures do not count."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
RUNS = (
    ("overhead", "--smoke"),
    ("verdicts", "--quick"),
    ("search", "--quick"),
    ("recommendations", "--quick"),
    ("programs", "--quick"),
    ("warm", "--quick"),
    ("start", "--smoke"),
    ("partition", "--quick"),
    ("kernels", "--smoke"),
    ("tier", "--quick"),
)


def main() -> int:
    """Run all benchmarks and print which failed."""
    failed = []
    for name, option in RUNS:
        print(f"== benchmark {name}", flush=True)
        answer = subprocess.run(
            [sys.executable, "-m", f"{HERE.name}.{name}", option],
            cwd=HERE.parent,
            capture_output=True,
            text=True,
        )
        if answer.returncode != 0:
            print(answer.stdout + answer.stderr)
            failed.append(name)
    print(f"{len(RUNS) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
