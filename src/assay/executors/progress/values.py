"""Values of a finished launch from its reports: series, steady parts, metrics and notices."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from assay.executors.progress.live import LiveReports
from assay.executors.progress.recorder import SeriesRecorder
from assay.records import EndRule, Evidence, Metric, Series, SteadyPart, Workload

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
        absent: reason for each missing value.
        units: printed unit of each metric.
        evidence: notices on the reports.
    """

    series: dict[str, Series] = field(default_factory=dict)
    steady: dict[str, SteadyPart] = field(default_factory=dict)
    values: dict[str, float] = field(default_factory=dict)
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
    found.values[metric.name] = launch_value(curve, part, form, printed).value


def _known_warm_up(rule: EndRule | None) -> WarmUp | None:
    from assay.stats.progress.warm_up import WarmUp

    if rule is None or rule.warmup_steps is None:
        return None
    return WarmUp(rule.warmup_steps, rule.period_steps, settled=True)
