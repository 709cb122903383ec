"""Does assay's 5 % hold? Simulated and recorded noise against the verdicts of ``assay.stats``.

    python benchmarks/calibration.py                      the table, 2,000 studies a row
    python benchmarks/calibration.py --quick              400 studies a row
    python benchmarks/calibration.py --recorded FILE.csv  recorded repeats (t0, t1, ...) as A/A
    python benchmarks/calibration.py --calibrate          the levels in assay.stats.sequence

A study runs two arms in randomised blocks and looks after every block from the sixth on.
"Stopped" studies end at their first verdict other than *unclear*. All follows from the seed.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from assay.records.claim import Verdict
from assay.stats.median import median_sequence, tail
from assay.stats.paired import Effect, Observation, effect
from assay.stats.sequence import CLAIM, G, critical, level
from assay.stats.verdict import MARGIN, decide

Array = npt.NDArray[np.float64]
Noise = Callable[[np.random.Generator, int, int], Array]

ALPHA = 0.05
SPREAD = 0.01
"""Typical noise of one launch, relative."""


# --- noise: logarithms of launches in the order they were run, studies x launches ---------------


def gaussian(rng: np.random.Generator, studies: int, launches: int) -> Array:
    return SPREAD * rng.standard_normal((studies, launches))


def log_normal(rng: np.random.Generator, studies: int, launches: int) -> Array:
    """A floor plus a skewed extra of 2 % median."""
    return np.log1p(0.02 * np.exp(rng.standard_normal((studies, launches))))


def bimodal(share: float) -> Noise:
    """Two modes 5 % apart, the slow one with this share."""

    def noise(rng: np.random.Generator, studies: int, launches: int) -> Array:
        slow = rng.random((studies, launches)) < share
        return 0.2 * SPREAD * rng.standard_normal((studies, launches)) + 0.05 * slow

    return noise


def student(degrees: float) -> Noise:
    def noise(rng: np.random.Generator, studies: int, launches: int) -> Array:
        return SPREAD * rng.standard_t(degrees, (studies, launches))

    return noise


def pareto(rng: np.random.Generator, studies: int, launches: int) -> Array:
    """A floor plus an extra without a mean (tail index 1)."""
    return np.log1p(SPREAD * rng.pareto(1.0, (studies, launches)))


def autoregressive(phi: float) -> Noise:
    def noise(rng: np.random.Generator, studies: int, launches: int) -> Array:
        values = SPREAD * rng.standard_normal((studies, launches))
        values[:, 1:] *= math.sqrt(1.0 - phi * phi)
        for k in range(1, launches):
            values[:, k] += phi * values[:, k - 1]
        return values

    return noise


def drift(noise: float) -> Noise:
    """20 % over 200 blocks, on Gaussian noise of this many per cent."""

    def values(rng: np.random.Generator, studies: int, launches: int) -> Array:
        slope = 0.2 / 400 * np.arange(launches)
        return noise / 100.0 * rng.standard_normal((studies, launches)) + slope

    return values


def step(rng: np.random.Generator, studies: int, launches: int) -> Array:
    """10 % slower from a random launch on."""
    at = rng.integers(0, launches, (studies, 1))
    return gaussian(rng, studies, launches) + 0.1 * (np.arange(launches) >= at)


def steps(rng: np.random.Generator, studies: int, launches: int) -> Array:
    """A jump of 5 % typical size before one launch in twenty, little else."""
    jumps = 0.05 * rng.standard_normal((studies, launches))
    jumps *= rng.random((studies, launches)) < 0.05
    return np.cumsum(jumps, axis=1) + 0.2 * gaussian(rng, studies, launches)


def position(noise: float) -> Noise:
    """The second launch of each block is 1 % slower, on noise of this many per cent."""

    def values(rng: np.random.Generator, studies: int, launches: int) -> Array:
        late = 0.01 * (np.arange(launches) % 2)
        return noise / 100.0 * rng.standard_normal((studies, launches)) + late

    return values


def quantised(rng: np.random.Generator, studies: int, launches: int) -> Array:
    """10 s with 0.1 % noise on a clock that ticks every 0.1 s."""
    seconds = 10.05 + 0.01 * rng.standard_normal((studies, launches))
    return np.log(np.maximum(np.round(seconds, 1), 0.1))


NOISES: dict[str, Noise] = {
    "Gaussian": gaussian,
    "log-normal": log_normal,
    "bimodal, 50 % slow": bimodal(0.5),
    "bimodal, 10 % slow": bimodal(0.1),
    "bimodal, 2 % slow": bimodal(0.02),
    "heavy tails, t3": student(3.0),
    "heavy tails, t2": student(2.0),
    "heavy tails, Pareto 1": pareto,
    "AR(1), 0.5": autoregressive(0.5),
    "AR(1), 0.9": autoregressive(0.9),
    "AR(1), 0.99": autoregressive(0.99),
    "AR(1), -0.9": autoregressive(-0.9),
    "drift and noise": drift(1.0),
    "drift, little noise": drift(0.05),
    "one step": step,
    "many steps": steps,
    "second is slower, little noise": position(0.05),
    "second is slower, some noise": position(0.3),
    "second is slower, noise": position(0.5),
    "coarse clock": quantised,
}


def arms_in_blocks(launches: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Logarithms of A and B, studies x blocks: two launches a block in random order."""
    swap = rng.random((launches.shape[0], launches.shape[1] // 2)) < 0.5
    first, second = launches[:, ::2], launches[:, 1::2]
    return np.where(swap, second, first), np.where(swap, first, second)


def unequal_shape(rng: np.random.Generator, studies: int, blocks: int) -> tuple[Array, Array]:
    """A Gaussian; B with a rare slow mode (5 % of launches, +20 %) and the same mean logarithm."""
    b = 0.5 * gaussian(rng, studies, blocks) + 0.2 * (rng.random((studies, blocks)) < 0.05) - 0.01
    return gaussian(rng, studies, blocks), b


# --- studies ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """What became of the studies of one kind of noise; the true ratio is 1."""

    studies: int
    false: int
    """Stopped studies that ended in *faster* or *slower*."""
    outside: int
    """Studies in which the interval missed the truth at any look."""
    outside_at_stop: int
    same: int
    blocks: float
    """Median number of blocks of stopped studies."""

    def share(self, count: int) -> float:
        return count / self.studies


def t_statistics(log_ratios: Array) -> tuple[Array, Array, Array]:
    """Mean, standard error and t statistic of the first n columns, for each n."""
    n = np.arange(1, log_ratios.shape[1] + 1.0)
    mean = np.cumsum(log_ratios, axis=1) / n
    square = np.cumsum(log_ratios**2, axis=1) - n * mean**2
    error = np.sqrt(np.maximum(square, 1e-22) / np.maximum(n - 1.0, 1.0) / n)
    return mean, error, mean / error


def criticals(blocks: int, alpha: float = ALPHA) -> Array:
    """Critical t of the confidence sequence at each number of blocks; infinite before a claim."""
    at = level(alpha)
    return np.array([critical(n, at) if n >= CLAIM else math.inf for n in range(1, blocks + 1)])


def study(a: Array, b: Array, resolution: float | None = 0.0) -> Row:
    """Look at every study after every block; a and b are logarithms, studies x blocks.

    Every number rests on ``assay.stats.paired.effect``. To save time it is asked only at looks
    where the plain t interval, which is never wider, would decide or miss.
    """
    log_ratios = b - a
    mean, error, _ = t_statistics(log_ratios)
    half = np.maximum(criticals(a.shape[1]) * error, resolution or 0.0)
    lo, hi = mean - half, mean + half
    missed = (lo > 0.0) | (hi < 0.0)
    inside = (lo >= math.log1p(-MARGIN)) & (hi <= math.log1p(MARGIN))
    false = outside = at_stop = same = 0
    stops = []
    for i in range(a.shape[0]):

        def look(k: int, i: int = i) -> Effect:
            return effect(
                [Observation(math.exp(v)) for v in a[i, : k + 1]],
                [Observation(math.exp(v)) for v in b[i, : k + 1]],
                alpha=ALPHA,
                resolution=resolution,
            )

        outside += any(not _holds(look(int(k))) for k in np.flatnonzero(missed[i]))
        stop, verdict = a.shape[1], Verdict.UNCLEAR
        for k in np.flatnonzero(missed[i] | inside[i]):
            found = look(int(k))
            verdict = decide(found)
            if verdict is not Verdict.UNCLEAR:
                stop = int(k) + 1
                at_stop += not _holds(found)
                break
        stops.append(stop)
        same += verdict is Verdict.SAME
        false += verdict in (Verdict.FASTER, Verdict.SLOWER)
    return Row(a.shape[0], false, outside, at_stop, same, float(np.median(stops)))


def _holds(found: Effect) -> bool:
    return found.lo <= 1.0 <= found.hi


def null_row(name: str, studies: int, blocks: int, seed: int) -> Row:
    """Studies of two arms with the same noise."""
    rng = np.random.default_rng([seed, sorted(NOISES).index(name)])
    a, b = arms_in_blocks(NOISES[name](rng, studies, 2 * blocks), rng)
    return study(a, b, resolution=0.01 if name == "coarse clock" else 0.0)


def median_row(studies: int, blocks: int, seed: int, caps: float = 0.3) -> int:
    """How often the interval of a median ever misses; this share of the values is censored."""
    rng = np.random.default_rng([seed, 1001])
    values = rng.standard_t(2.0, (studies, blocks))
    ranks = np.array([tail(n, ALPHA) for n in range(1, blocks + 1)])
    censored = rng.random((studies, blocks)) < caps
    cap = values - rng.exponential(1.0, values.shape)
    low, high = np.where(censored, cap, values), np.where(censored, math.inf, values)
    not_above = np.cumsum(low <= 0.0, axis=1)
    not_below = np.cumsum(high >= 0.0, axis=1)
    missed = ((not_above < ranks) | (not_below < ranks)).any(axis=1)
    for i in np.flatnonzero(missed)[:20]:  # the same through the front door
        k = int(np.flatnonzero((not_above[i] < ranks) | (not_below[i] < ranks))[0]) + 1
        assert 0.0 not in median_sequence(list(low[i, :k]), list(high[i, :k]), ALPHA)
    return int(missed.sum())


# --- how many launches a true 2 % takes ---------------------------------------------------------


def t_power(n: int, shift: float, alpha: float = ALPHA) -> float:
    """Power of the paired t test of n pairs at a mean of ``shift`` standard deviations."""
    nu = n - 1
    s = np.linspace(1e-6, 6.0, 20001)  # sample over true standard deviation
    density = np.exp(
        (nu - 1) * np.log(s) - nu * s * s / 2
        + math.log(2.0) + nu / 2 * math.log(nu / 2) - math.lgamma(nu / 2)
    )  # fmt: skip
    weights = density / density.sum()

    def above(limit: float, mean: float) -> float:
        z = limit * s - mean
        return float(weights @ np.array([0.5 * math.erfc(v / math.sqrt(2.0)) for v in z]))

    low, high = 0.0, 100.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if 2.0 * above(middle, 0.0) > alpha else (low, middle)
    return above(high, shift * math.sqrt(n))


@dataclass(frozen=True)
class Cost:
    """Blocks to show a true gain, against a paired t test of fixed size with 90 % power."""

    fixed: int
    mean: float
    within: float
    """Share of studies decided with at most 1.5 times the fixed size."""
    wrong: float
    """Share of studies whose first verdict was not *faster*."""


def cost(studies: int, seed: int, gain: float = 0.02, noise: float = SPREAD) -> Cost:
    """Blocks until *faster* is said of an arm that takes ``gain`` less time."""
    rng = np.random.default_rng([seed, 2002])
    shift = -math.log1p(-gain)
    sd = math.sqrt(2.0) * noise
    fixed = next(n for n in range(3, 10_000) if t_power(n, shift / sd) >= 0.9)
    blocks = 20 * fixed
    a = noise * rng.standard_normal((studies, blocks))
    b = noise * rng.standard_normal((studies, blocks)) - shift
    _, _, t = t_statistics(b - a)
    crude = np.abs(t) > criticals(blocks)
    stops, wrong = [], 0
    for i in range(studies):
        stop = blocks
        for k in np.flatnonzero(crude[i]):
            found = effect(
                [Observation(math.exp(v)) for v in a[i, : k + 1]],
                [Observation(math.exp(v)) for v in b[i, : k + 1]],
                resolution=0.0,
            )
            verdict = decide(found)
            if verdict is not Verdict.UNCLEAR:
                stop = int(k) + 1
                wrong += verdict is not Verdict.FASTER
                break
        stops.append(stop)
    within = float(np.mean(np.array(stops) <= 1.5 * fixed))
    return Cost(fixed, float(np.mean(stops)), within, wrong / studies)


# --- recorded repeats ---------------------------------------------------------------------------


def recorded(path: Path) -> Iterator[Array]:
    """Repeats of each configuration of a table, in the order they were measured."""
    raw = path.read_bytes()
    text = gzip.decompress(raw) if path.suffix == ".gz" else raw
    for line in csv.DictReader(io.StringIO(text.decode())):
        found = [line[k] for k in line if k[0] == "t" and k[1:].isdigit() and line[k]]
        values = np.array([float(v) for v in found])
        if len(values) >= 2 * CLAIM and (values > 0.0).all():
            yield np.log(values[: len(values) // 2 * 2])


def recorded_row(path: Path, studies: int, seed: int) -> Row:
    """A/A studies: both arms from one contiguous run of repeats, in random order by pairs."""
    rng = np.random.default_rng([seed, 3003])
    streams = list(recorded(path))
    length = min(map(len, streams))
    chosen = rng.integers(0, len(streams), studies)
    a, b = arms_in_blocks(np.array([streams[i][:length] for i in chosen]), rng)
    return study(a, b, resolution=None)


# --- the levels ---------------------------------------------------------------------------------


def calibrate(studies: int, looks: int, seed: int) -> list[tuple[float, float]]:
    """(alpha, level / alpha): the largest level at which P(ever E_n >= 1/level, n >= 6) <= alpha.

    Importance sampling: under the mixture, P0(hit) = E1[1 / E at the hit]; what has not hit after
    the last simulated look adds at most level * P1(no hit).
    """
    rng = np.random.default_rng([seed, 4004])
    levels = np.geomspace(0.6, 5e-5, 200)
    limits = -np.log(levels)
    mean = math.sqrt(G) * rng.standard_normal(studies)
    total, square = np.zeros(studies), np.zeros(studies)
    passed = np.zeros(studies, dtype=np.int64)
    weight = np.zeros(len(levels) + 1)
    for n in range(1, looks + 1):
        x = mean + rng.standard_normal(studies)
        total += x
        square += x * x
        if n < CLAIM:
            continue
        k, explained = 1.0 + n * G, total * total / n
        r = explained / np.maximum(square - explained, 1e-300)
        log_e = -0.5 * math.log(k) + 0.5 * n * (np.log1p(r) - np.log1p(r / k))
        now = np.searchsorted(limits, log_e, side="right")
        new = now > passed
        np.add.at(weight, passed[new], np.exp(-log_e[new]))
        np.add.at(weight, now[new], -np.exp(-log_e[new]))
        passed[new] = now[new]
    hit = np.cumsum(weight)[:-1] / studies
    alive = np.array([(passed <= i).mean() for i in range(len(levels))])
    bound = hit + levels * alive
    wanted = (0.0001, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2)
    found = np.exp(np.interp(np.log(wanted), np.log(bound[::-1]), np.log(levels[::-1])))
    return [(alpha, float(at) / alpha) for alpha, at in zip(wanted, found, strict=True)]


# --- faces --------------------------------------------------------------------------------------


def table(studies: int, blocks: int, seed: int, files: list[Path]) -> Iterator[str]:
    """The Markdown table, line by line."""
    limit = ALPHA + 2.0 * math.sqrt(ALPHA * (1.0 - ALPHA) / studies)
    yield (
        f"{studies} studies a row, true ratio 1, looks after every block from {CLAIM} to {blocks};"
        f" g = {G:g}, alpha = {ALPHA:g}; limit 5 % + 2 se = {100 * limit:.2f} %.\n"
    )
    yield (
        "| noise, arms alike | false verdicts | coverage at the stop | coverage at every look "
        "| ends in *same* | median blocks | |"
    )
    yield "|---|---|---|---|---|---|---|"
    for name in NOISES:
        yield _line(name, null_row(name, studies, blocks, seed), limit)
    for path in files:
        name = f"recorded: {path.name.split('.')[0]}"
        yield _line(name, recorded_row(path, studies, seed), limit)
    missed = median_row(studies, blocks, seed)
    mark = "over" if missed / studies > limit else "ok"
    yield (f"| median, t2, 30 % censored | | | {100 * (1 - missed / studies):.2f} % | | | {mark} |")
    rng = np.random.default_rng([seed, 5005])
    row = study(*unequal_shape(rng, studies, blocks))
    yield _line("*equal mean, unequal shape* (not covered)", row, limit)
    price = cost(studies, seed)
    yield (
        f"\n2 % gain at 1 % noise: {price.mean:.2f} blocks on average"
        f" ({2 * price.mean:.1f} launches), {price.mean / price.fixed:.2f} times the"
        f" {price.fixed} blocks of a fixed-size paired t test with 90 % power;"
        f" {100 * price.within:.1f} % decided within 1.5 times that;"
        f" first verdict not *faster*: {100 * price.wrong:.2f} %."
    )


def _line(name: str, row: Row, limit: float) -> str:
    worst = max(row.share(row.false), row.share(row.outside))
    return (
        f"| {name} | {100 * row.share(row.false):.2f} % "
        f"| {100 * (1 - row.share(row.outside_at_stop)):.2f} % "
        f"| {100 * (1 - row.share(row.outside)):.2f} % "
        f"| {100 * row.share(row.same):.0f} % | {row.blocks:.0f} "
        f"| {'over' if worst > limit else 'ok'} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Error rates of assay's verdicts.")
    parser.add_argument("--studies", type=int, default=2000, help="studies a row (2000)")
    parser.add_argument("--blocks", type=int, default=200, help="blocks a study (200)")
    parser.add_argument("--seed", type=int, default=1, help="all numbers follow from it (1)")
    parser.add_argument("--quick", action="store_true", help="400 studies a row")
    parser.add_argument("--calibrate", action="store_true", help="print the levels instead")
    parser.add_argument(
        "--recorded", type=Path, nargs="+", default=[], metavar="FILE", help="tables of repeats"
    )
    options = parser.parse_args()
    if options.calibrate:
        for alpha, gain in calibrate(100_000, 2000, options.seed):
            print(f"alpha {alpha:<7g} level / alpha {gain:.3f}, less 8 %: {0.92 * gain:.3f}")
        return
    studies = 400 if options.quick else options.studies
    for line in table(studies, options.blocks, options.seed, options.recorded):
        print(line, flush=True)


if __name__ == "__main__":
    main()
