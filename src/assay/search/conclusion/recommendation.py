"""Recommendation of a search by one objective."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.records import (
    Arm,
    Claim,
    Recommendation,
    RecommendationStatus,
    RequirementResult,
    RequirementVerdict,
    Stage,
    Verdict,
)
from assay.records.requirement import overall_verdict
from assay.search.conclusion.no_claim import sentence_without_claim
from assay.search.conclusion.unproven import unproven_recommendation, with_proof_cost
from assay.search.history.disturbance_sources import disturbance_sources_of
from assay.search.history.history import DEFAULT_ARM
from assay.search.history.losses import count_losses, may_win
from assay.search.races.race import Ending
from assay.search.races.tune import TuneRace
from assay.wording.requirement import default_requirement_sentence, required_verdict
from assay.wording.sentence import tuning_verdict, unreliable_winner_verdict


def recommendation_of(
    race: TuneRace,
    arm: Arm,
    claims: Mapping[Arm, Claim],
    required: tuple[RequirementResult, ...],
    done: Ending | None,
) -> Recommendation:
    """Return a proven recommendation, else an expected one, else the default.

    Args:
        race: race with all samples.
        arm: recommended arm of the confirmation; the default without one.
        claims: claims of the confirmation, by arm.
        required: results of the requirements in the confirmation.
        done: ending of the race; ``None`` if it was interrupted.
    """
    spec, history, claim = race.spec, race.history, claims.get(arm)
    preferable = claim is not None and _is_preferable(claim, required)
    loses_launches = not may_win(history, arm)
    proven = preferable and not loses_launches
    unproven = None if proven else unproven_recommendation(race, claims, required)
    if unproven is not None:
        return unproven
    if claim is None:
        sentences = (
            sentence_without_claim(race, arm, done),
            default_requirement_sentence(spec, required, DEFAULT_ARM.name),
        )
        sentence = " ".join(filter(None, sentences))
    else:
        disturbers = disturbance_sources_of(history)
        sentence = (
            required_verdict(spec, claim, required, DEFAULT_ARM.name, disturbers)
            if required
            else tuning_verdict(spec, claim, disturbers)
        )
        if loses_launches and preferable:
            sentence = unreliable_winner_verdict(sentence, *count_losses(history, arm))
    recommendation = Recommendation(
        settings=arm.configuration if proven else DEFAULT_ARM.configuration,
        script="",
        sentence=sentence,
        claim=claim,
        status=RecommendationStatus.PROVEN if proven else RecommendationStatus.DEFAULT,
    )
    if proven or claim is not None or history.blocks(Stage.CONFIRM):
        return recommendation
    return with_proof_cost(recommendation, race, done)


def _is_preferable(claim: Claim, required: Sequence[RequirementResult]) -> bool:
    """Return whether a confirmed arm is preferable to the default.

    Without requirements, or if the default meets them, its gain decides. If the default violates
    them, an arm that meets them is preferable.
    """
    keeps, before = (overall_verdict(required, name) for name in (claim.b, claim.a))
    if keeps not in (None, RequirementVerdict.HOLDS):
        return False
    return claim.verdict is Verdict.FASTER or before is RequirementVerdict.BROKEN
