"""OS noise of a machine as a JSON document."""

from __future__ import annotations

from typing import Any

from assay.noise.figures import (
    QUANTILES,
    DetourFigures,
    ExcessFigures,
    detour_figures_of,
    excess_figures,
)
from assay.noise.summary import NoiseSummary
from assay.records.noise import CpuNoise, NoiseRun


def noise_document(answer: NoiseSummary) -> dict[str, Any]:
    """Return the document of ``--json``; durations are in the unit that the key names."""
    return {
        "methods": [_method(run) for run in answer.runs],
        "figures": {figure.name: figure.value for figure in answer.figures},
        "histogram": [
            {"lower_bound_us": step.low_ns / 1e3, "count": step.count, "lost_us": step.sum_ns / 1e3}
            for step in answer.histogram
        ],
        "worst": [
            {
                "cpu": one.cpu,
                "start_s": one.detour.start_ns / 1e9,
                "duration_us": one.detour.duration_ns / 1e3,
                "kind": str(one.cause.kind),
                "likely_cause": one.cause.words,
            }
            for one in answer.worst
        ],
        "causes": [
            {
                "kind": str(one.kind),
                "count": one.count,
                "lost_us": one.lost_ns / 1e3,
                "share": one.share,
            }
            for one in answer.causes
        ],
        "periods": [
            {
                "period_ms": one.period.period_s * 1e3,
                "amplitude_ratio": one.period.times,
                "p_value": one.period.p_value,
                **({"likely_cause": one.likely} if one.likely else {}),
            }
            for one in answer.rhythms
        ],
        "steal_s": {str(cpu): s for cpu, s in sorted((answer.steal_s or {}).items())},
        "context_switches": answer.switches,
        "other_processes": [
            {"pid": one.pid, "name": one.name, "cpu": one.cpu, "busy_s": one.busy_s}
            for one in answer.others
        ],
    }


def _method(run: NoiseRun) -> dict[str, Any]:
    return {
        "method": run.method,
        "quantum_us": run.quantum_ns / 1e3,
        "threshold_us": run.threshold_ns / 1e3,
        "stopped_early": run.stopped_early,
        "cpus": [_cpu(run, cpu) for cpu in run.cpus],
    }


def _cpu(run: NoiseRun, cpu: CpuNoise) -> dict[str, Any]:
    if cpu.error is not None:
        return {"cpu": cpu.cpu, "error": cpu.error}
    found: dict[str, Any] = {
        "cpu": cpu.cpu,
        "measured_s": cpu.measured_ns / 1e9,
        "dropped": cpu.dropped,
        "interrupts": cpu.interrupts,
    }
    if cpu.measured_ns > 0:
        detours = detour_figures_of([cpu])
        found |= {
            "noise_share": 100.0 * detours.share,
            "noise_rate": detours.rate_per_s,
            "detours": detours.count,
        }
        found |= _us("detour", detours)
    excess = excess_figures([cpu.values]) if run.method == "fwq" else None
    if excess is not None:
        found |= {"quanta": excess.count, "min_us": excess.least_ns / 1e3}
        found |= _us("work", excess)
    return found


def _us(prefix: str, figures: DetourFigures | ExcessFigures) -> dict[str, float]:
    values = zip(QUANTILES, figures.quantiles_ns, strict=True)
    return {f"{prefix}_{name}_us": v / 1e3 for name, v in values if v is not None}
