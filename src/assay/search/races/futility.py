"""Futility of a confirmation: whether the remaining budget can still decide it."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import (
    Arm,
    Claim,
    RequirementResult,
    RequirementVerdict,
    Stage,
    Statistic,
    StudySpec,
    Verdict,
)
from assay.search.claims.claims import blocks_of_claim
from assay.search.history.history import DEFAULT_ARM, History
from assay.search.history.remaining_budget import RemainingBudget
from assay.search.races.search_race import FUTILE_FACTOR
from assay.stats.paired import effect
from assay.stats.verdict import blocks_needed


def undecided_requirements(
    required: Sequence[RequirementResult], found: Claim
) -> list[RequirementResult]:
    """Return the undecided requirements that the answer depends on.

    Those of the default matter only if the winner gains nothing.
    """
    gains = found.verdict is Verdict.FASTER
    return [
        result
        for result in required
        if result.verdict is RequirementVerdict.UNCLEAR
        and not (gains and result.arm == DEFAULT_ARM.name)
    ]


def is_requirement_futile(
    history: History,
    found: RequirementResult,
    budget: RemainingBudget,
    arms: Sequence[Arm],
    min_blocks: int,
) -> bool:
    """Return whether even a multiple of the remaining budget would not decide a requirement.

    Args:
        history: samples of the study.
        found: undecided result of the requirement.
        budget: remaining budget.
        arms: arms of a block of the confirmation.
        min_blocks: smallest number of blocks of a claim.
    """
    blocks = len(history.summarised(Stage.CONFIRM))
    if blocks < min_blocks:
        return False
    if found.launches_needed is None:
        return not found.verdict_withheld
    more = (found.launches_needed / found.launches - 1.0) * blocks / FUTILE_FACTOR
    return not budget.affords(history.cost(arms).times(more))


def is_claim_futile(
    spec: StudySpec, history: History, found: Claim, budget: RemainingBudget, arms: Sequence[Arm]
) -> bool:
    """Return whether even a multiple of the remaining budget would not decide a claim.

    The interval holds at every interim analysis, so that stopping early does not invalidate it.

    Args:
        spec: specification of the study.
        history: samples of the study.
        found: undecided claim.
        budget: remaining budget.
        arms: arms of a block of the confirmation.
    """
    needed = _fewest_needed(spec, history, found)
    if needed is None or needed <= found.blocks:
        return False
    more = (needed - found.blocks) / FUTILE_FACTOR
    return not budget.affords(history.cost(arms).times(more))


def _fewest_needed(spec: StudySpec, history: History, claim: Claim) -> int | None:
    """Return the blocks that would decide if the effect differed by a standard error.

    After a few blocks the estimate itself is too uncertain to end a study.
    """
    blocks = blocks_of_claim(history, claim)
    a, b = (
        history.observations(Stage.CONFIRM, name, blocks) for name in (DEFAULT_ARM.name, claim.b)
    )
    median = spec.statistic is Statistic.MEDIAN
    found = effect(a, b, goal=history.goal, alpha=claim.alpha, median=median)
    return blocks_needed(found, margin=spec.margin, doubt=1.0)
