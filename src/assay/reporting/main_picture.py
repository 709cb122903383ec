"""MainPicture: the first picture of a report as a file of its own, SVG or PNG."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from assay.errors import NotPossibleError
from assay.reporting.arms import arm_rows
from assay.reporting.cells import heat_figure
from assay.reporting.figures import figures
from assay.reporting.front import front_figures
from assay.reporting.inputs import ReportInput
from assay.reporting.pictures.canvas import WIDE
from assay.reporting.pictures.front import front_svg
from assay.reporting.pictures.heatmap import heat_svg
from assay.reporting.pictures.rows import box_svg
from assay.reporting.pictures.series import convergence_svg
from assay.reporting.pictures.theme import Finish, PngFinish, finish, grounded, standalone
from assay.reporting.scale import scale_for
from assay.reporting.trials import trials

NAME = "main"
"""Put in front of the ids of the document."""


def main_svg(report: ReportInput) -> bytes:
    """Draw the main picture as an SVG document, whose colours follow a light or dark theme.

    Args:
        report: one study.

    Returns:
        Of several objectives the first two against each other, of a sweep its first two settings
        as a heat map where it has two, else the distribution of each arm, or its launches in order.

    Raises:
        NotPossibleError: no launch has a value.
    """
    return standalone(grounded(_drawn(report)(finish))).encode("utf-8", errors="replace")


def main_png(report: ReportInput) -> bytes:
    """Draw the same as a PNG on a white ground, two pixels for each CSS pixel.

    Raises:
        NotPossibleError: no launch has a value.
    """
    made = PngFinish()
    _drawn(report)(made)
    return made.data


def _drawn(report: ReportInput) -> Callable[[Finish], str]:
    """What draws the main picture, and hands it to what makes a file of it."""
    shown = trials(report)
    rows = arm_rows(report, shown)
    scale = scale_for([value for row in rows for value in row.values], report.metric.unit)

    def by(draw: Callable[..., str], figure: Any) -> Callable[[Finish], str]:
        return partial(draw, figure, WIDE, NAME)

    front = [one for one in front_figures(report) if one.marks or one.tried]
    if front:
        return by(front_svg, front[0])
    heat = heat_figure(report, rows, scale)
    if heat is not None:
        return by(heat_svg, heat)
    pictures = figures(report, shown, rows)
    if pictures.boxes is not None:
        return by(box_svg, pictures.boxes)
    if pictures.convergence is not None:
        return by(convergence_svg, pictures.convergence)
    raise NotPossibleError(
        f"Study {report.study_id} has nothing to draw: no launch has a value of "
        f"{report.metric.name}.",
        f"`assay report {report.study_id}` says why.",
    )
