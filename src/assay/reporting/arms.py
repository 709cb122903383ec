"""ArmRow: all launches of one configuration in one phase of a study."""

from __future__ import annotations

import enum
import math
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from assay.records import (
    DEFAULT,
    Claim,
    Conclusion,
    Configuration,
    Goal,
    Kind,
    Stage,
    Summary,
)
from assay.records.workload import BUILT_IN
from assay.reporting.inputs import ReportInput
from assay.reporting.trials import State, Trial
from assay.search.conclusion.cells import best_claim
from assay.stats.quantile import quantile
from assay.stats.summary import summarise


class Phase(enum.StrEnum):
    """Phase of a study: launches that select configurations, or launches that claims rest on.

    ``MEASURED`` is the only phase of ``compare`` and ``measure``.
    """

    CONFIRMATION = "confirmation"
    SEARCH = "search"
    MEASURED = "measured"


class Role(enum.StrEnum):
    """Role of an arm in the answer."""

    BASELINE = "baseline"
    WINNER = "winner"
    OTHER = "other"


MAX_DRAWN_ROWS = 400
"""Maximum number of arms in pictures and written-out tables; the interactive table has all. An
interactive picture of more rows would not be readable."""


@dataclass(frozen=True)
class ArmRow:
    """One arm in one phase.

    Attributes:
        name: name of the arm in the study.
        configuration: its settings.
        phase: phase of these launches.
        role: role in the answer.
        trials: its launches, in order of start.
        summary: summary of the launches with a value; ``None`` without any. If the conclusion rests
            on these launches, it is that of the conclusion, without left-out blocks.
        ratio: ratio to the baseline of the same phase: the claim's if there is one, otherwise the
            geometric mean over blocks with both values, or the ratio of medians without such a
            block; ``None`` for the baseline.
        claim: claim of the study; only rows with a claim have an interval.
        disturbed: launches of the summary in disturbed blocks.
    """

    name: str
    configuration: Configuration
    phase: Phase
    role: Role
    trials: tuple[Trial, ...]
    summary: Summary | None
    ratio: float | None = None
    claim: Claim | None = None
    disturbed: int = 0

    def having(self, state: State) -> int:
        """Return the number of launches in a state."""
        return self._by_state[state]

    @cached_property
    def _by_state(self) -> Counter[State]:
        return Counter(trial.state for trial in self.trials)

    @cached_property
    def values(self) -> tuple[float, ...]:
        """Return the values of successful launches, in the unit of the metric."""
        return tuple(t.value for t in self.trials if t.state is State.VALUE and t.value is not None)


def baseline_name(report: ReportInput) -> str:
    """Return the name of the baseline."""
    if report.conclusion is not None and report.conclusion.arms:
        return report.conclusion.arms[0].name
    if report.spec.kind is not Kind.TUNE and report.spec.arms:
        return report.spec.arms[0].name
    return "default"


def arm_rows(report: ReportInput, trials: Sequence[Trial]) -> tuple[ArmRow, ...]:
    """Return a row for each arm and phase: confirmation first, baseline first, then best first."""
    baseline = baseline_name(report)
    groups: dict[tuple[Phase, str], list[Trial]] = {}
    for trial in trials:
        groups.setdefault((phase_of(trial, report.spec.kind), trial.arm), []).append(trial)
    concluded = _ConcludedArms(report.conclusion)
    rows = [_row(report, phase, name, group, concluded) for (phase, name), group in groups.items()]
    bases = {row.phase: row for row in reversed(rows) if row.name == baseline}
    rows = [_against_baseline(row, bases.get(row.phase)) for row in rows]
    winner = winner_name(report.conclusion)
    rows = [replace(row, role=_role(row, baseline, winner)) for row in rows]
    goal = report.metric.goal
    return tuple(sorted(rows, key=lambda row: _order(row, goal)))


def phase_of(trial: Trial, kind: Kind) -> Phase:
    """Return the phase of a launch."""
    if kind is not Kind.TUNE:
        return Phase.MEASURED
    return Phase.CONFIRMATION if trial.stage is Stage.CONFIRM else Phase.SEARCH


