"""Noise records: the report of ``assay-noise`` on detours, with each thread bound to one CPU."""

from __future__ import annotations

from assay.records.codec import Record


class ExplainedDetour(Record, frozen=True, kw_only=True):
    """One of the longest detours, with the kernel's counters for its duration.

    Attributes:
        start_ns: start, counted from the start of the measurement.
        duration_ns: length of the detour.
        counter_window_ns: time between the counter readings before and after it; the next three are
            parts of it.
        on_cpu_ns: time on a CPU according to the scheduler, interrupts included.
        run_queue_wait_ns: time in the run queue.
        switches: number of switches to another thread on its CPU.
        cpu: CPU after the detour.
        interrupt_window_ns: window of the interrupt counts, which ends with the detour; 0 without
            counts.
        interrupts: increase of each interrupt counter that grew, by source.
    """

    start_ns: int
    duration_ns: int
    counter_window_ns: int = 0
    on_cpu_ns: int = 0
    run_queue_wait_ns: int = 0
    switches: int = 0
    cpu: int = -1
    interrupt_window_ns: int = 0
    interrupts: dict[str, int] = {}


class CpuNoise(Record, frozen=True, kw_only=True):
    """Result of one CPU.

    Attributes:
        cpu: number of the CPU.
        error: reason why nothing was measured; ``None`` on success.
        length_ns: length of the measurement.
        analysis_ns: time for identifying the causes of detours, which no detour includes.
        steps: work steps in a quantum.
        min_ns: undisturbed time of a work quantum.
        values: nanoseconds of each work quantum (``fwq``), or steps in each interval (``ftq``).
        start_ns, duration_ns: start and length of every detour, in order of time.
        dropped: number of values and detours beyond the buffer.
        interrupts: all interrupts of the CPU during the measurement, by source.
        worst: the longest detours, longest first.
    """

    cpu: int
    error: str | None = None
    length_ns: int = 0
    analysis_ns: int = 0
    steps: int = 0
    min_ns: int = 0
    values: tuple[int, ...] = ()
    start_ns: tuple[int, ...] = ()
    duration_ns: tuple[int, ...] = ()
    dropped: int = 0
    interrupts: dict[str, int] = {}
    worst: tuple[ExplainedDetour, ...] = ()

    @property
    def measured_ns(self) -> int:
        """Return the time in which detours were detected, in nanoseconds."""
        return max(0, self.length_ns - self.analysis_ns)


class NoiseRun(Record, frozen=True, kw_only=True):
    """One run of a method on several CPUs at the same time.

    Attributes:
        method: ``fwq`` (fixed work), ``ftq`` (fixed time), ``selfish`` (detours), ``osnoise`` or
            ``timerlat`` (tracers of the kernel).
        quantum_ns: work or time quantum.
        threshold_ns: minimum time beyond the undisturbed time for a detour.
        locked: the memory was locked.
        stopped_early: the measurement was stopped before its end.
        cpus: one entry for each CPU.
    """

    method: str
    version: str = ""
    quantum_ns: int = 0
    threshold_ns: int = 0
    locked: bool = False
    stopped_early: bool = False
    cpus: tuple[CpuNoise, ...] = ()

    @property
    def measured(self) -> tuple[CpuNoise, ...]:
        """Return the CPUs with a measurement."""
        return tuple(cpu for cpu in self.cpus if cpu.error is None and cpu.measured_ns > 0)
