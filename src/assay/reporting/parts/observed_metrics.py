"""Observed metrics: table of requested metrics that are not objectives."""

from __future__ import annotations

from assay.reporting.arms import MAX_DRAWN_ROWS
from assay.reporting.formatting import label_of, show_name
from assay.reporting.inputs import ReportInput
from assay.reporting.markup import Html, el, join
from assay.reporting.parts.common import IN_JSON, first_rows, scroll
from assay.units import show_quantity
from assay.wording.observed_metrics import ObservedMetricRow, mean_interval, observed_metric_rows

INTRO = (
    "These metrics were requested in addition to the objective and do not affect the verdict. The "
    "interval is that of the mean over launches, valid at every interim analysis."
)
_HEADS = ("Arm", "n", "Mean", "Interval", "Min", "Median", "Max")
_TALL = 16
"""Maximum number of lines of a table without its own scroll bar."""


def observed_metrics_table(report: ReportInput) -> Html | None:
    """Return a table of these metrics; ``None`` without any."""
    if report.conclusion is None:
        return None
    rows = observed_metric_rows(report.spec, report.conclusion.arms)
    if not rows:
        return None
    heads = [el("th", h, scope="col", class_=None if h == "Arm" else "num") for h in _HEADS]
    table = el(
        "table",
        el("thead", el("tr", el("th", "Metric", scope="col"), heads)),
        el("tbody", [_line(row) for row in rows[:MAX_DRAWN_ROWS]]),
        class_="beside",
    )
    return join(
        scroll("Metrics besides the objective", table, tall=len(rows) > _TALL),
        first_rows(min(len(rows), MAX_DRAWN_ROWS), len(rows), "lines", IN_JSON),
    )


def _line(row: ObservedMetricRow) -> Html:
    found, unit = row.summary, row.metric.unit
    values = (found.min, found.median, found.max) if found else ()
    cells = [str(found.n), show_quantity(found.mean, unit)] if found else ["0", "no value"]
    cells.append((mean_interval(found, unit) or "too few launches") if found else "")
    cells += [show_quantity(value, unit) for value in values] or [""] * 3
    return el(
        "tr",
        el("td", label_of(row.metric)),
        el("th", show_name(row.arm.name), scope="row"),
        [el("td", cell, class_="num") for cell in cells],
    )
