"""Summary of OS noise from runs of several methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from assay.noise.causes import Cause, CauseKind, cause_of
from assay.noise.driver import MAX_PROCESSES, NoiseMeasurement, ProcessUsage
from assay.noise.figures import HistogramBin, NoiseFigure, detour_source, histogram, named_figures
from assay.noise.periods import KnownPeriod, explain_period
from assay.noise.spectrum import Period, Spectrum, spectrum_of
from assay.records.noise import ExplainedDetour, NoiseRun

MAX_WORST = 10


@dataclass(frozen=True, slots=True)
class WorstDetour:
    """One of the longest detours, with its CPU and likely cause."""

    cpu: int
    detour: ExplainedDetour
    cause: Cause


@dataclass(frozen=True, slots=True)
class CauseShare:
    """Time taken by one kind of cause, among the detours with known causes.

    Attributes:
        kind: kind of cause.
        count: number of detours.
        lost_ns: sum of their lengths, in nanoseconds.
        share: share of all lost time, including detours without a known cause; from 0 to 1.
    """

    kind: CauseKind
    count: int
    lost_ns: int
    share: float


@dataclass(frozen=True, slots=True)
class ExplainedPeriod:
    """Period of the noise, with its likely source."""

    period: Period
    likely: str | None


@dataclass(frozen=True, slots=True)
class NoiseSummary:
    """Results of noise measurements.

    Attributes:
        runs: runs with results, in order.
        source: run whose detours are shown.
        histogram: histogram of its detours.
        worst: longest detours, longest first.
        causes: time by kind of cause, largest first.
        spectrum: spectrum of the fixed-time run.
        periods: periods of the spectrum.
        figures: figures by name.
        steal_s: steal time of all runs in seconds, by CPU, as the hypervisor reports it.
        switches: context switches of the whole host in all runs.
        others: processes with the most processor time during the runs.
    """

    runs: tuple[NoiseRun, ...] = ()
    source: NoiseRun | None = None
    histogram: tuple[HistogramBin, ...] = ()
    worst: tuple[WorstDetour, ...] = ()
    causes: tuple[CauseShare, ...] = ()
    spectrum: Spectrum = field(default_factory=Spectrum)
    periods: tuple[ExplainedPeriod, ...] = ()
    figures: tuple[NoiseFigure, ...] = ()
    steal_s: Mapping[int, float] | None = None
    switches: int = 0
    others: tuple[ProcessUsage, ...] = ()


def summarize_noise(
    found: Sequence[NoiseMeasurement],
    known: Sequence[KnownPeriod],
    *,
    guest: bool = False,
    causes: Mapping[tuple[int, int], Cause] | None = None,
) -> NoiseSummary:
    """Return the summary of several runs.

    Args:
        found: measurements with different methods.
        known: known periods of this kernel.
        guest: whether the machine is a guest of a hypervisor.
        causes: causes from a tracer, by CPU and start of the detour in nanoseconds.
    """
    runs = tuple(one.run for one in found if one.run.measured)
    source = detour_source(runs)
    if source is None:
        return NoiseSummary()
    of_fixed_time = next((run for run in runs if run.method == "ftq"), None)
    spectrum = spectrum_of(of_fixed_time) if of_fixed_time is not None else Spectrum()
    worst = _worst_detours(source, guest, causes or {})
    return NoiseSummary(
        runs=runs,
        source=source,
        histogram=histogram([took for cpu in source.measured for took in cpu.duration_ns]),
        worst=worst[:MAX_WORST],
        causes=_causes(source, worst),
        spectrum=spectrum,
        periods=tuple(
            ExplainedPeriod(p, explain_period(p.period_s, known)) for p in spectrum.periods
        ),
        figures=named_figures(runs),
        steal_s=_added([one.steal_s for one in found]),
        switches=sum(one.switches for one in found),
        others=_busiest([other for one in found for other in one.busiest_processes]),
    )


def _worst_detours(
    run: NoiseRun, guest: bool, causes: Mapping[tuple[int, int], Cause]
) -> tuple[WorstDetour, ...]:
    """Return the detours with details, longest first."""
    found = [
        WorstDetour(
            cpu.cpu,
            detour,
            causes.get((cpu.cpu, detour.start_ns)) or cause_of(detour, cpu, guest=guest),
        )
        for cpu in run.measured
        for detour in cpu.worst
    ]
    return tuple(sorted(found, key=lambda explained: -explained.detour.duration_ns))


def _causes(run: NoiseRun, detours: Sequence[WorstDetour]) -> tuple[CauseShare, ...]:
    total_ns = sum(took for cpu in run.measured for took in cpu.duration_ns)
    lost: dict[CauseKind, list[int]] = {}
    for one in detours:
        lost.setdefault(one.cause.kind, []).append(one.detour.duration_ns)
    found = (
        CauseShare(kind, len(took), sum(took), sum(took) / max(total_ns, sum(took), 1))
        for kind, took in lost.items()
    )
    return tuple(sorted(found, key=lambda one: -one.lost_ns))


def _added(parts: Sequence[Mapping[int, float]]) -> dict[int, float]:
    total: dict[int, float] = {}
    for part in parts:
        for cpu, seconds in part.items():
            total[cpu] = total.get(cpu, 0.0) + seconds
    return total


def _busiest(others: Sequence[ProcessUsage]) -> tuple[ProcessUsage, ...]:
    total: dict[int, ProcessUsage] = {}
    for other in others:
        before = total.get(other.pid)
        busy_s = other.busy_s + (before.busy_s if before else 0.0)
        total[other.pid] = ProcessUsage(other.pid, other.name, other.cpu, busy_s)
    return tuple(sorted(total.values(), key=lambda process: -process.busy_s)[:MAX_PROCESSES])
