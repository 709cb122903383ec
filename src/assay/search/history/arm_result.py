"""Result of one arm in a stage of a study."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec

from assay.records import Arm, ArmResult, Outcome, Sample, Stage, StudySpec, Summary
from assay.records.workload import BUILT_IN
from assay.search.history.history import History
from assay.search.history.modes import modes_of
from assay.search.history.packed_samples import Figures, figures_of, select, succeeded, where
from assay.stats.summary import summarise

FEW_ARMS = 16
"""Number of arms whose launches are selected, without an object for each."""
LaunchesByArm = Mapping[str, Sequence[Sample]]
"""Launches of each arm of a stage, by its name."""


def launches_by_arm(history: History, stage: Stage, arms: Sequence[Arm]) -> LaunchesByArm:
    """Return the launches of arms in a stage.

    Those of many arms are grouped in one pass: read by arm, each would lie in other chunks.

    Args:
        history: history of the study.
        stage: stage of the launches.
        arms: arms of the result.
    """
    if len(arms) <= FEW_ARMS:
        return {arm.name: history.launches_in(stage, arm.name) for arm in arms}
    found: dict[str, list[Sample]] = {arm.name: [] for arm in arms}
    for sample in history.samples:
        if sample.launch.stage is stage and sample.launch.arm in found:
            found[sample.launch.arm].append(sample)
    return found


def results_of(
    spec: StudySpec,
    history: History,
    stage: Stage,
    arms: Sequence[Arm],
    launches: LaunchesByArm,
) -> tuple[ArmResult, ...]:
    """Summarise every metric of many arms over a stage.

    Args:
        spec: specification of the study.
        history: history of the study.
        stage: stage of the launches.
        arms: arms to summarise.
        launches: launches of these arms in the stage.
    """
    return tuple(_result(spec, history, stage, arm, launches[arm.name]) for arm in arms)


def result_of(spec: StudySpec, history: History, stage: Stage, arm: Arm) -> ArmResult:
    """Summarise every metric of an arm over a stage.

    Disturbed blocks of the confirmation are excluded unless they are more than a third of it.
    """
    return _result(spec, history, stage, arm, history.launches_in(stage, arm.name))


def _result(
    spec: StudySpec, history: History, stage: Stage, arm: Arm, launches: Sequence[Sample]
) -> ArmResult:
    ended, disturbed = counted_launches(history, stage, launches)
    if disturbed:  # count only launches with a value
        objective = spec.workload.objective.name
        figures = (s for s in figures_of(ended) if objective in s.metrics)
        disturbed = sum(history.is_disturbed(stage, s.launch.block) for s in figures)
    summary: dict[str, Summary] = {}
    for name, values in _values(ended).items():
        floor = 0.0 if name in BUILT_IN else None  # times and sizes are not negative
        summary[name] = summarise(values, alpha=spec.alpha, floor=floor)
        if spec.in_process:
            summary[name] = _between_processes(summary[name], ended, name, spec.alpha, floor)
    return ArmResult(
        name=arm.name,
        configuration=arm.configuration,
        summary=summary,
        failures=len(select(launches, lambda s: s.outcome in (Outcome.FAILED, Outcome.LIMIT))),
        timeouts=len(select(launches, lambda s: s.outcome is Outcome.TIMED_OUT)),
        disturbed_launches=disturbed,
        # Groups of trials may be those of their processes.
        modes=None if spec.in_process else modes_of(spec.workload.objective.name, ended),
    )


def _values(samples: Sequence[Sample]) -> dict[str, list[float]]:
    """Return the values of each metric, in the order of the launches."""
    found: dict[str, list[float]] = {}
    for sample in figures_of(samples):
        for name, value in sample.metrics.items():
            values = found.setdefault(name, [])
            if _has_value(sample, name):
                values.append(value)
    return {name: values for name, values in found.items() if values}


def _has_value(sample: Figures, name: str) -> bool:
    """Return whether a sample has a value of a metric, and not only a bound.

    A launch that ended during its warm-up has bounds of the metrics that the program reports.
    """
    is_bound = name not in BUILT_IN and any(part.bound for part in sample.steady.values())
    return name in sample.metrics and not is_bound


def _between_processes(
    summary: Summary, samples: Sequence[Sample], name: str, alpha: float, floor: float | None
) -> Summary:
    """Return a summary of trials whose interval rests on the means of their processes."""
    by_process: dict[int | None, list[float]] = {}
    for sample in figures_of(samples):
        if name in sample.metrics:
            by_process.setdefault(sample.launch.process, []).append(sample.metrics[name])
    means = [math.fsum(values) / len(values) for values in by_process.values()]
    between = summarise(means, alpha=alpha, floor=floor)
    return msgspec.structs.replace(summary, sem=between.sem, ci=between.ci)


def counted_launches(
    history: History, stage: Stage, launches: Sequence[Sample]
) -> tuple[Sequence[Sample], int]:
    """Return the launches behind the figures of an arm, and the number of disturbed ones.

    Args:
        history: history of all stages.
        stage: stage of the launches.
        launches: launches of the arm in this stage.
    """
    ended = succeeded(launches)
    if stage is not Stage.CONFIRM or not history.has_disturbed(stage):
        return ended, 0
    quiet = where(ended, lambda s: not history.is_disturbed(stage, s.launch.block))
    if history.mostly_disturbed(stage):
        return ended, len(ended) - len(quiet)
    return quiet, 0
