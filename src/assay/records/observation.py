"""Observation: a reading that assay takes of a program beside its time."""

from __future__ import annotations

import enum


class Observation(enum.StrEnum):
    """A reading that only observes, and that a launch may go without.

    Containment, limits and the read-back of varied settings are none: they keep a promise, and stay
    on in every launch.
    """

    COUNTERS = "counters"
    """Hardware counters by perf events, over the whole process tree."""
    MEMORY = "memory"
    """Samples of the anonymous memory of the tree (``peak_anon_bytes``)."""
    SCHEDULING = "scheduling"
    """Samples of the time that threads waited for a CPU, and of their migrations."""
    READBACK = "readback"
    """Environment, mapped files, threads and masks of the program, where no setting needs them."""


DEFAULT_OBSERVATIONS = (Observation.MEMORY, Observation.SCHEDULING)
"""Observations of the launches that count, unless others were asked for: those whose cost stays
below 0.5 % of a program (docs/benchmarks/overhead.md)."""
ALL_OBSERVATIONS = tuple(Observation)
"""All observations, as the survey of ``tune`` takes them, whose time is never used."""
CYCLES_COUNTER = "counters.cycles"
"""Where a launch tells why a machine without hardware counters has none (``absent``)."""
