"""Cells: what the pictures of a sweep show, apart from how they are drawn.

Values are in the metric's own unit; a ``Scale`` beside them tells how to write them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from assay.records import Choices, Configuration, Goal, Outcome, Parameter, Range, Value
from assay.records.configuration import show_value
from assay.reporting.arms import ArmRow, Phase, Role
from assay.reporting.formatting import arm_label, label_of
from assay.reporting.frame import Ends, fences, frame
from assay.reporting.inputs import ReportInput
from assay.reporting.scale import Scale
from assay.reporting.trials import State
from assay.search.space.expression import Expression
from assay.stats.quantile import quantile

STEPS = 7
"""Colours of a heat map."""
MAX_COLUMNS = 30
"""Values of a setting that a heat map has room for."""
MIN_FILLED_SHARE = 0.5
"""Share of a heat map that must have cells: what is drawn at random is shown as points."""
MAX_POSITIONS = 20
"""Values of a setting up to which each has its own median; more are taken together."""
GROUPS = 12
"""Medians of a setting with more values than that."""
ABSENT = "left alone"


@dataclass(frozen=True, slots=True)
class HeatCell:
    """One cell of a heat map.

    Attributes:
        column, row: its place, from 0.
        value: median; ``None`` where no launch gave one.
        step: colour, 0 for the best value to ``STEPS - 1`` for the worst.
        role: baseline and winner are marked.
        note: in place of a value.
    """

    column: int
    row: int
    value: float | None
    step: int
    role: Role
    note: str = ""


@dataclass(frozen=True, slots=True)
class HeatFigure:
    """Medians over two settings; a place without a cell is empty."""

    metric: str
    goal: Goal
    scale: Scale
    across: str
    down: str
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    cells: tuple[HeatCell, ...]
    best: float
    worst: float

    def turned(self) -> HeatFigure:
        """The same with the two settings in each other's place."""
        return HeatFigure(
            self.metric,
            self.goal,
            self.scale,
            self.down,
            self.across,
            self.rows,
            self.columns,
            tuple(HeatCell(c.row, c.column, c.value, c.step, c.role, c.note) for c in self.cells),
            self.best,
            self.worst,
        )


@dataclass(frozen=True, slots=True)
class ScatterPoint:
    """One launch: value of the setting, and of the metric; ``censored`` at its time-out.

    What was ``left_out`` is shown, and in no figure.
    """

    x: float
    y: float
    role: Role
    censored: bool = False
    left_out: bool = False


@dataclass(frozen=True, slots=True)
class ScatterFigure:
    """All launches over one setting.

    Attributes:
        setting: on the axis.
        base: of a logarithmic axis; ``None`` for a linear one.
        places: values of the setting that there are, ascending.
        points: launches with a value or a time-out.
        medians: of the cells at each value of the setting, or of groups of neighbours.
        frame: lowest and highest value that is shown; what lies beyond is marked at the edge.
        baseline: median of a baseline that is no cell of the design.
    """

    metric: str
    goal: Goal
    scale: Scale
    setting: str
    base: float | None
    places: tuple[float, ...]
    points: tuple[ScatterPoint, ...]
    medians: tuple[tuple[float, float], ...]
    frame: Ends
    baseline: float | None = None


def heat_figure(report: ReportInput, rows: Sequence[ArmRow], scale: Scale) -> HeatFigure | None:
    """Medians over two settings; ``None`` unless exactly two vary, over a grid."""
    inside = cells(report, rows)
    varied = _varied(report, inside)
    if len(varied) != 2:
        return None
    down, across = sorted(varied, key=lambda p: len(_values(p, inside)))
    columns, lines = _values(across, inside), _values(down, inside)
    if max(len(columns), len(lines)) > MAX_COLUMNS or len(inside) < MIN_FILLED_SHARE * len(
        columns
    ) * len(lines):
        return None
    known = [r.summary.median for r in inside if r.summary is not None]
    if not known:
        return None
    best, worst = min(known), max(known)
    if report.metric.goal is Goal.HIGHER:
        best, worst = worst, best
    return HeatFigure(
        label_of(report.metric),
        report.metric.goal,
        scale,
        arm_label(across.name),
        arm_label(down.name),
        columns,
        lines,
        tuple(
            HeatCell(
                columns.index(_shown(r.configuration.get(across.name))),
                lines.index(_shown(r.configuration.get(down.name))),
                r.summary.median if r.summary else None,
                _step(r.summary.median, best, worst) if r.summary else 0,
                r.role,
                "" if r.summary else _why(report, r),
            )
            for r in inside
        ),
        best,
        worst,
    )


def scatter_figures(
    report: ReportInput, rows: Sequence[ArmRow], scale: Scale
) -> tuple[ScatterFigure, ...]:
    """A picture for each setting that has three numbers or more."""
    inside = cells(report, rows)
    beside = next((r for r in rows if r.role is Role.BASELINE and r not in inside), None)
    reference = beside.summary.median if beside is not None and beside.summary else None
    figures = (_scatter(report, p, inside, scale, reference) for p in _varied(report, inside))
    return tuple(figure for figure in figures if figure is not None)


