"""MainPicture: the first picture of a report as an SVG or PNG file."""

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
from assay.reporting.sample_words import finish_in_own_words, words_of
from assay.reporting.scale import scale_for
from assay.reporting.trials import trials

NAME = "main"
"""Prefix of the ids of the document."""


def main_svg(report: ReportInput) -> bytes:
    """Return the main picture as an SVG document that follows a light or dark theme.

    Args:
        report: input of the report.

    Returns:
        For several objectives, the first two against each other; for a sweep of two settings, the
        heat map; otherwise the distribution of each arm, or the launches in order.

    Raises:
        NotPossibleError: no launch has a value.
    """
    return standalone(grounded(_drawn(report)(finish_in_own_words(report, finish)))).encode(
        "utf-8", errors="replace"
    )


def main_png(report: ReportInput) -> bytes:
    """Return the main picture as PNG on a white background, two pixels for each CSS pixel.

    Raises:
        NotPossibleError: no launch has a value.
    """
    made = PngFinish()
    _drawn(report)(finish_in_own_words(report, made))
    return made.data


def _drawn(report: ReportInput) -> Callable[[Finish], str]:
    """Return the function that draws the main picture with a given finish."""
    shown = trials(report)
    rows = arm_rows(report, shown)
    scale = scale_for([value for row in rows for value in row.values], report.metric.unit)

    def drawn_by(draw: Callable[..., str], figure: Any) -> Callable[[Finish], str]:
        return partial(draw, figure, WIDE, NAME)

    front = [one for one in front_figures(report) if one.marks or one.tried]
    if front:
        return drawn_by(front_svg, front[0])
    heat = heat_figure(report, rows, scale)
    if heat is not None:
        return drawn_by(heat_svg, heat)
    pictures = figures(report, shown, rows)
    if pictures.boxes is not None:
        return drawn_by(box_svg, pictures.boxes)
    if pictures.convergence is not None:
        return drawn_by(convergence_svg, pictures.convergence)
    raise NotPossibleError(
        f"Study {report.study_id} has no picture: no {words_of(report).noun[0]} has a value of "
        f"{report.metric.name}.",
        f"`assay report {report.study_id}` shows the reason.",
    )
