"""A small training loop in NumPy that prints the time of each step since its start.

It is the program of the recordings: two layers on data made on the fly, with a checkpoint every 50
steps. ``python -m benchmarks.progress.training LAUNCHES FILE`` records launches, one line each.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

STEPS = 500
EVERY = 50
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def train() -> None:
    """Train, and print the time after each step in seconds."""
    begin = time.perf_counter()
    import numpy as np

    rng = np.random.default_rng(1)
    first = 0.05 * rng.standard_normal((256, 512))
    second = 0.05 * rng.standard_normal((512, 10))
    times = []
    with tempfile.TemporaryDirectory() as folder:
        for step in range(1, STEPS + 1):
            data = rng.standard_normal((256, 256))
            target = data[:, :10] ** 2
            hidden = np.maximum(data @ first, 0.0)
            error = (hidden @ second - target) / len(data)
            gradient = (error @ second.T) * (hidden > 0)
            second -= 0.01 * hidden.T @ error
            first -= 0.01 * data.T @ gradient
            if step % EVERY == 0:
                for part in range(8):
                    np.save(Path(folder) / f"{part}.npy", first)
                    np.load(Path(folder) / f"{part}.npy").sum()
            times.append(time.perf_counter() - begin)
    print(" ".join(f"{one:.5f}" for one in times))


def record(launches: int, path: Path) -> None:
    """Append launches of this program to a file, one line each.

    With one thread: threads that wait for each other spin on a busy machine.
    """
    environment = {**os.environ, **dict.fromkeys(THREADS, "1")}
    for _ in range(launches):
        words = [sys.executable, "-m", "benchmarks.progress.training"]
        found = subprocess.run(words, capture_output=True, text=True, check=True, env=environment)
        with path.open("a") as file:
            file.write(found.stdout)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        record(int(sys.argv[1]), Path(sys.argv[2]))
    else:
        train()