def cells(report: ReportInput, rows: Sequence[ArmRow]) -> list[ArmRow]:
    """The cells of the design: neither a baseline that stands beside it, nor its second name."""
    names = {arm.name for arm in report.spec.arms}
    others = [r for r in rows if r.name in names and r.role is not Role.BASELINE]
    ran = {row.name for row in rows}
    others += [
        ArmRow(arm.name, arm.configuration, Phase.MEASURED, Role.OTHER, (), None)
        for arm in report.spec.arms[1:]
        if arm.name not in ran
    ]
    first = [r for r in rows if r.role is Role.BASELINE and _is_cell(report, r.configuration)]
    return [*first, *others]


def _is_cell(report: ReportInput, configuration: Configuration) -> bool:
    """Whether a configuration sets every setting but those whose condition does not hold in it."""
    parameters = report.spec.space.parameters
    values = {p.name: p.default for p in parameters if p.default is not None} | dict(configuration)
    return not any(
        p.when is None or Expression(p.when).holds(values, unknown=False)
        for p in parameters
        if p.name not in configuration
    )


def _varied(report: ReportInput, rows: Sequence[ArmRow]) -> list[Parameter]:
    """The settings that differ between cells."""
    return [p for p in report.spec.space.parameters if len(_values(p, rows)) > 1]


def _values(parameter: Parameter, rows: Sequence[ArmRow]) -> tuple[str, ...]:
    """The values of a setting that cells have, as text: numbers in order, others as listed."""
    found = {_shown(r.configuration.get(parameter.name)): r for r in rows}
    listed = {show_value(v): at for at, v in enumerate(parameter.domain.values() or ())}

    def place(text: str) -> tuple[int, float]:
        value = found[text].configuration.get(parameter.name)
        if value is None:
            return 0, 0.0
        if isinstance(value, int | float) and not isinstance(value, bool):
            return 1, float(value)
        return 2, float(listed.get(text, len(listed)))

    return tuple(sorted(found, key=place))


def _shown(value: Value | None) -> str:
    return ABSENT if value is None else show_value(value)


def _step(value: float, best: float, worst: float) -> int:
    """The colour of a value; of ratios, so that twice as long is as far everywhere."""
    if value <= 0 or best <= 0 or worst <= 0:
        share = (value - best) / (worst - best) if worst != best else 0.0
    else:
        whole = math.log(worst / best)
        share = math.log(value / best) / whole if whole else 0.0
    return min(STEPS - 1, max(0, int(share * STEPS)))


def _why(report: ReportInput, row: ArmRow) -> str:
    """Why a cell has no value; one that fails while it warms up never comes further."""
    outcomes = {s.outcome for s in report.samples if s.launch.arm == row.name}
    if Outcome.TIMED_OUT in outcomes:
        return "timed out"
    if outcomes & {Outcome.FAILED, Outcome.LIMIT}:
        return "failed"
    return "left out" if row.having(State.LEFT_OUT) else "no value"


def _scatter(
    report: ReportInput,
    parameter: Parameter,
    rows: Sequence[ArmRow],
    scale: Scale,
    reference: float | None,
) -> ScatterFigure | None:
    read = [(_number(r.configuration.get(parameter.name)), r) for r in rows]
    numbered = [(x, r) for x, r in read if x is not None]
    places = sorted({x for x, _ in numbered})
    points = [
        ScatterPoint(x, t.value, r.role, t.state is State.CENSORED, t.state is State.LEFT_OUT)
        for x, r in numbered
        for t in r.trials
        if t.value is not None
    ]
    values = [p.y for p in points if not p.censored and not p.left_out]
    if len(places) < 3 or not values:
        return None
    by_place: dict[float, list[float]] = {}
    for x, row in numbered:
        if row.summary is not None:
            by_place.setdefault(x, []).append(row.summary.median)
    return ScatterFigure(
        label_of(report.metric),
        report.metric.goal,
        scale,
        arm_label(parameter.name),
        _base(parameter, places),
        tuple(places),
        tuple(points),
        _medians(by_place),
        frame(
            [
                _union(fences(own) for own in by_place.values()),
                *([(reference, reference)] if reference is not None else []),
            ],
            (min(values), max(values)),
        ),
        reference,
    )


def _union(ends: Iterable[Ends]) -> Ends:
    lows, highs = zip(*ends, strict=True)
    return min(lows), max(highs)


def _number(value: Value | None) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)


def _base(parameter: Parameter, places: Sequence[float]) -> float | None:
    """The base of the axis: that of a logarithmic range, or of a list of powers."""
    domain = parameter.domain
    if isinstance(domain, Range):
        return (domain.step or 10.0) if domain.log else None
    if isinstance(domain, Choices) and places[0] > 0:
        steps = {round(b / a, 6) for a, b in itertools.pairwise(places)}
        return steps.pop() if len(steps) == 1 else None
    return None


def _medians(by_place: Mapping[float, Sequence[float]]) -> tuple[tuple[float, float], ...]:
    """The median at each value; of many values, of groups of neighbours of equal size."""
    ordered = sorted(by_place.items())
    if len(ordered) <= MAX_POSITIONS:
        return tuple((x, quantile(list(own), 0.5)) for x, own in ordered)
    found = []
    for number in range(GROUPS):
        group = ordered[number * len(ordered) // GROUPS : (number + 1) * len(ordered) // GROUPS]
        values = [value for _, own in group for value in own]
        found.append((quantile([x for x, _ in group], 0.5), quantile(values, 0.5)))
    return tuple(found)
