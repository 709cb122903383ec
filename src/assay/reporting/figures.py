"""Figures: data of the pictures.

Values are in the unit of the metric; a ``Scale`` specifies their format. Static and interactive
pictures use the same data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.reporting.arms import ArmRow
from assay.reporting.boxes import BoxFigure, box_figure
from assay.reporting.convergence import ConvergenceFigure, convergence_figure
from assay.reporting.drawn import DrawnLaunches, drawn_launches
from assay.reporting.gains import GainFigure, gain_figure
from assay.reporting.inputs import ReportInput
from assay.reporting.noise_floor import NoiseFigure, noise_figure
from assay.reporting.progress import ProgressFigure, progress_figures
from assay.reporting.scale import scale_for
from assay.reporting.trials import State, Trial


@dataclass(frozen=True, slots=True)
class Figures:
    """Data of all pictures of a report; ``None`` for a picture without data.

    ``progress`` has a picture for each metric that launches report while they run. All pictures
    share the drawn launches.
    """

    boxes: BoxFigure | None
    gain: GainFigure | None
    convergence: ConvergenceFigure | None
    noise: NoiseFigure | None
    drawn: DrawnLaunches
    progress: tuple[ProgressFigure, ...] = ()


def figures(report: ReportInput, trials: Sequence[Trial], rows: Sequence[ArmRow]) -> Figures:
    """Return the data of all pictures of a report."""
    values = [t.value for t in trials if t.state is State.VALUE and t.value is not None]
    scale = scale_for(values, report.metric.unit)
    drawn = drawn_launches(trials)
    return Figures(
        boxes=box_figure(report, rows, scale, drawn),
        gain=gain_figure(report, rows),
        convergence=convergence_figure(report, trials, rows, scale, drawn),
        noise=noise_figure(report, rows),
        drawn=drawn,
        progress=progress_figures(report, rows),
    )
