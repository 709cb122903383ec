"""What ``assay-noise`` tells: time that was taken away from threads, each kept on one CPU."""

from __future__ import annotations

from assay.records.codec import Record


class ExplainedDetour(Record, frozen=True, kw_only=True):
    """One of the longest detours, with what the kernel counted meanwhile.

    Attributes:
        at_ns: when it began, from the beginning of the measurement.
        took_ns: how long the thread got nothing done.
        since_ns: from the look before it to that behind it, of which the next three are parts.
        ran_ns: the thread was on a CPU by the scheduler's account; interrupts count as its time.
        waited_ns: it was ready to run, and others had its CPU.
        switches: how often another thread came on its CPU.
        cpu: where it was afterwards.
        window_ns: interrupts were counted in so long a time, with the detour at its end; 0 where
            they were not looked at.
        interrupts: by how much each source has grown, those that have not left out.
    """

    at_ns: int
    took_ns: int
    since_ns: int = 0
    ran_ns: int = 0
    waited_ns: int = 0
    switches: int = 0
    cpu: int = -1
    window_ns: int = 0
    interrupts: dict[str, int] = {}


class CpuNoise(Record, frozen=True, kw_only=True):
    """What one CPU showed.

    Attributes:
        cpu: its number.
        error: why nothing was measured; ``None`` where all went well.
        length_ns: of the measurement.
        looked_ns: of that spent on finding out what detours were, which is in none of them.
        steps: of work in a quantum.
        least_ns: what a piece of work takes where nothing disturbs it.
        values: nanoseconds of each portion of work (``fwq``), steps in each interval (``ftq``).
        at_ns, took_ns: of every detour, in order of time.
        left_out: values and detours for which there was no room.
        interrupts: all that interrupted the CPU in the whole time, by source.
        worst: the longest detours, longest first.
    """

    cpu: int
    error: str | None = None
    length_ns: int = 0
    looked_ns: int = 0
    steps: int = 0
    least_ns: int = 0
    values: tuple[int, ...] = ()
    at_ns: tuple[int, ...] = ()
    took_ns: tuple[int, ...] = ()
    left_out: int = 0
    interrupts: dict[str, int] = {}
    worst: tuple[ExplainedDetour, ...] = ()

    @property
    def measured_ns(self) -> int:
        """Time in which a detour would have been seen."""
        return max(0, self.length_ns - self.looked_ns)


class NoiseRun(Record, frozen=True, kw_only=True):
    """One run of a method on some CPUs at once.

    Attributes:
        method: ``fwq`` (fixed work), ``ftq`` (fixed time), ``selfish`` (detours), ``osnoise`` or
            ``timerlat`` (the kernel's tracers).
        quantum_ns: of work or of time.
        threshold_ns: what takes longer than this beyond the rule is a detour.
        locked: whether no page could be taken away meanwhile.
        stopped_early: whether it was told to stop.
        cpus: one entry for each CPU.
    """

    method: str
    engine: str = ""
    quantum_ns: int = 0
    threshold_ns: int = 0
    locked: bool = False
    stopped_early: bool = False
    cpus: tuple[CpuNoise, ...] = ()

    @property
    def measured(self) -> tuple[CpuNoise, ...]:
        """The CPUs on which something was measured."""
        return tuple(one for one in self.cpus if one.error is None and one.measured_ns > 0)
