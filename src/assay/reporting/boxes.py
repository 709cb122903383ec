"""Boxes: data of the box plots of a study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.records import Goal, Summary
from assay.reporting.arms import MAX_DRAWN_ROWS, ArmRow, Phase, Role
from assay.reporting.drawn import DrawnLaunches
from assay.reporting.formatting import arm_label, label_of
from assay.reporting.frame import Ends, fences
from assay.reporting.inputs import ReportInput
from assay.reporting.scale import Scale
from assay.reporting.trials import State


@dataclass(frozen=True, slots=True)
class Dot:
    """One launch of a box plot.

    Attributes:
        number: number of the launch.
        value: value in the unit of the metric.
        censored: the value is a time-out.
        left_out: the launch is shown, but excluded from all figures.
    """

    number: int
    value: float
    censored: bool = False
    left_out: bool = False


@dataclass(frozen=True, slots=True)
class Box:
    """Box plot of one arm.

    Attributes:
        label, phase, role: as in ``ArmRow``.
        summary: five-number summary; ``None`` without a value.
        dots: the drawn launches.
        note: launches that are not in the box.
        fences: range of values without outliers; absent without a value.
    """

    label: str
    phase: Phase
    role: Role
    summary: Summary | None
    dots: tuple[Dot, ...]
    note: str = ""
    fences: Ends | None = None


@dataclass(frozen=True, slots=True)
class BoxFigure:
    """Box plots of the first ``MAX_DRAWN_ROWS`` arms, in the order of the table.

    ``others`` is the number of further arms.
    """

    metric: str
    goal: Goal
    scale: Scale
    boxes: tuple[Box, ...]
    others: int = 0


def box_figure(
    report: ReportInput, rows: Sequence[ArmRow], scale: Scale, drawn: DrawnLaunches
) -> BoxFigure | None:
    """Return box plots of the first arms, with the drawn launches; ``None`` without any value."""
    boxes = tuple(
        Box(
            arm_label(r.name),
            r.phase,
            r.role,
            r.summary,
            _dots(r, drawn),
            _missing(r),
            fences(r.values) if r.values else None,
        )
        for r in rows[:MAX_DRAWN_ROWS]
    )
    if not any(box.summary for box in boxes):
        return None
    others = len(rows) - len(boxes)
    return BoxFigure(label_of(report.metric), report.metric.goal, scale, boxes, others)


def _dots(row: ArmRow, drawn: DrawnLaunches) -> tuple[Dot, ...]:
    return tuple(
        Dot(t.number, t.value, t.state is State.CENSORED, t.state is State.LEFT_OUT)
        for t in row.trials
        if t.value is not None and t.number in drawn
    )


def _missing(row: ArmRow) -> str:
    parts = [
        f"{number} {state}"
        for number, state in (
            (row.having(State.CENSORED), "timed out"),
            (row.having(State.FAILED), "failed"),
            (row.having(State.ABSENT), "without a value"),
            (row.having(State.LEFT_OUT), "left out"),
        )
        if number
    ]
    return ", ".join(parts)
