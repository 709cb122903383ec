"""OS noise of a machine as a JSON document."""

from __future__ import annotations

from typing import Any

from assay.cli.documents.noise import (
    BusyProcess,
    CauseFigures,
    CpuFigures,
    DetourBin,
    LongDetour,
    MachineNoiseAnswer,
    MethodFigures,
    NoisePeriod,
)
from assay.noise.figures import (
    QUANTILES,
    DetourFigures,
    ExcessFigures,
    detour_figures_of,
    excess_figures,
)
from assay.noise.summary import NoiseSummary
from assay.records.noise import CpuNoise, NoiseRun


def noise_answer(found: NoiseSummary) -> MachineNoiseAnswer:
    """Return the answer for ``--json``; durations are in the unit that the key names."""
    return MachineNoiseAnswer(
        methods=tuple(map(_method, found.runs)),
        figures={figure.name: figure.value for figure in found.figures},
        histogram=tuple(
            DetourBin(lower_bound_us=one.low_ns / 1e3, count=one.count, lost_us=one.sum_ns / 1e3)
            for one in found.histogram
        ),
        worst=tuple(
            LongDetour(
                cpu=one.cpu,
                start_s=one.detour.start_ns / 1e9,
                duration_us=one.detour.duration_ns / 1e3,
                kind=one.cause.kind,
                likely_cause=one.cause.description,
            )
            for one in found.worst
        ),
        causes=tuple(
            CauseFigures(kind=one.kind, count=one.count, lost_us=one.lost_ns / 1e3, share=one.share)
            for one in found.causes
        ),
        periods=tuple(
            NoisePeriod(
                period_ms=one.period.period_s * 1e3,
                amplitude_ratio=one.period.relative_power,
                p_value=one.period.p_value,
                likely_cause=one.likely or None,
            )
            for one in found.periods
        ),
        steal_s={str(cpu): s for cpu, s in sorted((found.steal_s or {}).items())},
        context_switches=found.switches,
        other_processes=tuple(
            BusyProcess(pid=one.pid, name=one.name, cpu=one.cpu, busy_s=one.busy_s)
            for one in found.others
        ),
    )


def _method(run: NoiseRun) -> MethodFigures:
    return MethodFigures(
        method=run.method,
        quantum_us=run.quantum_ns / 1e3,
        threshold_us=run.threshold_ns / 1e3,
        stopped_early=run.stopped_early,
        cpus=tuple(_cpu(run, cpu) for cpu in run.cpus),
    )


def _cpu(run: NoiseRun, cpu: CpuNoise) -> CpuFigures:
    if cpu.error is not None:
        return CpuFigures(cpu=cpu.cpu, error=cpu.error)
    figures: dict[str, Any] = {}
    if cpu.measured_ns > 0:
        detours = detour_figures_of([cpu])
        figures |= {
            "noise_share": 100.0 * detours.share,
            "noise_rate": detours.rate_per_s,
            "detours": detours.count,
        }
        figures |= _us("detour", detours)
    excess = excess_figures([cpu.values]) if run.method == "fwq" else None
    if excess is not None:
        figures |= {"quanta": excess.count, "min_us": excess.least_ns / 1e3}
        figures |= _us("work", excess)
    return CpuFigures(
        cpu=cpu.cpu,
        measured_s=cpu.measured_ns / 1e9,
        dropped=cpu.dropped,
        interrupts=cpu.interrupts,
        **figures,
    )


def _us(prefix: str, figures: DetourFigures | ExcessFigures) -> dict[str, float]:
    values = zip(QUANTILES, figures.quantiles_ns, strict=True)
    return {f"{prefix}_{name}_us": v / 1e3 for name, v in values if v is not None}