def winner_name(conclusion: Conclusion | None) -> str | None:
    """Return the best arm other than the baseline, if any.

    For ``tune`` the recommended arm, for ``compare`` the best *faster* arm.
    """
    if conclusion is None:
        return None
    if conclusion.recommendation is not None:
        chosen = conclusion.recommendation
        if chosen.settings == DEFAULT:
            return None
        if chosen.claim is not None:
            return chosen.claim.b
        return next((a.name for a in conclusion.arms if a.configuration == chosen.settings), None)
    best = best_claim(conclusion)
    return None if best is None else best.b


class _ConcludedArms:
    """Results and claims of a conclusion by the name of their arm, for sweeps of many cells."""

    def __init__(self, conclusion: Conclusion | None) -> None:
        arms = conclusion.arms if conclusion is not None else ()
        claims = _claims(conclusion) if conclusion is not None else ()
        self.results = {arm.name: arm for arm in reversed(arms)}
        self.claims = {claim.b: claim for claim in reversed(claims)}


def _row(
    report: ReportInput,
    phase: Phase,
    name: str,
    group: Iterable[Trial],
    conclusion: _ConcludedArms,
) -> ArmRow:
    own = tuple(group)
    row = ArmRow(name, own[0].configuration, phase, Role.OTHER, own, None)
    concluded, claim, disturbed = None, None, 0
    if phase is not Phase.SEARCH:
        arm = conclusion.results.get(name)
        concluded = arm.summary.get(report.metric.name) if arm else None
        disturbed = arm.disturbed_launches if arm else 0
        claim = conclusion.claims.get(name)
    if concluded is None and row.values:
        floor = 0.0 if report.metric.name in BUILT_IN else None
        concluded = summarise(row.values, alpha=report.spec.alpha, floor=floor)
    return replace(row, summary=concluded, claim=claim, disturbed=disturbed)


def _claims(conclusion: Conclusion) -> tuple[Claim, ...]:
    last = conclusion.recommendation.claim if conclusion.recommendation else None
    return (last, *conclusion.claims) if last else conclusion.claims


def _against_baseline(row: ArmRow, base: ArmRow | None) -> ArmRow:
    if row.claim is not None:
        return replace(row, ratio=row.claim.ratio)
    if base is None or base is row:
        return row
    return replace(row, ratio=_ratio(base, row))


def _ratio(base: ArmRow, row: ArmRow) -> float | None:
    by_block: dict[int, list[float]] = {}
    for trial in base.trials:
        if trial.state is State.VALUE and trial.value and trial.value > 0:
            by_block.setdefault(trial.block, []).append(math.log(trial.value))
    logs = [
        math.log(t.value) - statistics.fmean(by_block[t.block])
        for t in row.trials
        if t.state is State.VALUE and t.value and t.value > 0 and t.block in by_block
    ]
    if logs:
        return math.exp(statistics.fmean(logs))
    if base.summary is None or row.summary is None or base.summary.median <= 0:
        return None
    return row.summary.median / base.summary.median


def _role(row: ArmRow, baseline: str, winner: str | None) -> Role:
    if row.name == baseline:
        return Role.BASELINE
    return Role.WINNER if row.name == winner else Role.OTHER


def _order(row: ArmRow, goal: Goal) -> tuple[int, int, float, str]:
    """Return the sort key: confirmation first, baseline first, then best first, no value last."""
    rank = {Role.BASELINE: 0, Role.WINNER: 1, Role.OTHER: 2}[row.role]
    if row.phase is Phase.SEARCH:
        rank = 0 if row.role is Role.BASELINE else 2
    return row.phase is Phase.SEARCH, rank, _typical(row, goal), row.name


def _typical(row: ArmRow, goal: Goal) -> float:
    """Return the median, with the worst value for censored launches; lower is better."""
    worst = math.inf if goal is Goal.LOWER else 0.0
    values = [*row.values, *[worst] * row.having(State.CENSORED)]
    if not values:
        return math.inf
    middle = quantile(values, 0.5)
    return middle if goal is Goal.LOWER else -middle
