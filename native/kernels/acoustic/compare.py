"""The same steps by Devito beside the kernel's variants, a round of each in turn.

    python native/kernels/acoustic/compare.py build/native/assay-kernel-acoustic --side 208

One line for each: the best and the middle of the rates, in millions of cells and steps a second.
Devito makes C of the equation and compiles it: its time is that of its own loops, and does not
hold the compiler's.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np


def devito_steps(side: int, steps: int, threads: int) -> Callable[[], float]:
    """Give what takes the steps, and tells the seconds that its loops took."""
    os.environ.update(
        DEVITO_LANGUAGE="openmp", DEVITO_LOGGING="ERROR", OMP_NUM_THREADS=str(threads)
    )
    from devito import Eq, Function, Grid, Operator, TimeFunction

    grid = Grid((side, side, side), extent=(side - 1,) * 3, dtype=np.float32)
    u = TimeFunction(name="u", grid=grid, space_order=16, time_order=2)
    speed = Function(name="speed", grid=grid, space_order=0)
    rng = np.random.default_rng(1)
    start = rng.uniform(-1.0, 1.0, (side, side, side)).astype(np.float32)
    speed.data[:] = rng.uniform(0.02, 0.17, start.shape)
    operator = Operator(Eq(u.forward, 2 * u - u.backward + speed * u.laplace))

    def step() -> float:
        for plane in range(3):
            u.data[plane] = start
        told = operator.apply(time_m=1, time_M=steps)
        assert np.isfinite(u.data).all()
        return float(sum(one.time for one in told.values()))

    return step


def own_steps(program: Path, words: list[str]) -> float:
    """Seconds of one repetition of a variant."""
    done = subprocess.run([program, *words], capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout)["median_s"])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=Path)
    parser.add_argument("--side", type=int, default=208)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--variants", nargs="*", default=["fetched-v4", "steps-v4"])
    asked = parser.parse_args()

    step = devito_steps(asked.side, asked.steps, asked.threads)
    step()
    times: dict[str, list[float]] = {name: [] for name in ["Devito", *asked.variants]}
    sizes = [word for name in ("nx", "ny", "nz") for word in (f"--{name}", str(asked.side))]
    words = [*sizes, "--steps", str(asked.steps), "--threads", str(asked.threads), "--seconds", "0"]
    for _ in range(asked.rounds):
        times["Devito"].append(step())
        for name in asked.variants:
            times[name].append(own_steps(asked.program, [*words, "--variant", name]))
    for name, taken in times.items():
        cells = asked.side**3 * asked.steps / 1e6
        print(
            f"{name:16} best {cells / min(taken):8.0f}  "
            f"middle {cells / statistics.median(taken):8.0f}  10^6 cells/s"
        )


if __name__ == "__main__":
    main()
