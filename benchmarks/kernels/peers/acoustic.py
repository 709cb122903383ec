"""Devito's steps of the acoustic wave equation compared with the kernel's variants.

    python -m benchmarks.kernels.peers.acoustic build/native/assay-kernel-acoustic --side 208

It prints one line for each: the best and the median rate, in millions of cells and steps per
second. Devito generates C code from the equation and compiles it. Its time is that of the loops,
without the compilation.
"""

from __future__ import annotations

import os

import numpy as np

from .rounds import Native, Way, arguments, race, report


def devito_steps(side: int, steps: int, threads: int) -> Way:
    """Return a function that takes the steps, and returns the seconds of its loops."""
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
        loops = operator.apply(time_m=1, time_M=steps)
        assert np.isfinite(u.data).all()
        return float(sum(one.time for one in loops.values()))

    return step


def main() -> None:
    """Measure and print the result."""
    parser = arguments(__doc__.splitlines()[0], ["fetched-avx512", "steps-avx512"])
    parser.add_argument("--side", type=int, default=208, help="cells along an edge")
    parser.add_argument("--steps", type=int, default=8, help="in time")
    asked = parser.parse_args()

    step = devito_steps(asked.side, asked.steps, asked.threads)
    step()
    edges = [word for name in ("nx", "ny", "nz") for word in (f"--{name}", asked.side)]
    options = [*edges, "--steps", asked.steps, "--threads", asked.threads]
    native = Native(asked.program, asked.variants, options)
    times = race({"Devito": step}, native, asked.rounds)
    cells = asked.side**3 * asked.steps / 1e6
    report(times, "Devito", lambda taken: f"{cells / taken:8.0f} M/s", asked.json)


if __name__ == "__main__":
    main()
