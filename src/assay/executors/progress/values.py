"""Values of a finished launch from its reports: series, steady parts, metrics and notices."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from assay.executors.progress.derived_values import derived_value
from assay.executors.progress.live import LiveReports
from assay.executors.progress.recorder import SeriesRecorder
from assay.records import DerivationKind, EndRule, Evidence, Metric, Series, SteadyPart, Workload

if TYPE_CHECKING:
    from assay.stats.progress.warm_up import WarmUp

NO_REPORTS = "the program reported no value"
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
        recorder = live.watch.recorder(metric.name)
        if recorder is None:
            found.absent[metric.name] = NO_REPORTS
        else:
            _add_value(found, metric, recorder, live, rule)
    for metric in workload.metrics:
        if metric.derivation is not None:
            _add_derived(found, metric, workload, live)
    found.evidence = tuple(notice.evidence() for notice in live.notices)
    return found


def _add_value(
    found: ReportedValues,
    metric: Metric,
    recorder: SeriesRecorder,
    live: LiveReports,
    rule: EndRule | None,
) -> None:
    """Add the steady part of a metric and its value over that part."""
    from assay.stats.progress.end import EndReason
    from assay.stats.progress.launch_curve import launch_curve
    from assay.stats.progress.printed import PrintedForm, printed_form
    from assay.stats.progress.reports import reports_of
    from assay.stats.progress.steady import steady_part
    from assay.stats.progress.value import launch_value

    reports, form = reports_of(recorder), metric.rate_form
    printed = printed_form(reports, form)
    curve = launch_curve(reports, form)
    part = steady_part(
        curve,
        _known_warm_up(rule),
        steady_steps=None if rule is None else rule.steady_steps,
        cumulative=printed is PrintedForm.CUMULATIVE,
        ended_early=live.ended is EndReason.WORSE,
    )
    if part is None:
        found.absent[metric.name] = TOO_FEW_REPORTS.format(count=len(reports), needed=MIN_REPORTS)
        return
    found.steady[metric.name] = part
    value = launch_value(curve, part, form, printed)
    found.values[metric.name] = value.value
    found.step_s[metric.name] = value.step_s


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

    recorder = live.watch.recorder(derivation.metric)
    value, reason = derived_value(
        metric,
        None if recorder is None else reports_of(recorder),
        ended_by_assay=live.ended is not None,
    )
    if value is None:
        found.absent[metric.name] = reason
    else:
        found.values[metric.name] = value


def _first_reported(workload: Workload) -> Metric | None:
    return next((metric for metric in workload.metrics if metric.progress is not None), None)


def _known_warm_up(rule: EndRule | None) -> WarmUp | None:
    from assay.stats.progress.warm_up import WarmUp

    if rule is None or rule.warmup_steps is None:
        return None
    return WarmUp(rule.warmup_steps, rule.period_steps, settled=True)
