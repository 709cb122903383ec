"""Unproven: a recommendation that rests on a model of all launches, and on no claim."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec

from assay.records import (
    Arm,
    Budget,
    Claim,
    ExpectedEffect,
    Recommendation,
    RecommendationStatus,
    RequirementResult,
    RequirementVerdict,
    StudySpec,
    Verdict,
)
from assay.search.claims.objections import objection_to
from assay.search.claims.proof import MAX_LAUNCHES, suggested_proof
from assay.search.claims.reliability import excess_losses
from assay.search.claims.requirement import verdict_on
from assay.search.history.history import DEFAULT_ARM, History
from assay.search.history.losses import may_win
from assay.search.history.output_comparison import work_objection
from assay.search.model.feasibility import is_default_infeasible
from assay.search.model.trials import trials_of
from assay.search.races.race import Ending, EndReason
from assay.search.races.tune import TuneRace
from assay.stats.summary import summarise
from assay.units import show_count, show_quantity
from assay.wording.requirement import required_text
from assay.wording.sentence import budget_options, change_words, interval_words


def unproven_recommendation(
    race: TuneRace,
    claims: Mapping[Arm, Claim],
    required: Sequence[RequirementResult],
) -> Recommendation | None:
    """The candidate of a race without a proof; ``None`` where the default is kept.

    What a confirmation showed to be no better is not recommended, nor what breaks a requirement,
    fails more often than the default, or has figures that cannot be believed (``objection_to``).

    Args:
        race: told all samples.
        claims: of the confirmation, by arm.
        required: what the confirmation says of requirements.
    """
    spec, history = race.spec, race.history
    candidate = race.candidate
    arm = candidate.arm
    found = claims.get(arm)
    if arm == DEFAULT_ARM or not may_win(history, arm):
        return None
    useless = (Verdict.SAME, Verdict.SLOWER)
    output = work_objection(spec, history.outputs, (DEFAULT_ARM.name, arm.name), arm.name)
    if found is not None and (found.verdict in useless or found.objection not in (None, output)):
        return None
    if _doubt(race, arm) is not None:
        return None
    if verdict_on(required, arm.name) is RequirementVerdict.BROKEN:
        return None
    needs_it = bool(spec.require) and is_default_infeasible(trials_of(history))
    if not needs_it and not candidate.is_likely(spec.margin):
        return None

    expected = candidate.expected(history.goal, len(history.samples))
    proof = suggested_proof(race.proof(candidate))
    far = "" if proof else f" A proof would take more than {MAX_LAUNCHES:,} launches."
    return Recommendation(
        settings=arm.configuration,
        script="",
        sentence=say_unproven(spec, arm.name, expected, output) + far,
        claim=found,
        status=RecommendationStatus.UNPROVEN,
        expected=expected,
        proof=None if output else proof,
        output=output,
    )


def with_proof_cost(kept: Recommendation, race: TuneRace, done: Ending | None) -> Recommendation:
    """The default that is kept, with what it takes to find out more, where the budget ended.

    Args:
        kept: recommends the default.
        race: told all samples.
        done: why the race ended.
    """
    if done is None or done.reason is not EndReason.BUDGET:
        return kept
    samples = race.history.samples
    if done.needed is not None:
        spent_s = math.fsum(s.took_s for s in samples)
        whole_s, whole = done.needed.time_s, done.needed.launches
        more = Budget(
            time_s=None if whole_s is None else max(1.0, math.ceil(whole_s - spent_s)),
            launches=None if whole is None else max(1, whole - len(samples)),
        )
        return msgspec.structs.replace(kept, proof=more)
    candidate = race.candidate
    if candidate.arm == DEFAULT_ARM or not math.isfinite(candidate.estimate.deviation):
        return kept
    spec = race.spec
    doubt = _doubt(race, candidate.arm)
    if doubt is not None:
        return msgspec.structs.replace(kept, sentence=f"Keep the default: {doubt}.")
    cost = race.proof(candidate)
    expected = candidate.expected(race.history.goal, len(samples))
    change = change_words(expected.ratio, spec.workload.objective, spec.statistic)
    ends = interval_words(expected.ci, expected.ratio, spec.workload.objective, spec.statistic)
    sentence = (
        f"Keep the default: {candidate.arm.name} is expected to {change} it "
        f"({100 * expected.level:g} % interval {ends}), which is not sure enough to be recommended."
    )
    return msgspec.structs.replace(
        kept, sentence=sentence, expected=expected, proof=suggested_proof(cost)
    )


def _doubt(race: TuneRace, arm: Arm) -> str | None:
    """Return an objection to an arm that holds whatever its figures are."""
    names = DEFAULT_ARM.name, arm.name
    objection = objection_to(race.spec.workload.objective, race.history, names)
    return objection or excess_losses(race.history, arm.name, DEFAULT_ARM.name)


def say_unproven(
    spec: StudySpec, name: str, expected: ExpectedEffect, output: str | None = None
) -> str:
    """Return an unproven recommendation in one sentence.

    Args:
        spec: of the study.
        name: of the arm.
        expected: its effect.
        output: how its output differs from the default's; ``None`` where it does not.
    """
    change = change_words(expected.ratio, spec.workload.objective, spec.statistic)
    ends = interval_words(expected.ci, expected.ratio, spec.workload.objective, spec.statistic)
    launches = show_count(expected.launches, "launch", "launches")
    why = f", {output}" if output else ""
    kept = f" Whether it keeps {required_text(spec)} is not proven either." if spec.require else ""
    return (
        f"{name} is expected to {change} the default ({100 * expected.level:g} % interval {ends}, "
        f"by a model of {launches}). This is not proven{why}.{kept}"
    )


def say_default_alone(spec: StudySpec, history: History, needed: Budget) -> str:
    """The answer of a budget that had room for the default alone."""
    metric = spec.workload.objective
    values = [v for s in history.samples if (v := s.metrics.get(metric.name)) is not None]
    told = "Keep the default: there was no launch to hold against it."
    if values:
        mean = show_quantity(summarise(values).mean, metric.unit)
        launches = show_count(len(values), "launch", "launches")
        told = f"Keep the default: its {metric.name} is {mean} in {launches}, and nothing else ran."
    broken = sum(history.slacks.is_violated_by(sample) for sample in history.samples)
    if broken:
        of = show_count(len(history.samples), "launch", "launches")
        told += f" {broken} of {of} {'breaks' if broken == 1 else 'break'} {required_text(spec)}."
    return f"{told} An answer takes about {budget_options(spec.budget, needed)}."
