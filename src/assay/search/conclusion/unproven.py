"""Unproven recommendations: a model of all launches supports them, and no claim does."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec

from assay.records import (
    Arm,
    Budget,
    Claim,
    Recommendation,
    RecommendationStatus,
    RequirementResult,
    RequirementVerdict,
    StudySpec,
    Verdict,
)
from assay.records.requirement import overall_verdict
from assay.search.claims.objections import objection_to
from assay.search.claims.proof import MAX_LAUNCHES, suggested_proof
from assay.search.claims.reliability import excess_losses
from assay.search.history.history import DEFAULT_ARM, History
from assay.search.history.losses import may_win
from assay.search.history.output_comparison import work_objection
from assay.search.model.feasibility import is_default_infeasible
from assay.search.model.trials import trials_of
from assay.search.races.race import Ending, EndReason
from assay.search.races.tune import TuneRace
from assay.stats.summary import summarise
from assay.wording import recommendation as wording


def unproven_recommendation(
    race: TuneRace,
    claims: Mapping[Arm, Claim],
    required: Sequence[RequirementResult],
) -> Recommendation | None:
    """Return a recommendation of the candidate of a race; ``None`` where the default is kept.

    A candidate is not recommended if the confirmation showed no gain, if it violates a requirement
    or fails more often than the default, or if its values are doubtful (``objection_to``).

    Args:
        race: race with all samples.
        claims: claims of the confirmation, by arm.
        required: results of the requirements in the confirmation.
    """
    spec, history = race.spec, race.history
    candidate = race.candidate
    arm = candidate.arm
    found = claims.get(arm)
    if arm == DEFAULT_ARM or not may_win(history, arm):
        return None
    useless = (Verdict.SAME, Verdict.SLOWER)
    output = work_objection(spec, history.outputs, (DEFAULT_ARM.name, arm.name), arm.name)
    if found is not None and (found.verdict in useless or found.data_problem not in (None, output)):
        return None
    if _doubt(race, arm) is not None:
        return None
    if overall_verdict(required, arm.name) is RequirementVerdict.BROKEN:
        return None
    needs_it = bool(spec.requirements) and is_default_infeasible(trials_of(history))
    if not needs_it and not candidate.is_likely(spec.margin):
        return None

    expected = candidate.expected(history.goal, len(history.samples))
    proof = suggested_proof(race.proof(candidate))
    sentence = wording.unproven_sentence(spec, arm.name, expected, output)
    if not proof and not spec.in_process:
        sentence = f"{sentence} {wording.proof_too_long(MAX_LAUNCHES)}"
    return Recommendation(
        settings=arm.configuration,
        script="",
        sentence=sentence,
        claim=found,
        status=RecommendationStatus.UNPROVEN,
        expected=expected,
        proof=None if output else proof,
        output_difference=output,
    )


def with_proof_cost(
    recommendation: Recommendation, race: TuneRace, ending: Ending | None
) -> Recommendation:
    """Return a recommendation of the default with the cost of a proof, where the budget ended.

    Args:
        recommendation: recommendation of the default.
        race: race with all samples.
        ending: ending of the race; ``None`` where it was interrupted.
    """
    if ending is None or ending.reason is not EndReason.BUDGET:
        return recommendation
    samples = race.history.samples
    if ending.needed is not None:
        spent_s = math.fsum(s.total_wall_s for s in samples)
        whole_s, whole = ending.needed.time_s, ending.needed.launches
        more = Budget(
            time_s=None if whole_s is None else max(1.0, math.ceil(whole_s - spent_s)),
            launches=None if whole is None else max(1, whole - len(samples)),
        )
        return msgspec.structs.replace(recommendation, proof=more)
    candidate = race.candidate
    if candidate.arm == DEFAULT_ARM or not math.isfinite(candidate.estimate.deviation):
        return recommendation
    spec = race.spec
    doubt = _doubt(race, candidate.arm)
    if doubt is not None:
        return msgspec.structs.replace(recommendation, sentence=wording.keep_default(doubt))
    cost = race.proof(candidate)
    expected = candidate.expected(race.history.goal, len(samples))
    sentence = wording.expected_not_certain(spec, candidate.arm.name, expected)
    return msgspec.structs.replace(
        recommendation, sentence=sentence, expected=expected, proof=suggested_proof(cost)
    )


def _doubt(race: TuneRace, arm: Arm) -> str | None:
    """Return an objection to an arm that does not depend on its values; ``None`` without one."""
    names = DEFAULT_ARM.name, arm.name
    objection = objection_to(race.spec.workload.objective, race.history, names)
    return objection or excess_losses(race.history, arm.name, DEFAULT_ARM.name)


def only_default_answer(spec: StudySpec, history: History, needed: Budget) -> str:
    """Return the answer of a study whose budget had room for the default alone.

    Args:
        spec: specification of the study.
        history: samples of the study.
        needed: budget that suffices for an answer.
    """
    metric = spec.workload.objective
    values = [v for s in history.samples if (v := s.metrics.get(metric.name)) is not None]
    return wording.only_default_ran(
        spec,
        needed,
        len(values),
        summarise(values).mean if values else None,
        len(history.samples),
        sum(history.slacks.is_violated_by(sample) for sample in history.samples),
    )
