"""Values of a finished launch from its reports: series, steady parts, metrics and notices."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec import structs

from assay.executors.metrics.instances import combined_value
from assay.executors.progress.derived_values import derived_value
from assay.executors.progress.live import LiveReports
from assay.executors.progress.recorder import SeriesRecorder
from assay.records import (
    DerivationKind,
    EndRule,
    Evidence,
    Metric,
    RateForm,
    Series,
    SteadyPart,
    Workload,
)

if TYPE_CHECKING:
    from assay.stats.progress.end import EndReason
    from assay.stats.progress.value import LaunchValue
    from assay.stats.progress.warm_up import WarmUp

NO_REPORTS = "the program reported no value"
FEWER_INSTANCES = "{reporting} of {instances} instances reported a value"
TOO_FEW_REPORTS = "the program reported too few values: {count}, of at least {needed}"
MIN_REPORTS = 3
"""Smallest number of reports of a steady part."""


@dataclass
class ReportedValues:
    """Values that a launch reported.

    Attributes:
        series: thinned series of each metric.
        steady: steady part of each metric.
        values: value of each metric over its steady part.
        step_s: mean time of a step without periodic dips by each metric, in seconds.
        absent: reason for each missing value.
        units: printed unit of each metric.
        evidence: notices on the reports.
    """

    series: dict[str, Series] = field(default_factory=dict)
    steady: dict[str, SteadyPart] = field(default_factory=dict)
    values: dict[str, float] = field(default_factory=dict)
    step_s: dict[str, float] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()


def reported_values(workload: Workload, live: LiveReports, rule: EndRule | None) -> ReportedValues:
    """Return the values of a launch that has ended.

    Args:
        workload: source of the metrics.
        live: reports of the launch, after ``LiveReports.finish``.
        rule: rule of the launch, with the warm-up that earlier launches show.
    """
    found = ReportedValues(series=live.watch.series(), units=live.watch.units())
    for metric in workload.metrics:
        if metric.progress is None:
            continue
        recorders = live.watch.instance_recorders(metric.name)
        known = [recorder for recorder in recorders if recorder is not None]
        if len(known) == len(recorders):
            _add_value(found, metric, known, live, rule)
        else:
            found.absent[metric.name] = (
                FEWER_INSTANCES.format(reporting=len(known), instances=len(recorders))
                if known
                else NO_REPORTS
            )
    for metric in workload.metrics:
        if metric.derivation is not None:
            _add_derived(found, metric, workload, live)
    found.evidence = tuple(notice.evidence() for notice in live.notices)
    return found


def _add_value(
    found: ReportedValues,
    metric: Metric,
    recorders: Sequence[SeriesRecorder],
    live: LiveReports,
    rule: EndRule | None,
) -> None:
    """Add the steady part of a metric and its value over that part.

    Several instances have one value together; the steady part is that of the first one.
    """
    known = []
    for recorder in recorders:
        ended_early = live.ended is not None and _is_worse(live.ended)
        one = steady_value(metric, recorder, rule, ended_early=ended_early)
        if one is None:
            found.absent[metric.name] = TOO_FEW_REPORTS.format(
                count=len(recorder), needed=MIN_REPORTS
            )
            return
        known.append(one)
    found.steady[metric.name] = known[0][0]
    found.values[metric.name] = combined_value(metric, [one.value for _, one in known])
    found.step_s[metric.name] = max(one.step_s for _, one in known)


def _is_worse(reason: EndReason) -> bool:
    """Return whether a launch ended because it was worse than the incumbent."""
    from assay.stats.progress.end import EndReason

    return reason is EndReason.WORSE


def steady_value(
    metric: Metric,
    recorder: SeriesRecorder,
    rule: EndRule | None = None,
    *,
    ended_early: bool = False,
) -> tuple[SteadyPart, LaunchValue] | None:
    """Return the steady part of one series and the value over it; ``None`` for a short one.

    Args:
        metric: metric of the series.
        recorder: the reports.
        rule: rule of the launch, with the warm-up that earlier launches show.
        ended_early: true if the launch ended because it was worse than the incumbent.
    """
    from assay.stats.progress.early_stop import as_bound
    from assay.stats.progress.launch_curve import launch_curve
    from assay.stats.progress.printed import PrintedForm, printed_form
    from assay.stats.progress.reports import reports_of
    from assay.stats.progress.steady import steady_part
    from assay.stats.progress.value import launch_value

    reports, form = reports_of(recorder), metric.rate_form
    printed = printed_form(reports, form, recorder.restarts)
    curve = launch_curve(reports, form)
    part = None
    for warm_up in _possible_warm_ups(rule):
        part = part or steady_part(
            curve,
            warm_up,
            steady_steps=None if rule is None else rule.steady_steps,
            cumulative=printed is PrintedForm.CUMULATIVE,
            ended_early=ended_early,
        )
    if part is None:
        return None
    found = launch_value(curve, part, form, printed, recorder.restarts)
    if found.printed is PrintedForm.CONTRADICTED:
        part = structs.replace(part, times_disagree=True)
    if part.ended_early and rule is not None:
        value, part = as_bound(found.value, part, reports, rule, metric.goal)
        faster = value / found.value if found.value else 1.0
        step_s = found.step_s * (faster if form is RateForm.DURATION else 1.0 / faster)
        found = dataclasses.replace(found, value=value, step_s=step_s)
    return part, found


def _add_derived(
    found: ReportedValues, metric: Metric, workload: Workload, live: LiveReports
) -> None:
    """Add the value of a derived metric, after those that the program reports."""
    derivation = metric.derivation
    assert derivation is not None
    if derivation.kind is DerivationKind.STEP:
        source = workload.steady_metric or _first_reported(workload)
        if source is not None and source.name in found.step_s:
            found.values[metric.name] = found.step_s[source.name]
        else:
            found.absent[metric.name] = NO_REPORTS
        return
    from assay.stats.progress.reports import reports_of

    values = []
    for recorder in live.watch.instance_recorders(derivation.metric):
        value, reason = derived_value(
            metric,
            None if recorder is None else reports_of(recorder),
            ended_by_assay=live.is_cut,
            ends_finite=recorder is None or recorder.ends_finite,
        )
        if value is None:
            found.absent[metric.name] = reason
            return
        values.append(value)
    found.values[metric.name] = combined_value(metric, values)


def _first_reported(workload: Workload) -> Metric | None:
    return next((metric for metric in workload.metrics if metric.progress is not None), None)


def _possible_warm_ups(rule: EndRule | None) -> Sequence[WarmUp | None]:
    """Return the warm-up of earlier launches, or ``None`` for that of the launch itself.

    A launch may end before the known warm-up does. Its second half counts then, as in any launch
    that does not become steady.
    """
    from assay.stats.progress.warm_up import WarmUp

    if rule is None or rule.warmup_steps is None:
        return (None,)
    steps, period = rule.warmup_steps, rule.period_steps
    return tuple(WarmUp(steps, period, settled=settled) for settled in (True, False))
