"""Cells: data of the pictures of a sweep.

Values are in the unit of the metric; a ``Scale`` specifies their format.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.records import Choices, Configuration, Goal, Outcome, Parameter, Range, Value
from assay.records.configuration import is_number, show_value
from assay.reporting.arms import ArmRow, Phase, Role
from assay.reporting.formatting import arm_label, label_of
from assay.reporting.frame import Ends, fences, frame, union
from assay.reporting.inputs import ReportInput
from assay.reporting.scale import Scale
from assay.reporting.trials import State
from assay.search.space.expression import Expression
from assay.stats.quantile import quantile

STEPS = 7
"""Number of colours of a heat map."""
MAX_COLUMNS = 30
"""Maximum number of values of a setting on an axis of a heat map."""
MIN_FILLED_SHARE = 0.5
"""Minimum share of filled cells of a heat map; sparser designs are shown as scatter plots."""
MAX_POSITIONS = 20
"""Maximum number of values of a setting with separate medians; more values are grouped."""
GROUPS = 12
"""Number of grouped medians of a setting with more values."""
ABSENT = "not set"


@dataclass(frozen=True, slots=True)
class HeatCell:
    """One cell of a heat map.

    Attributes:
        column, row: position, from 0.
        value: median; ``None`` without a value.
        step: colour, from 0 for the best value to ``STEPS - 1`` for the worst.
        role: baseline and winner are marked.
        note: text instead of a value.
    """

    column: int
    row: int
    value: float | None
    step: int
    role: Role
    note: str = ""


@dataclass(frozen=True, slots=True)
class HeatFigure:
    """Medians over two settings; combinations without a cell are empty."""

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

    def transposed(self) -> HeatFigure:
        """Return the figure with exchanged axes."""
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
    """One launch: value of the setting and of the metric.

    Attributes:
        censored: the metric is the time-out.
        left_out: the launch is shown, but excluded from all figures.
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
        setting: setting on the axis.
        base: base of a logarithmic axis; ``None`` for a linear one.
        places: values of the setting, ascending.
        points: launches with a value or a time-out.
        medians: medians at each value of the setting, or of groups of neighbours.
        frame: lowest and highest value of the axis; values outside are marked at the edge.
        baseline: median of a baseline that is not a cell of the design.
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
    """Return medians over two settings; ``None`` unless exactly two vary over a grid."""
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
    places = [{text: at for at, text in enumerate(ends)} for ends in (columns, lines)]
    reasons = _absence_reasons(report, [r for r in inside if r.summary is None])
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
                places[0][_shown(r.configuration.get(across.name))],
                places[1][_shown(r.configuration.get(down.name))],
                r.summary.median if r.summary else None,
                _colour_step(r.summary.median, best, worst) if r.summary else 0,
                r.role,
                reasons.get(r.name, ""),
            )
            for r in inside
        ),
        best,
        worst,
    )


def scatter_figures(
    report: ReportInput, rows: Sequence[ArmRow], scale: Scale
) -> tuple[ScatterFigure, ...]:
    """Return a figure for each setting with at least three numeric values."""
    inside = cells(report, rows)
    baseline = next((r for r in rows if r.role is Role.BASELINE), None)
    if baseline in inside[:1]:  # a baseline that is a cell comes first
        baseline = None
    reference = baseline.summary.median if baseline is not None and baseline.summary else None
    figures = (_scatter(report, p, inside, scale, reference) for p in _varied(report, inside))
    return tuple(figure for figure in figures if figure is not None)


def cells(report: ReportInput, rows: Sequence[ArmRow]) -> list[ArmRow]:
    """Return the cells of the design, without an additional baseline and its second name."""
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
    """Return whether a configuration sets every setting whose condition holds."""
    parameters = report.spec.space.parameters
    values = {p.name: p.default for p in parameters if p.default is not None} | dict(configuration)
    return not any(
        p.condition is None or Expression(p.condition).holds(values, unknown=False)
        for p in parameters
        if p.name not in configuration
    )


def _varied(report: ReportInput, rows: Sequence[ArmRow]) -> list[Parameter]:
    """Return the settings that differ between cells."""
    return [p for p in report.spec.space.parameters if len(_values(p, rows)) > 1]


def _values(parameter: Parameter, rows: Sequence[ArmRow]) -> tuple[str, ...]:
    """Return the values of a setting as text, numbers in ascending order, others as listed."""
    found = {_shown(r.configuration.get(parameter.name)): r for r in rows}
    listed = {show_value(v): at for at, v in enumerate(parameter.domain.values() or ())}

    def place(text: str) -> tuple[int, float]:
        value = found[text].configuration.get(parameter.name)
        if value is None:
            return 0, 0.0
        if is_number(value):
            return 1, float(value)
        return 2, float(listed.get(text, len(listed)))

    return tuple(sorted(found, key=place))


def _shown(value: Value | None) -> str:
    return ABSENT if value is None else show_value(value)


def _colour_step(value: float, best: float, worst: float) -> int:
    """Return the colour of a value, with steps of equal ratios."""
    if value <= 0 or best <= 0 or worst <= 0:
        share = (value - best) / (worst - best) if worst != best else 0.0
    else:
        whole = math.log(worst / best)
        share = math.log(value / best) / whole if whole else 0.0
    return min(STEPS - 1, max(0, int(share * STEPS)))


def _absence_reasons(report: ReportInput, rows: Sequence[ArmRow]) -> dict[str, str]:
    """Return the reason why cells have no value, possibly already during their warm-up."""
    outcomes: dict[str, set[Outcome]] = {row.name: set() for row in rows}
    for sample in report.samples if rows else ():
        if sample.launch.arm in outcomes:
            outcomes[sample.launch.arm].add(sample.outcome)
    return {row.name: _absence_reason(row, outcomes[row.name]) for row in rows}


def _absence_reason(row: ArmRow, outcomes: set[Outcome]) -> str:
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
        _axis_base(parameter, places),
        tuple(places),
        tuple(points),
        _medians(by_place),
        frame(
            [
                union(fences(own) for own in by_place.values()),
                *([(reference, reference)] if reference is not None else []),
            ],
            (min(values), max(values)),
        ),
        reference,
    )


def _number(value: Value | None) -> float | None:
    if not is_number(value):
        return None
    return float(value)


def _axis_base(parameter: Parameter, places: Sequence[float]) -> float | None:
    """Return the base of the axis: of a logarithmic range, or of a list of powers."""
    domain = parameter.domain
    if isinstance(domain, Range):
        return (domain.step or 10.0) if domain.log else None
    if isinstance(domain, Choices) and places[0] > 0:
        steps = {round(b / a, 6) for a, b in itertools.pairwise(places)}
        return steps.pop() if len(steps) == 1 else None
    return None


def _medians(by_place: Mapping[float, Sequence[float]]) -> tuple[tuple[float, float], ...]:
    """Return the median at each value, or of equal groups of neighbouring values."""
    ordered = sorted(by_place.items())
    if len(ordered) <= MAX_POSITIONS:
        return tuple((x, quantile(list(own), 0.5)) for x, own in ordered)
    found = []
    for number in range(GROUPS):
        group = ordered[number * len(ordered) // GROUPS : (number + 1) * len(ordered) // GROUPS]
        values = [value for _, own in group for value in own]
        found.append((quantile([x for x, _ in group], 0.5), quantile(values, 0.5)))
    return tuple(found)
