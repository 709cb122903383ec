"""Observation: an optional measurement of a program in addition to its time."""

from __future__ import annotations

import enum


class Observation(enum.StrEnum):
    """Optional measurement of a launch.

    Containment, limits and the read-back of varied settings are not optional: they are active in
    every launch.
    """

    COUNTERS = "counters"
    """Perf events over the whole process tree."""
    MEMORY = "memory"
    """Samples of the anonymous memory of the process tree (``peak_anon_bytes``)."""
    SCHEDULING = "scheduling"
    """Samples of run queue wait time and migrations."""
    READBACK = "readback"
    """Environment, mapped files, threads and masks of the program beyond those that settings
    need."""


DEFAULT_OBSERVATIONS = (Observation.MEMORY, Observation.SCHEDULING)
"""Default observations of measured launches: those that cost less than 0.5 % of the run time
(docs/benchmarks/overhead.md)."""
ALL_OBSERVATIONS = tuple(Observation)
"""All observations, for the survey of ``tune``, whose time is never used."""
CYCLES_COUNTER = "counters.cycles"
"""Key in ``absent`` with the reason why a machine has no hardware counters."""
