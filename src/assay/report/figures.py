"""Figures: what the pictures show, apart from how they are drawn.

Values are in the metric's own unit; a ``Scale`` beside them tells how to write them. Static and
interactive pictures are drawn from the same data.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from assay.records import Claim, Goal, Kind, Stage, Summary
from assay.report.arms import ArmRow, Phase, Role, phase_of
from assay.report.frame import Ends, fences, frame
from assay.report.inputs import ReportInput
from assay.report.plain import label_of, shorten
from assay.report.scale import Scale, scale_for
from assay.report.trials import State, Trial
from assay.stats.quantile import quantile
from assay.untrusted import clean

_TRIES = 0.9
"""Share of the launches of a search that its picture shows: the rest are tries that were bad."""

_FEW = 20
"""Up to so many launches the picture of a search has room for its bad tries."""

LABEL_CHARACTERS = 96
"""Longest label of an arm in a picture; the table and the raw data have all of it."""


@dataclass(frozen=True, slots=True)
class Dot:
    """One launch of a box plot: number of the launch, value, and whether that is a time-out."""

    number: int
    value: float
    censored: bool = False


@dataclass(frozen=True, slots=True)
class Box:
    """One arm: its five numbers (in ``summary``) and its raw points.

    ``summary`` is ``None`` where no launch gave a value. ``note`` says what is not in the box.
    ``fences`` are the ends of what lies near the rest; absent without a value.
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
    """Box plots of all arms, in the order of the table."""

    metric: str
    goal: Goal
    scale: Scale
    boxes: tuple[Box, ...]


@dataclass(frozen=True, slots=True)
class Gain:
    """One arm against the baseline of its phase.

    Attributes:
        ratio: arm over baseline.
        low, high: interval; ``None`` for an open end, and both where nothing is claimed.
        verdict: of the claim; ``None`` where there is none: then the ratio only chose what to
            try next.
        blocks: complete pairs that the claim rests on.
    """

    label: str
    phase: Phase
    role: Role
    ratio: float
    low: float | None = None
    high: float | None = None
    verdict: str | None = None
    blocks: int | None = None
    bound_only: bool = False


