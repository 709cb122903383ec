"""Result as HTML for notebooks.

Text of workloads is hostile: it is escaped, pictures are images, and the report is in a sandboxed
frame without access to the notebook.
"""

from __future__ import annotations

import base64
import html

from assay.api.results.figure import main_pictures
from assay.errors import NotPossibleError
from assay.records import ArmResult, Metric
from assay.reporting.formatting import shorten
from assay.reporting.html import render
from assay.reporting.inputs import ReportInput
from assay.reporting.markup import Html, el, join
from assay.reporting.scale import Scale, scale_for

MAX_ARMS = 40
"""Largest number of rows of the table."""
NAME_CHARACTERS = 80
FRAME_HEIGHT_PX = 700
HEADINGS = ("arm", "n", "min", "q1", "median", "q3", "max")


def notebook_html(report: ReportInput, sentences: list[str]) -> str:
    """Return the verdict, a table of the arms, pictures, and the report in a frame.

    Args:
        report: study.
        sentences: verdict in words.
    """
    parts = [
        el("p", el("strong", sentence)) if number == 0 else el("p", sentence)
        for number, sentence in enumerate(sentences)
    ]
    if report.conclusion is not None:
        parts.append(_table(report.conclusion.arms, report.metric))
    parts += [_image(svg) for svg in _pictures(report)]
    parts.append(_frame(report))
    return f'<div class="assay-result">{join(*parts)}</div>'


def _table(arms: tuple[ArmResult, ...], metric: Metric) -> Html:
    shown = arms[:MAX_ARMS]
    values = [value for arm in shown for value in _quantiles(arm, metric)]
    scale = scale_for(values, metric.unit)
    head = el("tr", [el("th", text) for text in HEADINGS])
    rows = [_row(arm, metric, scale) for arm in shown]
    rest = len(arms) - MAX_ARMS
    if rest > 0:
        rows.append(el("tr", el("td", f"and {rest} more", colspan=len(HEADINGS))))
    unit = f" in {scale.unit}" if scale.unit else ""
    caption = el("caption", f"{metric.name}{unit}")
    return el("table", caption, el("thead", head), el("tbody", rows))


def _quantiles(arm: ArmResult, metric: Metric) -> tuple[float, ...]:
    found = arm.summary.get(metric.name)
    return () if found is None else (found.min, found.q1, found.median, found.q3, found.max)


def _row(arm: ArmResult, metric: Metric, scale: Scale) -> Html:
    found = arm.summary.get(metric.name)
    name = el("td", shorten(arm.name, NAME_CHARACTERS))
    if found is None:
        return el("tr", name, el("td", "no value", colspan=len(HEADINGS) - 1))
    cells = [str(found.n), *map(scale.number, _quantiles(arm, metric))]
    return el("tr", name, [el("td", cell) for cell in cells])


def _pictures(report: ReportInput) -> list[str]:
    try:
        return main_pictures(report)
    except NotPossibleError:
        return []


def _image(svg: str) -> Html:
    """Return a picture as an image, in which no script runs."""
    data = base64.b64encode(svg.encode("utf-8", errors="replace")).decode()
    source = f"data:image/svg+xml;base64,{data}"
    return Html(f'<p><img src="{source}" alt="picture of the study" style="max-width:100%"></p>')


def _frame(report: ReportInput) -> Html:
    """Return the report in a frame that may run its scripts, but reach nothing outside."""
    page = html.escape(render(report), quote=True)
    style = f"width:100%;height:{FRAME_HEIGHT_PX}px;border:0"
    frame = f'<iframe sandbox="allow-scripts" loading="lazy" style="{style}" srcdoc="{page}">'
    return Html(f"<details><summary>Report</summary>{frame}</iframe></details>")
