"""Observations that are active in a launch.

Measuring must not change the result. A measured launch therefore has only those observations that
the user requested or that a metric of the study needs.
"""

from __future__ import annotations

from collections.abc import Iterable

from assay.records import Launch, Stage, Workload
from assay.records.observation import DEFAULT_OBSERVATIONS, Observation
from assay.records.workload import PERF_METRICS

ANON_PEAK = "peak_anon_bytes"
"""Metric that requires memory samples."""
IN_THE_COMMAND = ("arg.", "build.", "command")
"""Prefixes of settings that are part of a command line. A program that was started received them,
so that they need no read-back."""


def optional_observations(
    launch: Launch, requested: Iterable[Observation] | None = None
) -> frozenset[Observation]:
    """Return the observations of a launch that no metric or setting depends on.

    Args:
        launch: a survey adds the default observations and the read-back, since its time is never
            used.
        requested: requested observations; the default ones if absent.
    """
    on = frozenset(DEFAULT_OBSERVATIONS if requested is None else requested)
    return (
        on.union(DEFAULT_OBSERVATIONS, {Observation.READBACK})
        if launch.stage is Stage.SURVEY
        else on
    )


def active_observations(
    launch: Launch,
    workload: Workload,
    varied: Iterable[str],
    requested: Iterable[Observation] | None = None,
) -> tuple[Observation, ...]:
    """Return the observations that are active in a launch, in definition order.

    Args:
        launch, requested: see ``optional_observations``.
        workload, varied: see ``required_observations``.
    """
    on = optional_observations(launch, requested) | required_observations(workload, varied)
    return tuple(observation for observation in Observation if observation in on)


def required_observations(workload: Workload, varied: Iterable[str]) -> frozenset[Observation]:
    """Return the observations that metrics and varied settings require."""
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
    """Return the perf events that are metrics of a workload."""
    return [m.name for m in workload.metrics if m.pattern is None and m.name in PERF_METRICS]
