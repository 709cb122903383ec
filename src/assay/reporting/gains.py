"""Gains: data of the picture of all arms against the baseline."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from assay.records import Claim, Goal, Statistic
from assay.reporting.arms import MAX_DRAWN_ROWS, ArmRow, Phase, Role
from assay.reporting.formatting import arm_label, compared_label
from assay.reporting.inputs import ReportInput
from assay.wording.sentence import verdict_word


@dataclass(frozen=True, slots=True)
class Gain:
    """One arm against the baseline of its phase.

    Attributes:
        ratio: arm over baseline.
        low, high: interval; ``None`` for an open end, and both without a claim.
        verdict: verdict of the claim in words; ``None`` without a claim, if the ratio only guided
            the search.
        blocks: number of complete pairs of the claim.
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
    """The first ``MAX_DRAWN_ROWS`` arms against the baseline, in the order of the table.

    Ratios within ``margin`` of 1 are equivalent. ``others`` is the number of further arms.
    """

    metric: str
    goal: Goal
    baseline: str
    margin: float
    noise: tuple[float, float] | None
    gains: tuple[Gain, ...]
    others: int = 0


def gain_figure(report: ReportInput, rows: Sequence[ArmRow]) -> GainFigure | None:
    """Return the first arms against the baseline; ``None`` without an arm to compare."""
    compared = [r for r in rows if r.ratio is not None and math.isfinite(r.ratio) and r.ratio > 0]
    gains = tuple(_gain(r) for r in compared[:MAX_DRAWN_ROWS])
    if not gains:
        return None
    baseline = next((r.name for r in rows if r.role is Role.BASELINE), "default")
    spread = report.spec.statistic is Statistic.SPREAD
    return GainFigure(
        compared_label(report.metric, report.spec.statistic),
        Goal.LOWER if spread else report.metric.goal,
        arm_label(baseline),
        report.spec.margin,
        _closed(report.conclusion.noise_floor if report.conclusion else None),
        gains,
        len(compared) - len(gains),
    )


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
        verdict_word(claim),
        claim.blocks,
        claim.bound_only,
    )


def _closed(claim: Claim | None) -> tuple[float, float] | None:
    if claim is None or claim.ci[0] is None or claim.ci[1] is None:
        return None
    return claim.ci[0], claim.ci[1]
