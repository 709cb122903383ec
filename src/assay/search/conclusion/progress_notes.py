"""Notes on values that programs report while they run, and on launches that assay ended."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence

from assay.records import (
    ArmResult,
    DerivationKind,
    Metric,
    Outcome,
    Sample,
    Stage,
    SteadyPart,
    StudySpec,
)
from assay.records.sample import PROGRESS_PREFIX
from assay.records.workload import BUILT_IN
from assay.search.conclusion.constant_speed import contradicted_speeds
from assay.search.history.block_values import RevisedBlocks
from assay.search.progress.end_rules import SEARCH_STAGES
from assay.search.progress.steady_launches import SteadyLaunches
from assay.wording import progress as wording
from assay.wording.noise_floor import day
from assay.wording.unread_reports import BUFFERED

MIN_STEP_EFFECT = 0.005
"""Smallest effect on the time of a step for a note on its dilution, as a share."""
MAX_DILUTION = 0.9
"""Largest share of that effect in the objective for this note."""


def progress_notes(
    spec: StudySpec, samples: Sequence[Sample], arms: Sequence[ArmResult]
) -> list[str]:
    """Return notes on the reported values of a study, each once.

    Args:
        spec: specification of the study.
        samples: samples of one stratum, in the order of the launches.
        arms: summaries of the shown arms, the baseline first.
    """
    if not spec.workload.reports_progress:
        return []
    notes = list(_findings(samples))
    metric = spec.workload.steady_metric
    if metric is not None:
        timed = [s for s in samples if s.launch.stage is not Stage.SURVEY and s.outcome.succeeded]
        notes += _steady_notes(metric, timed, arms)
        notes += _ended_early_notes(metric, timed)
        notes += _length_notes(spec, metric, samples)
        notes += _steps_notes(spec, metric, timed)
    return [*notes, *_until_notes(spec, samples), *_dilution_notes(spec, samples, arms)]


def _findings(samples: Sequence[Sample]) -> Iterator[str]:
    """Yield a note for each kind of finding and metric, with the first text."""
    texts: dict[str, str] = {}
    launches: dict[str, int] = {}
    for sample in samples:
        kinds = {e.kind: e.note for e in sample.evidence if e.kind.startswith(PROGRESS_PREFIX)}
        for kind, note in kinds.items():
            texts.setdefault(kind, note or "")
            launches[kind] = launches.get(kind, 0) + 1
    for kind, text in texts.items():
        if text:
            yield wording.reported_finding(text, launches[kind], len(samples))


def _steady_notes(
    metric: Metric, samples: Sequence[Sample], arms: Sequence[ArmResult]
) -> Iterator[str]:
    steady = SteadyLaunches(metric, samples)
    few = {arm.name: n for arm in arms if (n := _too_few_reports(steady, arm.name)) is not None}
    unsettled = [a.name for a in arms if a.name not in few and _is_unsettled(steady, a.name)]
    if any(e.kind == BUFFERED for sample in samples for e in sample.evidence):
        return  # the times of the reports mean nothing
    if few:
        needed = steady.min_telling_reports
        yield wording.too_few_reports(metric.name, list(few), max(few.values()), needed)
    if unsettled:
        yield wording.never_steady(metric.name, unsettled)
    parts = [s.steady[metric.name] for s in samples if metric.name in s.steady]
    partial = [part for part in parts if not part.whole_periods and not part.ended_early]
    period = _period(partial)
    if period is not None:
        yield wording.partial_periods(metric.name, len(partial), len(parts), period)
    if any(part.cumulative for part in parts):
        yield wording.running_mean(metric.name)
    disagreeing = sum(part.times_disagree for part in parts)
    if disagreeing:
        yield wording.times_disagree(metric.name, disagreeing, len(parts))
    yield from contradicted_speeds(metric, samples)


def _too_few_reports(steady: SteadyLaunches, arm: str) -> int | None:
    """Return the reports of a launch of an arm if they are too few to tell; ``None`` otherwise."""
    curves = steady.curves(arm)
    if not curves:
        return None
    found = steady.warm_up([arm])
    reports = max(map(len, curves))
    enough = reports >= steady.min_telling_reports or (found is not None and found.settled)
    return None if enough else reports


def _is_unsettled(steady: SteadyLaunches, arm: str) -> bool:
    """Return whether the pooled values of an arm change until the end of its launches."""
    if not steady.samples(arm):
        return False
    found = steady.warm_up([arm])
    return found is not None and not found.settled


def _period(parts: Sequence[SteadyPart]) -> float | None:
    known = [part.period_steps for part in parts if part.period_steps]
    return statistics.median(known) if known else None


def _ended_early_notes(metric: Metric, samples: Sequence[Sample]) -> list[str]:
    searched = [s for s in samples if s.launch.stage in SEARCH_STAGES and metric.name in s.steady]
    ended = sum(s.steady[metric.name].ended_early for s in searched)
    return [wording.ended_early(ended, len(searched))] if ended else []


def _length_notes(spec: StudySpec, metric: Metric, samples: Sequence[Sample]) -> Iterator[str]:
    """Yield notes on the lengths of launches that assay chose, and on their warm-up."""
    stored = spec.launch_spread
    if stored is not None:
        yield wording.calibrated_spread(stored.sd, stored.study, day(stored.started_at))
    rules = [s.launch.end for s in samples if s.launch.end is not None]
    grown = [rule.steady_steps for rule in rules if rule.lengthened and rule.steady_steps]
    usual = [rule.steady_steps for rule in rules if not rule.lengthened and rule.steady_steps]
    if grown:
        yield wording.lengthened(metric.name, min(usual or grown), max(grown))
    blocks = RevisedBlocks.of(spec)
    if blocks is None:
        return
    for sample in samples:
        blocks.add(sample)
    if blocks.warmup_steps is not None and blocks.revised:
        yield wording.revised_blocks(metric.name, blocks.revised, blocks.warmup_steps)


def _steps_notes(spec: StudySpec, metric: Metric, samples: Sequence[Sample]) -> list[str]:
    """Return a note on launches that ended by themselves before the requested steady steps."""
    wanted = None if spec.until is None else spec.until.steady_steps
    own = [s for s in samples if s.outcome is Outcome.OK and metric.name in s.series]
    if wanted is None or not own:
        return []
    last = max(sample.series[metric.name].steps[-1] for sample in own)
    return [wording.steps_not_reached(wanted, len(own), len(samples), last)]


def _until_notes(spec: StudySpec, samples: Sequence[Sample]) -> list[str]:
    ended = sum(s.outcome is Outcome.ENOUGH for s in samples)
    if spec.until is None or not ended:
        return []
    workload = spec.workload
    partial = [name for name in workload.requested_metrics if name in BUILT_IN]
    checked = workload.check is not None
    return [wording.ended_by_until(ended, len(samples), checked=checked, partial=partial)]


def _dilution_notes(
    spec: StudySpec, samples: Sequence[Sample], arms: Sequence[ArmResult]
) -> Iterator[str]:
    """Yield a note for each arm whose effect on the steps is larger than on the objective."""
    objective = spec.workload.objective
    step = _step_metric(spec)
    parts = (s.steady.get(objective.name) for s in samples)
    periodic = any(part is not None and part.period_steps for part in parts)
    if step is None or objective.progress is None or not periodic or not arms:
        return
    for arm in arms[1:]:
        step_ratio = _ratio(arms[0], arm, step)
        value_ratio = _ratio(arms[0], arm, objective)
        if step_ratio is None or value_ratio is None:
            continue
        effect, seen = abs(math.log(step_ratio)), abs(math.log(value_ratio))
        if effect >= math.log1p(MIN_STEP_EFFECT) and seen < MAX_DILUTION * effect:
            yield wording.diluted_effect(arm.name, objective.name, step_ratio, value_ratio)


def _step_metric(spec: StudySpec) -> Metric | None:
    for metric in spec.workload.metrics:
        if metric.derivation is not None and metric.derivation.kind is DerivationKind.STEP:
            return metric
    return None


def _ratio(base: ArmResult, arm: ArmResult, metric: Metric) -> float | None:
    """Return the ratio of the medians of two arms; ``None`` without positive ones."""
    first, second = base.summary.get(metric.name), arm.summary.get(metric.name)
    if first is None or second is None or first.median <= 0 or second.median <= 0:
        return None
    return second.median / first.median
