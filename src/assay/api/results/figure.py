"""Pictures of a study as Matplotlib figures and as SVG."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from assay.errors import InvalidInputError, NotPossibleError, nearest
from assay.reporting.arms import arm_rows
from assay.reporting.cells import heat_figure
from assay.reporting.figures import figures
from assay.reporting.front import front_figures
from assay.reporting.inputs import ReportInput
from assay.reporting.pictures.canvas import WIDE
from assay.reporting.pictures.front import front_svg
from assay.reporting.pictures.heatmap import heat_svg
from assay.reporting.pictures.progress import progress_svg
from assay.reporting.pictures.rows import box_svg, gain_svg
from assay.reporting.pictures.series import convergence_svg, noise_svg
from assay.reporting.pictures.theme import Finish, finish, grounded, standalone
from assay.reporting.sample_words import finish_in_own_words, words_of
from assay.reporting.scale import scale_for
from assay.reporting.trials import trials

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CSS_DPI = 72
"""Dots per inch of the figures of a report."""
NOTEBOOK_DPI = 2 * CSS_DPI
"""Dots per inch in notebooks: two for each CSS pixel, for screens with a high resolution."""
Drawing = Callable[[Finish], str]
"""Function that draws a picture with a given finish."""


def drawings_of(report: ReportInput) -> dict[str, Drawing]:
    """Return the pictures of a study by name, the main one first.

    Names are ``front``, ``heatmap``, ``arms``, ``gain``, ``progress``, ``launches`` and ``noise``;
    pictures without data are left out.
    """
    shown = trials(report)
    rows = arm_rows(report, shown)
    scale = scale_for([value for row in rows for value in row.values], report.metric.unit)
    pictures = figures(report, shown, rows)
    front = [one for one in front_figures(report) if one.marks or one.tried]
    found: dict[str, tuple[Callable[..., str], Any]] = {
        "front": (front_svg, front[0] if front else None),
        "heatmap": (heat_svg, heat_figure(report, rows, scale)),
        "arms": (box_svg, pictures.boxes),
        "gain": (gain_svg, pictures.gain),
        "progress": (progress_svg, pictures.progress[0] if pictures.progress else None),
        "launches": (convergence_svg, pictures.convergence),
        "noise": (noise_svg, pictures.noise),
    }
    return {
        name: partial(_draw, draw, figure, name)
        for name, (draw, figure) in found.items()
        if figure is not None
    }


def _draw(draw: Callable[..., str], figure: Any, name: str, done: Finish) -> str:
    return draw(figure, WIDE, name, done)


class _Keeper:
    """Finish that keeps the figure."""

    def __init__(self) -> None:
        self.figure: Figure | None = None

    def __call__(self, fig: Figure, name: str, title: str, words: str) -> str:
        """Keep the figure, and return an empty document."""
        fig.patch.set_visible(True)
        fig.patch.set_facecolor("white")
        # Notebooks show only the figures of pyplot by themselves.
        fig._repr_png_ = partial(_png, fig)  # type: ignore[attr-defined]
        self.figure = fig
        return ""


def _png(figure: Figure) -> tuple[bytes, dict[str, int]]:
    """Return a figure as PNG with its size in CSS pixels, for notebooks."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=NOTEBOOK_DPI)
    width, height = (round(inches * CSS_DPI) for inches in figure.get_size_inches())
    return file.getvalue(), {"width": width, "height": height}


def figure_of(report: ReportInput, name: str | None) -> Figure:
    """Return a picture as a Matplotlib figure in light colours.

    Args:
        report: study.
        name: name of the picture; ``None`` for the main one.

    Raises:
        InvalidInputError: an unknown picture, or one without data.
        NotPossibleError: no launch has a value.
    """
    found = drawings_of(report)
    if not found:
        noun, _ = words_of(report).noun
        raise NotPossibleError(
            f"Study {report.study_id} has no picture: no {noun} has a value of "
            f"{report.metric.name}.",
            f"result.samples shows the outcome of each {noun}.",
        )
    chosen = next(iter(found)) if name is None else name
    if chosen not in found:
        near = nearest(chosen, tuple(found))
        raise InvalidInputError(
            f"Study {report.study_id} has no picture {chosen!r}.",
            f"Did you mean {near}?" if near else f"It has {', '.join(found)}.",
        )
    keeper = _Keeper()
    found[chosen](finish_in_own_words(report, keeper))
    assert keeper.figure is not None
    return keeper.figure


def main_pictures(report: ReportInput) -> list[str]:
    """Return the main pictures as SVG that follows a light or dark theme.

    The second one shows the values within launches if there are any, otherwise the launches.
    """
    found = drawings_of(report)
    second = [name for name in ("progress", "launches") if name in found][:1]
    done = finish_in_own_words(report, finish)
    names = [*list(found)[:1], *second]
    return [standalone(grounded(found[name](done))) for name in dict.fromkeys(names)]
