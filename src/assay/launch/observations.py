"""Observing: the observations that are on in a launch.

Measuring must not change the result: a launch that counts goes without every observation that was
not asked for and that no figure of the study needs.
"""

from __future__ import annotations

from collections.abc import Iterable

from assay.records import Launch, Stage, Workload
from assay.records.observation import USUAL, Observation
from assay.records.workload import COUNTED

ANON_PEAK = "peak_anon_bytes"
"""The metric that takes samples of memory."""
IN_THE_COMMAND = ("arg.", "build.", "command")
"""Beginnings of the names of settings that are part of a command line: a program that was started
had them, so that nothing of it has to be read back."""


def optional_observations(
    launch: Launch, asked: Iterable[Observation] | None = None
) -> frozenset[Observation]:
    """Return the observations of a launch that nothing in the study depends on.

    Args:
        launch: a survey has the usual ones and the read-back as well, for its time is never used.
        asked: observations that were asked for; the usual ones if absent.
    """
    on = frozenset(USUAL if asked is None else asked)
    return on.union(USUAL, {Observation.READBACK}) if launch.stage is Stage.SURVEY else on


def active_observations(
    launch: Launch,
    workload: Workload,
    varied: Iterable[str],
    asked: Iterable[Observation] | None = None,
) -> tuple[Observation, ...]:
    """Return the observations that are on in a launch, in the order of their definition.

    Args:
        launch, asked: as ``optional_observations`` has them.
        workload, varied: as ``required_observations`` has them.
    """
    on = optional_observations(launch, asked) | required_observations(workload, varied)
    return tuple(one for one in Observation if one in on)


def required_observations(workload: Workload, varied: Iterable[str]) -> frozenset[Observation]:
    """Return the observations that metrics and varied settings cannot do without."""
    figures = {metric.name for metric in workload.metrics if metric.pattern is None}
    found = {Observation.MEMORY} if ANON_PEAK in figures else set()
    if counted_events(workload):
        found.add(Observation.COUNTERS)
    if any(not name.startswith(IN_THE_COMMAND) for name in varied):
        found.add(Observation.READBACK)
    return frozenset(found)


def has_memory_objective(workload: Workload) -> bool:
    """Return whether the objective of a workload is the sampled memory of its processes."""
    return workload.objective.name == ANON_PEAK and workload.objective.pattern is None


def counted_events(workload: Workload) -> list[str]:
    """Return the names of the perf events that the metrics of a workload are."""
    return [m.name for m in workload.metrics if m.pattern is None and m.name in COUNTED]
