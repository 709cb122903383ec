"""Figures of OS noise.

Units are nanoseconds throughout. Quantiles are those of :mod:`assay.stats.quantile`.

Sources: Sottile and Minnich, "Analysis of microbenchmarks for performance tuning of clusters"
(CLUSTER 2004), for fixed work and fixed time; Hoefler, Schneider and Lumsdaine, "Characterizing the
influence of system noise on large-scale applications by simulation" (SC 2010), for detours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.records.noise import CpuNoise, NoiseRun
from assay.stats.quantile import quantile_of_sorted

QUANTILES = ("p50", "p99", "p999", "max")
"""Names of the reported quantiles."""


@dataclass(frozen=True, slots=True)
class DetourFigures:
    """Detours of one or several CPUs.

    Attributes:
        count: number of detours.
        share: share of the time that detours took; from 0 to 1.
        rate_per_s: detours per second and CPU.
        p50_ns, p99_ns, p999_ns, max_ns: quantiles of their lengths; ``None`` without a detour.
    """

    count: int
    share: float
    rate_per_s: float
    p50_ns: float | None = None
    p99_ns: float | None = None
    p999_ns: float | None = None
    max_ns: float | None = None

    @property
    def quantiles_ns(self) -> tuple[float | None, ...]:
        """Quantiles in the order of ``QUANTILES``."""
        return self.p50_ns, self.p99_ns, self.p999_ns, self.max_ns


@dataclass(frozen=True, slots=True)
class ExcessFigures:
    """Excess time of fixed-work quanta over the fastest quantum.

    Attributes:
        count: number of quanta.
        least_ns: time of the fastest quantum.
        p50_ns, p99_ns, p999_ns, max_ns: quantiles of the excess over it.
    """

    count: int
    least_ns: float
    p50_ns: float
    p99_ns: float
    p999_ns: float
    max_ns: float

    @property
    def quantiles_ns(self) -> tuple[float, ...]:
        """Quantiles in the order of ``QUANTILES``."""
        return self.p50_ns, self.p99_ns, self.p999_ns, self.max_ns


@dataclass(frozen=True, slots=True)
class HistogramBin:
    """Values from ``low_ns`` to below twice that, with their number and sum."""

    low_ns: int
    count: int
    sum_ns: int


def detour_figures(took_ns: Sequence[float], measured_ns: float) -> DetourFigures:
    """Return figures of detours.

    Args:
        took_ns: lengths of the detours, in any order.
        measured_ns: observed time, summed over all CPUs.

    Raises:
        ValueError: the observed time is zero.
    """
    if measured_ns <= 0:
        raise ValueError("figures of detours need an observed time above zero")
    ordered = sorted(took_ns)
    lost = sum(ordered)
    count = len(ordered)
    share, rate = min(1.0, lost / measured_ns), count / measured_ns * 1e9
    if not ordered:
        return DetourFigures(count, share, rate)
    return DetourFigures(count, share, rate, *_quantiles(ordered))


def excess_figures(series: Sequence[Sequence[int]]) -> ExcessFigures | None:
    """Return the excess time of equal quanta over the fastest one on the same CPU.

    Each CPU is compared with itself: a slower core is not noisier.

    Args:
        series: times of the quanta of each CPU, in nanoseconds.

    Returns:
        Figures of all CPUs together; ``None`` without a quantum.
    """
    filled = [values for values in series if values]
    if not filled:
        return None
    ordered = sorted(
        float(value - least)
        for values, least in ((values, min(values)) for values in filled)
        for value in values
    )
    least_ns = min(min(values) for values in filled)
    return ExcessFigures(len(ordered), least_ns, *_quantiles(ordered))


def _quantiles(ordered: Sequence[float]) -> tuple[float, float, float, float]:
    """Return the quantiles in the order of ``QUANTILES``."""
    p50, p99, p999 = (quantile_of_sorted(ordered, q) for q in (0.5, 0.99, 0.999))
    return p50, p99, p999, ordered[-1]


def detour_figures_of(cpus: Sequence[CpuNoise]) -> DetourFigures:
    """Return figures of the detours of several CPUs together.

    Raises:
        ValueError: these CPUs have no results.
    """
    took_ns = [took for cpu in cpus for took in cpu.duration_ns]
    return detour_figures(took_ns, sum(cpu.measured_ns for cpu in cpus))


@dataclass(frozen=True, slots=True)
class NoiseFigure:
    """Figure for comparing configurations; lower is better."""

    name: str
    value: float
    unit: str


_DETOURS_OF = ("selfish", "osnoise", "timerlat", "ftq", "fwq")


def detour_source(runs: Sequence[NoiseRun]) -> NoiseRun | None:
    """Return the run whose detours are reported; ``None`` without a run."""
    by_method = {run.method: run for run in runs}
    return next((by_method[name] for name in _DETOURS_OF if name in by_method), None)


def named_figures(runs: Sequence[NoiseRun]) -> tuple[NoiseFigure, ...]:
    """Return figures of all CPUs together, by name.

    Args:
        runs: runs of different methods, each with results of at least one CPU.
    """
    found: list[NoiseFigure] = []
    source = detour_source(runs)
    if source is not None:
        detours = detour_figures_of(source.measured)
        found.append(NoiseFigure("noise_share", 100.0 * detours.share, "%"))
        found.append(NoiseFigure("noise_rate", detours.rate_per_s, "1/s"))
        found += _quantile_figures("detour", [value or 0.0 for value in detours.quantiles_ns])
    work = next((run for run in runs if run.method == "fwq"), None)
    excess = excess_figures([cpu.values for cpu in work.measured]) if work else None
    if excess is not None:
        found += _quantile_figures("work", excess.quantiles_ns)
    return tuple(found)


def _quantile_figures(prefix: str, values_ns: Sequence[float]) -> list[NoiseFigure]:
    return [
        NoiseFigure(f"{prefix}_{name}_us", value / 1e3, "us")
        for name, value in zip(QUANTILES, values_ns, strict=True)
    ]


def histogram(values_ns: Sequence[int]) -> tuple[HistogramBin, ...]:
    """Return a histogram with one bin per power of two, without gaps.

    Values below 1 ns count as 1 ns.
    """
    counts: dict[int, int] = {}
    sums: dict[int, int] = {}
    for value in values_ns:
        exponent = max(1, value).bit_length() - 1
        counts[exponent] = counts.get(exponent, 0) + 1
        sums[exponent] = sums.get(exponent, 0) + value
    if not counts:
        return ()
    return tuple(
        HistogramBin(1 << e, counts.get(e, 0), sums.get(e, 0))
        for e in range(min(counts), max(counts) + 1)
    )
