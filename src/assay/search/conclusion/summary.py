"""Summaries of launches and arms, which the conclusions of all kinds share."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.records import Arm, ArmResult, Claim, Conclusion, Stage, StudySpec
from assay.search.claims.requirement import requirement_results
from assay.search.conclusion.notes import (
    disturbance_notes,
    grant_notes,
    loss_notes,
    other_work_notes,
    refusal_notes,
    shape_notes,
    stability_notes,
)
from assay.search.history.arm_result import launches_by_arm, results_of
from assay.search.history.complaints import complaint_notes
from assay.search.history.disturbance_sources import disturbance_sources_of
from assay.search.history.history import DEFAULT_ARM, History
from assay.search.history.outliers import outlier_notes
from assay.search.races.compare import null_name
from assay.search.races.race import Ending
from assay.search.space.comparability import instance_count_notes
from assay.wording.endings import INTERRUPTED


def ending_message(done: Ending | None) -> str:
    """Return why the study ended."""
    return done.message if done else INTERRUPTED


def summarise_launches(
    spec: StudySpec, history: History, arm_results: tuple[ArmResult, ...], stopped: str
) -> Conclusion:
    """Return a conclusion without claims and notes."""
    return Conclusion(
        kind=spec.kind,
        metric=spec.workload.objective.name,
        arms=arm_results,
        launches=len(history.samples),
        configurations=len(spec.arms),
        blocks=len(history.complete(Stage.CONFIRM)),
        disturbed_blocks=history.disturbed(Stage.CONFIRM),
        disturbers=disturbance_sources_of(history),
        stop_reason=stopped,
    )


def summarise_arms(
    spec: StudySpec,
    history: History,
    arms: Sequence[Arm],
    stopped: str,
    claims: Sequence[Claim | None] = (),
) -> Conclusion:
    """Return a conclusion with summaries of named arms, and notes on them."""
    launches = launches_by_arm(history, Stage.CONFIRM, arms)
    results = results_of(spec, history, Stage.CONFIRM, arms, launches)
    notes = (
        *loss_notes(spec.workload, history.samples),
        *instance_count_notes(spec),
        *disturbance_notes(spec, history, claims),
        *grant_notes(history, results),
        *complaint_notes(history),
        *shape_notes(spec.workload.objective, results, history.samples),
        *outlier_notes(spec, history, launches, results),
    )
    return msgspec.structs.replace(
        summarise_launches(spec, history, results, stopped),
        requirements=requirement_results(spec, history, [a for a in arms if a in spec.arms]),
        notes=notes,
    )


def search_notes(
    spec: StudySpec,
    history: History,
    results: Sequence[ArmResult],
    claims: Sequence[Claim | None],
    winner: Claim | None,
    *,
    has_expected: bool = False,
) -> tuple[str, ...]:
    """Return the notes on the launches of a search.

    Args:
        spec: specification of the search.
        history: samples of the search.
        results: summaries of the shown arms.
        claims: all claims of the confirmation.
        winner: claim on the recommended arm; ``None`` without one.
        has_expected: whether the answer states an expected effect.
    """
    return (
        *instance_count_notes(spec),
        *disturbance_notes(spec, history, claims, has_expected=has_expected),
        *refusal_notes(history),
        *other_work_notes(history),
        *grant_notes(history, results),
        *complaint_notes(history),
        *shape_notes(spec.workload.objective, results, history.samples),
        *stability_notes(winner),
    )


def split_null_claim(
    spec: StudySpec, claims: Sequence[Claim | None]
) -> tuple[tuple[Claim, ...], Claim | None]:
    """Return the claims on compared arms, and the claim on the repeat of the first arm."""
    null = null_name(spec.arms[0].name) if spec.null else None
    known = [claim for claim in claims if claim is not None]
    return (
        tuple(claim for claim in known if claim.b != null),
        next((claim for claim in known if claim.b == null), None),
    )


def fullest_stage(history: History) -> Stage:
    """Return the stage with most values of the default, for a summary without a confirmation."""
    stages = (Stage.SEARCH, Stage.REDUCE, Stage.GAUGE, Stage.SURVEY)
    return max(stages, key=lambda stage: len(history.values(stage, DEFAULT_ARM.name)))
