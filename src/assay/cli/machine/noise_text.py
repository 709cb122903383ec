"""OS noise of a machine as lines of a terminal, and as figures that ``--metric`` reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.machine.cpulist import format_list
from assay.noise.causes import CauseKind
from assay.noise.figures import (
    DetourFigures,
    ExcessFigures,
    HistogramBin,
    detour_figures_of,
    excess_figures,
)
from assay.noise.summary import NoiseSummary
from assay.records.noise import CpuNoise, NoiseRun
from assay.reporting.formatting import shorten
from assay.units import show_count, show_duration, significant
from assay.untrusted import clean

BAR = 36
NAMES = {
    "selfish": "detours",
    "fwq": "fixed work",
    "ftq": "fixed time",
    "osnoise": "tracer",
    "timerlat": "tracer",
}
OF_P99, OF_P999 = 100, 1000
"""Minimum numbers of values for these quantiles; of fewer values they equal the maximum."""
CAUSES = {
    CauseKind.THREAD: "another thread",
    CauseKind.STOPPED: "stopped, asleep or over its quota",
    CauseKind.MIGRATION: "moved to another CPU",
    CauseKind.STOLEN: "the hypervisor (stolen)",
    CauseKind.TICK: "the timer tick",
    CauseKind.INTERRUPT: "an interrupt",
    CauseKind.SOFTIRQ: "a softirq",
    CauseKind.BENEATH: "firmware, hardware, or the hypervisor",
    CauseKind.UNKNOWN: "not examined",
}


def figure_lines(answer: NoiseSummary) -> Iterator[str]:
    """Yield a line for each figure: name, value, unit."""
    for figure in answer.figures:
        yield f"{figure.name} {figure.value:.6g} {figure.unit}"


def noise_lines(answer: NoiseSummary, *, brief: bool = False) -> Iterator[str]:
    """Yield all results in 80 columns; ``brief`` yields only the tables and the causes."""
    yield _head(answer)
    for run in answer.runs:
        yield ""
        yield from _table(run, alone=brief)
    yield from _causes(answer)
    if brief:
        return
    if answer.histogram and answer.source is not None:
        yield ""
        yield f"  lengths of detours ({answer.source.method}), and their share of the lost time"
        yield from _histogram(answer.histogram)
    if answer.worst:
        yield ""
        yield "  longest detours, and their likely causes"
        for one in answer.worst:
            place = f"CPU {one.cpu}"
            yield (
                f"  {show_duration(one.detour.duration_ns / 1e9):>9}  {place:<7}  "
                f"at {one.detour.start_ns / 1e9:8.4f} s  "
                f"{shorten(clean(one.cause.description), 43)}"
            )
    yield from _rhythms(answer)
    yield from _beside(answer)


def _head(answer: NoiseSummary) -> str:
    cpus = sorted({cpu.cpu for run in answer.runs for cpu in run.measured})
    first = answer.runs[0].measured[0]
    early = any(run.stopped_early for run in answer.runs)
    places = f"{show_count(len(cpus), 'CPU')} ({format_list(cpus)})"
    length = show_duration(first.length_ns / 1e9)
    return f"noise on {places}, {length} for each method{', stopped early' if early else ''}"


def _causes(answer: NoiseSummary) -> Iterator[str]:
    if not answer.causes:
        return
    count = sum(one.count for one in answer.causes)
    share = sum(one.share for one in answer.causes)
    longest = "the longest detour takes" if count == 1 else f"the {count:,} longest detours take"
    yield ""
    yield f"  likely causes: {longest} {100 * share:.1f} % of the lost time"
    for one in answer.causes:
        part = f"{100 * one.share:.1f}" if one.share >= 0.0005 else "<0.1"
        yield f"  {part:>7} %  {CAUSES[one.kind]} ({one.count:,})"


def _table(run: NoiseRun, *, alone: bool = False) -> Iterator[str]:
    """Yield a row for each CPU and one for all; with ``alone`` only the latter."""
    if run.method == "fwq":
        yield from _work_table(run, alone=alone)
        return
    if run.method == "ftq":
        subject = f"intervals of {show_duration(run.quantum_ns / 1e9)}"
    elif run.method == "timerlat":
        subject = "delay of a thread after the expiry of its timer"
    else:
        above = f" above {show_duration(run.threshold_ns / 1e9)}" if run.threshold_ns else ""
        subject = f"gaps{above}"
    yield f"  {run.method} ({NAMES[run.method]}): {subject}"
    yield _row("CPU", ("lost time", "per s", "p50", "p99", "p99.9", "max"))
    for cpu in _separate_rows(run, alone=alone):
        yield _row(str(cpu.cpu), _detour_cells(detour_figures_of([cpu])))
    if len(run.measured) > 1:
        yield _row("all", _detour_cells(detour_figures_of(run.measured)))
    yield from _not_measured(run.cpus)


def _separate_rows(run: NoiseRun, *, alone: bool) -> Sequence[CpuNoise]:
    """Return the CPUs with a row of their own."""
    return () if alone and len(run.measured) > 1 else run.measured


def _work_table(run: NoiseRun, *, alone: bool) -> Iterator[str]:
    work = show_duration(run.quantum_ns / 1e9)
    yield f"  fwq (fixed work): excess time of {work} of work over the fastest quantum"
    yield _row("CPU", ("quanta", "fastest", "p50", "p99", "p99.9", "max"))
    for cpu in _separate_rows(run, alone=alone):
        found = excess_figures([cpu.values])
        if found is not None:
            yield _row(str(cpu.cpu), _excess_cells(found))
    everywhere = excess_figures([cpu.values for cpu in run.measured])
    if everywhere is not None and len(run.measured) > 1:
        yield _row("all", _excess_cells(everywhere))
    yield from _not_measured(run.cpus)


def _row(name: str, cells: Sequence[str]) -> str:
    return f"  {name:>4}" + "".join(f"{cell:>11}" for cell in cells)


def _detour_cells(found: DetourFigures) -> tuple[str, ...]:
    return (
        f"{significant(100 * found.share)} %",
        f"{found.rate_per_s:,.0f}",
        *_lengths(found),
    )


def _excess_cells(found: ExcessFigures) -> tuple[str, ...]:
    return (
        f"{found.count:,}",
        _length(found.least_ns),
        *_lengths(found),
    )


def _lengths(found: DetourFigures | ExcessFigures) -> Iterator[str]:
    """Yield the quantiles; a dash for a high quantile of few values."""
    yield _length(found.p50_ns)
    yield _length(found.p99_ns if found.count >= OF_P99 else None)
    yield _length(found.p999_ns if found.count >= OF_P999 else None)
    yield _length(found.max_ns)


def _length(value_ns: float | None) -> str:
    return "-" if value_ns is None else show_duration(value_ns / 1e9)


def _not_measured(cpus: Sequence[CpuNoise]) -> Iterator[str]:
    for cpu in cpus:
        if cpu.error is not None:
            yield f"  CPU {cpu.cpu} was not measured: {clean(cpu.error)}"
        elif cpu.dropped:
            yield f"  CPU {cpu.cpu}: the buffer had no room for {cpu.dropped:,} values and detours"


def _histogram(steps: Sequence[HistogramBin]) -> Iterator[str]:
    most = max(step.count for step in steps)
    total = sum(step.sum_ns for step in steps) or 1
    for step in steps:
        bar = "#" * max(round(BAR * step.count / most), 1 if step.count else 0)
        share = f"{100 * step.sum_ns / total:.1f} %" if step.count else ""
        yield (
            f"  {show_duration(step.low_ns / 1e9):>9}  {bar:<{BAR}} {step.count:>9,} {share:>8}"
        ).rstrip()


def _rhythms(answer: NoiseSummary) -> Iterator[str]:
    if not any(run.method == "ftq" for run in answer.runs):
        return
    yield ""
    if not answer.periods:
        yield "  no significant period (ftq)"
        return
    yield "  periods of the lost time (ftq): probability by chance (p), strength, and a"
    yield "  known source of this period"
    for one in answer.periods:
        likely = one.likely or "no known source"
        yield (
            f"  {show_duration(one.period.period_s):>9}  p = {one.period.p_value:.3f}  "
            f"{one.period.relative_power:>6,.0f}x  {shorten(likely, 46)}"
        )


def _beside(answer: NoiseSummary) -> Iterator[str]:
    steal = {cpu: s for cpu, s in (answer.steal_s or {}).items() if s > 0}
    if not steal and not answer.others:
        return
    yield ""
    if steal:
        total = sum(steal.values())
        yield f"  steal time reported by the hypervisor: {show_duration(total)}"
    if answer.others:
        yield "  other processes with the most CPU time"
        for one in answer.others:
            busy = show_duration(one.busy_s)
            yield f"  {busy:>9}  CPU {one.cpu:<3}  {clean(one.name)} ({one.pid})"
