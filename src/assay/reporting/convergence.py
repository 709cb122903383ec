"""Convergence: data of the picture of all launches in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.records import Goal, Kind, Stage
from assay.reporting.arms import ArmRow, Role, phase_of
from assay.reporting.drawn import MAX_STEPS, DrawnLaunches, evenly
from assay.reporting.formatting import arm_label, label_of
from assay.reporting.frame import Ends, fences, frame, union
from assay.reporting.inputs import ReportInput
from assay.reporting.scale import Scale
from assay.reporting.trials import State, Trial
from assay.stats.quantile import quantile
from assay.stats.running_median import RunningMedian

_SEARCH_SHARE = 0.9
"""Share of the launches of a search within the axis; the others are poor candidates."""

_MAX_UNCUT_LAUNCHES = 20
"""Maximum number of launches whose poor candidates all fit on the axis."""

STAGE_NAMES = {
    Stage.GAUGE.value: "gauge",
    Stage.INTERFERENCE.value: "interference",
    Stage.SEARCH.value: "search",
    Stage.REDUCE.value: "ablation",
    Stage.CONFIRM.value: "confirmation",
}
"""Names of the stages in pictures."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One launch; ``left_out`` ones are excluded from all figures."""

    number: int
    at_s: float
    value: float
    arm: str
    stage: str
    role: Role
    censored: bool = False
    left_out: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """Best median of all arms after a launch."""

    number: int
    at_s: float
    value: float
    arm: str


@dataclass(frozen=True, slots=True)
class Span:
    """Consecutive launches of one stage, both ends included."""

    stage: str
    first: int
    last: int
    from_s: float
    to_s: float


@dataclass(frozen=True, slots=True)
class ConvergenceFigure:
    """All launches of a study in order.

    Attributes:
        marks: drawn launches with a value or a time-out, left-out ones included.
        best: changes of the best median, at most ``MAX_STEPS``; empty for ``compare``.
        drift: drawn measurements of the baseline, in order.
        failed: numbers of the failed launches, at most ``MAX_STEPS``.
        spans: the stages.
        frame: lowest and highest value of the axis; values outside, such as very slow candidates,
            are marked at the edge.
        launches: number of all launches with a value or a time-out.
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
    launches: int


def convergence_figure(
    report: ReportInput,
    trials: Sequence[Trial],
    rows: Sequence[ArmRow],
    scale: Scale,
    drawn: DrawnLaunches,
) -> ConvergenceFigure | None:
    """Return the figure; ``None`` with fewer than two launches."""
    kind = report.spec.kind
    valued = [trial for trial in trials if trial.value is not None]
    if len(valued) < 2:
        return None
    arms = _Arms(rows, kind)
    marks = tuple(arms.mark(trial) for trial in valued if trial.number in drawn)
    blocked = (Kind.COMPARE, Kind.SWEEP, Kind.CALIBRATE)
    best = () if kind in blocked else tuple(evenly(_best(trials, report.metric.goal), MAX_STEPS))
    failed = [t.number for t in trials if t.state is State.FAILED]
    share = _SEARCH_SHARE if kind is Kind.TUNE else 1.0
    return ConvergenceFigure(
        metric=label_of(report.metric),
        goal=report.metric.goal,
        scale=scale,
        marks=marks,
        best=best,
        drift=tuple(
            m for m in marks if m.role is Role.BASELINE and not m.censored and not m.left_out
        ),
        failed=tuple(evenly(failed, MAX_STEPS)),
        spans=_spans(trials) if kind is Kind.TUNE else (),
        frame=_frame(valued, arms, best, report.metric.goal, share),
        launches=len(valued),
    )


class _Arms:
    """Labels and roles of the arms of a study."""

    def __init__(self, rows: Sequence[ArmRow], kind: Kind) -> None:
        self._roles = {(row.phase, row.name): row.role for row in rows}
        self._labels = {row.name: arm_label(row.name) for row in rows}
        self._kind = kind

    def of(self, trial: Trial) -> tuple[str, Role]:
        """Return the label and the role of the arm of a launch."""
        return self._labels[trial.arm], self._roles[phase_of(trial, self._kind), trial.arm]

    def mark(self, trial: Trial) -> Mark:
        """Return the mark of a launch with a value or a time-out."""
        assert trial.value is not None
        label, role = self.of(trial)
        return Mark(
            trial.number,
            trial.at_s,
            trial.value,
            label,
            trial.stage.value,
            role,
            trial.state is State.CENSORED,
            trial.state is State.LEFT_OUT,
        )


def _best(trials: Sequence[Trial], goal: Goal) -> tuple[Step, ...]:
    """Return the changes of the best median."""
    seen: dict[str, RunningMedian] = {}
    medians: dict[str, float] = {}
    labels = {arm: arm_label(arm) for arm in {trial.arm for trial in trials}}
    steps: list[Step] = []
    pick = min if goal is Goal.LOWER else max
    for trial in trials:
        if trial.state is not State.VALUE or trial.value is None:
            continue
        own = seen.setdefault(trial.arm, RunningMedian())
        medians[trial.arm] = own.add(trial.value)
        arm = pick(medians, key=medians.__getitem__)
        step = Step(trial.number, trial.at_s, medians[arm], labels[arm])
        if not steps or (steps[-1].value, steps[-1].arm) != (step.value, step.arm):
            steps.append(step)
    return tuple(steps)


def _frame(
    valued: Sequence[Trial], arms: _Arms, best: Sequence[Step], goal: Goal, share: float
) -> Ends:
    """Return the axis range: most launches of baseline and winner, and a share of the others."""
    kept = [t for t in valued if t.state is not State.LEFT_OUT] or valued
    shown = [t for t in kept if t.state is not State.CENSORED] or kept
    by_arm: dict[tuple[str, Role], list[float]] = {}
    values = [trial.value for trial in shown if trial.value is not None]
    for trial, value in zip(shown, values, strict=True):
        by_arm.setdefault(arms.of(trial), []).append(value)
    low, high = union(map(fences, by_arm.values()))
    if len(values) > _MAX_UNCUT_LAUNCHES and goal is Goal.LOWER:
        high = max(low, min(high, quantile(values, share)))
    elif len(values) > _MAX_UNCUT_LAUNCHES:
        low = min(high, max(low, quantile(values, 1.0 - share)))
    needed = [own for (_, role), own in by_arm.items() if role is not Role.OTHER]
    needed += [[step.value for step in best]] if best else []
    ends = [(low, high), *map(fences, needed)]
    return frame(ends, union((min(own), max(own)) for own in [*needed, [low, high]]))


def _spans(trials: Sequence[Trial]) -> tuple[Span, ...]:
    spans: list[Span] = []
    for t in trials:
        if spans and spans[-1].stage == t.stage.value:
            last = spans[-1]
            spans[-1] = Span(last.stage, last.first, t.number, last.from_s, t.at_s)
        else:
            spans.append(Span(t.stage.value, t.number, t.number, t.at_s, t.at_s))
    return tuple(spans)
