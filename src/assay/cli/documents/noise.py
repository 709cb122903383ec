"""Types of the document of ``assay machine noise``."""

from __future__ import annotations

from assay.noise.causes import CauseKind
from assay.records.codec import SCHEMA, Record


class CpuFigures(Record, frozen=True, kw_only=True):
    """Results of one method on one CPU.

    Attributes:
        cpu: number of the CPU.
        error: reason why nothing was measured; the other keys are absent then.
        measured_s: time in which detours were detected, in seconds.
        dropped: number of values and detours beyond the buffer.
        interrupts: number of interrupts during the measurement, by source.
        noise_share: share of the time that was lost in detours, in per cent.
        noise_rate: number of detours per second.
        detours: number of detours.
        detour_p50_us: median of the lengths of detours, in microseconds.
        detour_p99_us: 99th percentile of the lengths of detours, in microseconds.
        detour_p999_us: 99.9th percentile of the lengths of detours, in microseconds.
        detour_max_us: length of the longest detour, in microseconds.
        quanta: number of quanta of fixed work (``fwq`` only).
        min_us: time of the fastest quantum, in microseconds (``fwq`` only).
        work_p50_us: median of the excess time of a quantum over the fastest one, in microseconds
            (``fwq`` only).
        work_p99_us: 99th percentile of this excess time, in microseconds (``fwq`` only).
        work_p999_us: 99.9th percentile of this excess time, in microseconds (``fwq`` only).
        work_max_us: maximum of this excess time, in microseconds (``fwq`` only).
    """

    cpu: int
    error: str | None = None
    measured_s: float | None = None
    dropped: int | None = None
    interrupts: dict[str, int] | None = None
    noise_share: float | None = None
    noise_rate: float | None = None
    detours: int | None = None
    detour_p50_us: float | None = None
    detour_p99_us: float | None = None
    detour_p999_us: float | None = None
    detour_max_us: float | None = None
    quanta: int | None = None
    min_us: float | None = None
    work_p50_us: float | None = None
    work_p99_us: float | None = None
    work_p999_us: float | None = None
    work_max_us: float | None = None


class MethodFigures(Record, frozen=True, kw_only=True):
    """Results of one method.

    Attributes:
        method: name of the method: ``selfish``, ``fwq`` or ``ftq``, or a tracer: ``osnoise`` or
            ``timerlat``.
        quantum_us: quantum of work or time, in microseconds.
        threshold_us: excess time above which an interval counts as a detour, in microseconds.
        stopped_early: true if the measurement was stopped before its end.
        cpus: one entry for each CPU.
    """

    method: str
    quantum_us: float
    threshold_us: float
    stopped_early: bool
    cpus: tuple[CpuFigures, ...]


class DetourBin(Record, frozen=True, kw_only=True):
    """Detours with a length from a bound to below twice that.

    Attributes:
        lower_bound_us: lower bound of the length, in microseconds.
        count: number of detours.
        lost_us: sum of their lengths, in microseconds.
    """

    lower_bound_us: float
    count: int
    lost_us: float


class LongDetour(Record, frozen=True, kw_only=True):
    """One of the longest detours.

    Attributes:
        cpu: number of the CPU.
        start_s: start, in seconds from the start of the measurement.
        duration_us: length, in microseconds.
        kind: kind of the likely cause.
        likely_cause: likely cause, in words.
    """

    cpu: int
    start_s: float
    duration_us: float
    kind: CauseKind
    likely_cause: str


class CauseFigures(Record, frozen=True, kw_only=True):
    """Time lost by one kind of cause, among the detours with known causes.

    Attributes:
        kind: kind of cause.
        count: number of detours.
        lost_us: sum of their lengths, in microseconds.
        share: share of all lost time, from 0 to 1.
    """

    kind: CauseKind
    count: int
    lost_us: float
    share: float


class NoisePeriod(Record, frozen=True, kw_only=True):
    """Period of repeated detours.

    Attributes:
        period_ms: length of the period, in milliseconds.
        amplitude_ratio: power of its line in the spectrum, relative to the median of the spectrum.
        p_value: probability of a line of this power by chance.
        likely_cause: known activity with this period.
    """

    period_ms: float
    amplitude_ratio: float
    p_value: float
    likely_cause: str | None = None


class BusyProcess(Record, frozen=True, kw_only=True):
    """Another process that used CPU time during the measurement.

    Attributes:
        pid: process id.
        name: name of the process.
        cpu: last CPU of the process.
        busy_s: CPU time during the measurement, in seconds.
    """

    pid: int
    name: str
    cpu: int
    busy_s: float


class MachineNoiseAnswer(Record, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Answer of ``assay machine noise``.

    Attributes:
        methods: results of each method.
        figures: figures of all CPUs, by name.
        histogram: number of detours by length, in powers of two.
        worst: longest detours, the longest first.
        causes: time lost by each kind of cause, the largest first.
        periods: periods of repeated detours, the strongest first.
        steal_s: steal time by CPU, in seconds.
        context_switches: number of context switches of the whole host during the measurement.
        other_processes: other processes with the most CPU time, the busiest first.
    """

    methods: tuple[MethodFigures, ...]
    figures: dict[str, float]
    histogram: tuple[DetourBin, ...]
    worst: tuple[LongDetour, ...]
    causes: tuple[CauseFigures, ...]
    periods: tuple[NoisePeriod, ...]
    steal_s: dict[str, float]
    context_switches: int
    other_processes: tuple[BusyProcess, ...]
