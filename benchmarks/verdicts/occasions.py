"""Error rate for two identical conditions that were measured on different occasions.

Each study draws the effects of K calibrations and of the two occasions that are compared from one
distribution, and the scatter of their launches besides. ``python -m benchmarks.verdicts.occasions``
prints the table of docs/explanation/error-rates.md.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.stats.occasions import (
    OccasionMean,
    between_occasions,
    launch_interval,
    occasion_interval,
)

Numbers = npt.NDArray[np.floating[Any]]
Scatter = Callable[[np.random.Generator, int], Numbers]

LAUNCH_SD = 0.03
ALPHA = 0.05
OCCASIONS = (5, 7, 10, 20)
BETWEEN = (0.0, 0.01, 0.05)
"""Standard deviations of the effect of an occasion; the launches vary by ``LAUNCH_SD``."""
LAUNCHES = ((30, 30), (10, 100), (100, 10))
"""Launches of the two compared occasions, and of each calibration."""


def two_groups(share: float) -> Scatter:
    """Return a scatter in which this share of the occasions is worse than the others."""
    sd = math.sqrt(share * (1.0 - share))
    return lambda rng, n: ((rng.random(n) < share) - share) / sd


SCATTERS: dict[str, Scatter] = {
    "Gaussian": lambda rng, n: rng.standard_normal(n),
    "uniform": lambda rng, n: math.sqrt(3.0) * rng.uniform(-1.0, 1.0, n),
    "heavy tails, t3": lambda rng, n: rng.standard_t(3, n) / math.sqrt(3.0),
    "exponential": lambda rng, n: rng.exponential(1.0, n) - 1.0,
    "two groups, 1/2 worse": two_groups(0.5),
    "two groups, 1/5 worse": two_groups(0.2),
    "two groups, 1/10 worse": two_groups(0.1),
}
"""Each with mean 0 and standard deviation 1."""


def drawn(
    rng: np.random.Generator, scatter: Scatter, between_sd: float, counts: Sequence[int]
) -> list[OccasionMean]:
    """Return one occasion for each number of launches."""
    means = between_sd * scatter(rng, len(counts))
    sizes = np.asarray(counts, dtype=float)
    seen = means + LAUNCH_SD * rng.standard_normal(len(counts)) / np.sqrt(sizes)
    variances = LAUNCH_SD**2 * rng.chisquare(sizes - 1) / (sizes - 1) / sizes
    return [
        OccasionMean(float(mean), float(variance), n - 1)
        for mean, variance, n in zip(seen, variances, counts, strict=True)
    ]


def missed(
    scatter: Scatter,
    occasions: int,
    between_sd: float,
    launches: tuple[int, int],
    studies: int,
    seed: int,
) -> tuple[float, float]:
    """Return the share of intervals that miss 0: with the occasions, and of launches alone."""
    rng = np.random.default_rng(seed)
    counts = [launches[0]] * 2 + [launches[1]] * occasions
    with_occasions = alone = 0
    for _ in range(studies):
        a, b, *calibrations = drawn(rng, scatter, between_sd, counts)
        between = between_occasions([calibrations])
        assert between is not None
        with_occasions += 0.0 not in occasion_interval(a, b, (between, between), ALPHA)[0]
        alone += 0.0 not in launch_interval(a, b, ALPHA)[0]
    return with_occasions / studies, alone / studies


def table(studies: int, seed: int) -> Iterator[str]:
    """Yield the lines of the table, in Markdown."""
    heads = [f"{n} occasions" for n in OCCASIONS]
    yield f"| scatter of occasions | sd | launches | {' | '.join(heads)} | launches alone |"
    yield f"| --- | ---: | ---: | {'---: | ' * len(heads)}---: |"
    for name, scatter in SCATTERS.items():
        for between_sd in BETWEEN if name == "Gaussian" else BETWEEN[1:]:
            for launches in LAUNCHES if name == "Gaussian" else LAUNCHES[:1]:
                found = [missed(scatter, n, between_sd, launches, studies, seed) for n in OCCASIONS]
                cells = [f"{100 * share:.1f} %" for share, _ in found]
                cells.append(f"{100 * found[0][1]:.1f} %")
                yield (
                    f"| {name} | {100 * between_sd:g} % | {launches[0]}, {launches[1]} | "
                    f"{' | '.join(cells)} |"
                )


def main() -> None:
    """Parse, simulate, print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.verdicts.occasions")
    parser.add_argument("--studies", type=int, default=20_000, help="studies a row (20000)")
    parser.add_argument("--seed", type=int, default=1, help="of every random choice (1)")
    options = parser.parse_args()
    for line in table(options.studies, options.seed):
        print(line, flush=True)


if __name__ == "__main__":
    main()