@dataclass(frozen=True, slots=True)
class GainFigure:
    """Every arm against the baseline; ratios within ``margin`` of 1 count as the same."""

    metric: str
    goal: Goal
    baseline: str
    margin: float
    noise: tuple[float, float] | None
    gains: tuple[Gain, ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """One launch on the way: ``arm`` is its label."""

    number: int
    at_s: float
    value: float
    arm: str
    stage: str
    role: Role
    censored: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """Best median among the arms measured so far, after a launch."""

    number: int
    at_s: float
    value: float
    arm: str


@dataclass(frozen=True, slots=True)
class Span:
    """A run of launches of one stage, both ends included."""

    stage: str
    first: int
    last: int
    from_s: float
    to_s: float


@dataclass(frozen=True, slots=True)
class ConvergenceFigure:
    """How the study went, launch by launch.

    Attributes:
        marks: launches with a value or a time-out.
        best: changes of the best median so far; empty for ``compare``.
        drift: re-measurements of the baseline, in order.
        failed: numbers of the launches that failed.
        spans: the stages.
        frame: lowest and highest value that a picture needs to show; what lies outside (a few very
            slow tries) is marked at the edge, so that the rest can be told apart.
    """

    metric: str
    goal: Goal
    scale: Scale
    marks: tuple[Mark, ...]
    best: tuple[Step, ...]
    drift: tuple[Mark, ...]
    failed: tuple[int, ...]
    spans: tuple[Span, ...]
    frame: Ends


@dataclass(frozen=True, slots=True)
class Deviation:
    """One launch of the baseline, in per cent of the median of all its launches."""

    number: int
    percent: float


@dataclass(frozen=True, slots=True)
class NoiseFigure:
    """The baseline against itself.

    Attributes:
        baseline: label of the arm.
        deviations: its launches.
        spread_percent: standard deviation over the mean, in per cent; ``None`` below two.
        drift_percent: median of the last third against that of the first; ``None`` below nine.
        floor: ratio and interval of two identical arms, where the study ran them.
        margin: what counts as the same.
        frame: lowest and highest deviation that a picture shows, in per cent; what lies outside
            is marked at its edge.
    """

    baseline: str
    deviations: tuple[Deviation, ...]
    spread_percent: float | None
    drift_percent: float | None
    floor: Claim | None
    margin: float
    frame: Ends

    @property
    def beyond(self) -> tuple[Deviation, ...]:
        """What lies outside the frame."""
        low, high = self.frame
        return tuple(d for d in self.deviations if not low <= d.percent <= high)


@dataclass(frozen=True, slots=True)
class Figures:
    """All pictures of a report; a picture with nothing to show is ``None``."""

    boxes: BoxFigure | None
    gain: GainFigure | None
    convergence: ConvergenceFigure | None
    noise: NoiseFigure | None


def figures(report: ReportInput, trials: Sequence[Trial], rows: Sequence[ArmRow]) -> Figures:
    """The figure data of a report."""
    values = [t.value for t in trials if t.state is State.VALUE and t.value is not None]
    scale = scale_for(values, report.metric.unit)
    return Figures(
        boxes=box_figure(report, rows, scale),
        gain=gain_figure(report, rows),
        convergence=convergence_figure(report, trials, rows, scale),
        noise=noise_figure(report, rows),
    )


def arm_label(name: str) -> str:
    """The name of an arm, safe to show and short enough for a picture."""
    return shorten(clean(name), LABEL_CHARACTERS)


def box_figure(report: ReportInput, rows: Sequence[ArmRow], scale: Scale) -> BoxFigure | None:
    """Box plots of all arms; ``None`` where no launch gave a value."""
    boxes = tuple(
        Box(
            arm_label(r.name),
            r.phase,
            r.role,
            r.summary,
            _dots(r),
            _missing(r),
            fences(r.values) if r.values else None,
        )
        for r in rows
    )
    if not any(box.summary for box in boxes):
        return None
    return BoxFigure(label_of(report.metric), report.metric.goal, scale, boxes)


def gain_figure(report: ReportInput, rows: Sequence[ArmRow]) -> GainFigure | None:
    """Every arm against the baseline; ``None`` where there is nothing to compare."""
    gains = tuple(
        _gain(r) for r in rows if r.ratio is not None and math.isfinite(r.ratio) and r.ratio > 0
    )
    if not gains:
        return None
    baseline = next((r.name for r in rows if r.role is Role.BASELINE), "default")
    return GainFigure(
        label_of(report.metric),
        report.metric.goal,
        arm_label(baseline),
        report.spec.margin,
        _closed(report.conclusion.noise_floor if report.conclusion else None),
        gains,
    )


def convergence_figure(
    report: ReportInput, trials: Sequence[Trial], rows: Sequence[ArmRow], scale: Scale
) -> ConvergenceFigure | None:
    """How the study went; ``None`` with fewer than two launches to show."""
    roles = {(row.phase, row.name): row.role for row in rows}
    kind = report.spec.kind
    marks = tuple(
        Mark(
            t.number,
            t.at_s,
            t.value,
            arm_label(t.arm),
            t.stage.value,
            roles[phase_of(t, kind), t.arm],
            t.state is State.CENSORED,
        )
        for t in trials
        if t.value is not None
    )
    if len(marks) < 2:
        return None
    blocked = (Kind.COMPARE, Kind.SWEEP, Kind.CALIBRATE)
    best = () if kind in blocked else _best(trials, report.metric.goal)
    return ConvergenceFigure(
        metric=label_of(report.metric),
        goal=report.metric.goal,
        scale=scale,
        marks=marks,
        best=best,
        drift=tuple(m for m in marks if m.role is Role.BASELINE and not m.censored),
        failed=tuple(t.number for t in trials if t.state is State.FAILED),
        spans=_spans(trials) if kind is Kind.TUNE else (),
        frame=_frame(marks, best, report.metric.goal, _TRIES if kind is Kind.TUNE else 1.0),
    )


def noise_figure(report: ReportInput, rows: Sequence[ArmRow]) -> NoiseFigure | None:
    """The baseline against itself; ``None`` below two of its launches."""
    base = [row for row in rows if row.role is Role.BASELINE]
    ordered = sorted(
        (t for row in base for t in row.trials if t.state is State.VALUE and t.value),
        key=lambda t: t.number,
    )
    values = [t.value for t in ordered if t.value is not None]
    middle = quantile(values, 0.5) if values else 0.0
    if len(values) < 2 or middle <= 0:
        return None
    percents = [(v / middle - 1) * 100 for v in values]
    third = len(values) // 3
    drift = (
        quantile(values[-third:], 0.5) / quantile(values[:third], 0.5) - 1 if third > 2 else None
    )
    return NoiseFigure(
        baseline=arm_label(base[0].name),
        deviations=tuple(
            Deviation(t.number, percent) for t, percent in zip(ordered, percents, strict=True)
        ),
        spread_percent=statistics.stdev(values) / statistics.fmean(values) * 100,
        drift_percent=None if drift is None else drift * 100,
        floor=report.conclusion.noise_floor if report.conclusion else None,
        margin=report.spec.margin,
        frame=_noise_frame(percents, report.spec.margin * 100),
    )


def _noise_frame(percents: Sequence[float], margin_percent: float) -> Ends:
    """With some room around it; where all values are positive none is 100 % below their median."""
    low, high = frame([fences(percents)], (min(percents), max(percents)))
    low, high = min(low, -1.5 * margin_percent), max(high, 1.5 * margin_percent)
    room = (high - low) * 0.08
    low, high = low - room, high + room
    return (max(low, -100.0) if min(percents) > -100 else low), high


def _dots(row: ArmRow) -> tuple[Dot, ...]:
    return tuple(
        Dot(t.number, t.value, t.state is State.CENSORED) for t in row.trials if t.value is not None
    )


def _missing(row: ArmRow) -> str:
    parts = [
        f"{number} {what}"
        for number, what in (
            (row.having(State.CENSORED), "timed out"),
            (row.having(State.FAILED), "failed"),
            (row.having(State.ABSENT), "without a value"),
        )
        if number
    ]
    return ", ".join(parts)


def _gain(row: ArmRow) -> Gain:
    gain_of = Gain(arm_label(row.name), row.phase, row.role, row.ratio or 1.0)
    claim = row.claim
    if claim is None:
        return gain_of
    return Gain(
        gain_of.label,
        row.phase,
        row.role,
        claim.ratio,
        claim.ci[0],
        claim.ci[1],
        claim.verdict.value,
        claim.blocks,
        claim.bound_only,
    )


def _closed(claim: Claim | None) -> tuple[float, float] | None:
    if claim is None or claim.ci[0] is None or claim.ci[1] is None:
        return None
    return claim.ci[0], claim.ci[1]


def _best(trials: Sequence[Trial], goal: Goal) -> tuple[Step, ...]:
    seen: dict[str, list[float]] = {}
    medians: dict[str, float] = {}
    steps: list[Step] = []
    pick = min if goal is Goal.LOWER else max
    for trial in trials:
        if trial.state is not State.VALUE or trial.value is None:
            continue
        own = seen.setdefault(trial.arm, [])
        own.append(trial.value)
        medians[trial.arm] = statistics.median(own)
        arm = pick(medians, key=medians.__getitem__)
        step = Step(trial.number, trial.at_s, medians[arm], arm_label(arm))
        if not steps or (steps[-1].value, steps[-1].arm) != (step.value, step.arm):
            steps.append(step)
    return tuple(steps)


def _frame(marks: Sequence[Mark], best: Sequence[Step], goal: Goal, share: float) -> Ends:
    """The bulk of the baseline, of the winner and of the best so far; a share of the rest."""
    shown = [m for m in marks if not m.censored] or marks
    arms: dict[tuple[str, Role], list[float]] = {}
    for mark in shown:
        arms.setdefault((mark.arm, mark.role), []).append(mark.value)
    low, high = _union(map(fences, arms.values()))
    values = [m.value for m in shown]
    if len(values) > _FEW and goal is Goal.LOWER:
        high = max(low, min(high, quantile(values, share)))
    elif len(values) > _FEW:
        low = min(high, max(low, quantile(values, 1.0 - share)))
    needed = [own for (_, role), own in arms.items() if role is not Role.OTHER]
    needed += [[step.value for step in best]] if best else []
    ends = [(low, high), *map(fences, needed)]
    return frame(ends, _union((min(own), max(own)) for own in [*needed, [low, high]]))


def _union(ends: Iterable[Ends]) -> Ends:
    lows, highs = zip(*ends, strict=True)
    return min(lows), max(highs)


def _spans(trials: Sequence[Trial]) -> tuple[Span, ...]:
    spans: list[Span] = []
    for t in trials:
        if spans and spans[-1].stage == t.stage.value:
            last = spans[-1]
            spans[-1] = Span(last.stage, last.first, t.number, last.from_s, t.at_s)
        else:
            spans.append(Span(t.stage.value, t.number, t.number, t.at_s, t.at_s))
    return tuple(spans)


STAGE_NAMES = {
    Stage.GAUGE.value: "first look",
    Stage.SEARCH.value: "search",
    Stage.REDUCE.value: "reduction",
    Stage.CONFIRM.value: "confirmation",
}
"""What the stages are called in pictures."""
