"""Conclusion of a search by one objective."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.records import (
    Arm,
    Conclusion,
    Recommendation,
    RequirementResult,
    Sample,
    Stage,
    StudySpec,
)
from assay.search.claims.requirement import requirement_results
from assay.search.conclusion.fidelity import fidelity_result
from assay.search.conclusion.notes import loss_notes
from assay.search.conclusion.process_notes import process_notes
from assay.search.conclusion.recommendation import recommendation_of
from assay.search.conclusion.summary import (
    ending_message,
    fullest_stage,
    search_notes,
    summarise_launches,
)
from assay.search.conclusion.warm_start import warm_start_result
from assay.search.history.arm_result import result_of
from assay.search.history.history import DEFAULT_ARM, History, arm_of
from assay.search.history.interference import interference_notes, interference_of
from assay.search.model.searcher import Searcher
from assay.search.races.confirmation import (
    ConfirmedArms,
    claim_on,
    claims_on,
    confirmed_arms,
    core_notes,
    recommended_arm,
)
from assay.search.races.race import Ending
from assay.search.races.search_race import NULL_ARM
from assay.search.races.trial_race import tune_race
from assay.search.races.tune import TuneRace
from assay.search.space.search_space import SearchSpace


def conclude_search(
    spec: StudySpec,
    samples: Sequence[Sample],
    space: SearchSpace,
    searcher: Searcher,
    done: Ending | None,
) -> Conclusion:
    """Return the conclusion of a search by one objective; see ``conclude``."""
    race = tune_race(spec, space, searcher)
    for sample in samples:
        race.tell(sample)
    history = race.history
    confirmed = confirmed_arms(history)
    claims = claims_on(spec, history, confirmed)
    arm = DEFAULT_ARM if confirmed is None else recommended_arm(spec, history, confirmed, claims)
    required = _requirement_results(spec, history, arm)
    recommendation = recommendation_of(race, arm, claims, required, done)
    if spec.in_process:  # no budget buys the further processes of a proof
        recommendation = msgspec.structs.replace(recommendation, proof=None)
    arms, stage = _shown_arms(race, confirmed, _named_arm(race, recommendation))
    results = tuple(result_of(spec, history, _stage_of_values(history, stage, a), a) for a in arms)
    interference = interference_of(spec, history)
    return msgspec.structs.replace(
        summarise_launches(spec, history, results, ending_message(done)),
        claims=tuple(claims[shown] for shown in arms if shown in claims),
        requirements=required,
        recommendation=recommendation,
        noise_floor=claim_on(spec, history, NULL_ARM) if spec.null else None,
        interference=interference,
        launches=len(samples),
        fidelity=fidelity_result(spec, history),
        configurations=len({s.launch.configuration for s in samples}),
        notes=(
            *process_notes(race),
            *loss_notes(spec.workload, samples),
            *_core_notes(race, confirmed, arm),
            *interference_notes(interference),
            *search_notes(
                spec,
                history,
                results,
                list(claims.values()) or [None],
                claims.get(arm),
                has_expected=recommendation.expected is not None,
            ),
        ),
        warm_start=warm_start_result(
            spec.earlier_studies, history, guided=bool(spec.earlier_studies) and race.guided
        ),
    )


def _requirement_results(
    spec: StudySpec, history: History, arm: Arm
) -> tuple[RequirementResult, ...]:
    """Return the results of the requirements for the default and an arm in the confirmation."""
    if not history.blocks(Stage.CONFIRM):
        return ()
    arms = (DEFAULT_ARM,) if arm == DEFAULT_ARM else (DEFAULT_ARM, arm)
    return requirement_results(spec, history, arms)


def _named_arm(race: TuneRace, recommendation: Recommendation) -> Arm:
    """Return the arm that the sentence of a recommendation names, recommended or not."""
    if recommendation.expected is not None:
        return race.candidate.arm
    return arm_of(recommendation.settings)


def _core_notes(race: TuneRace, confirmed: ConfirmedArms | None, arm: Arm) -> list[str]:
    """Return the notes on the reduction of the winner."""
    if confirmed is None:
        return []
    notes = core_notes(race.spec, race.history, confirmed, arm)
    if race.reduced.note and arm == confirmed.whole:
        return [*notes, race.reduced.note]
    return notes


def _shown_arms(
    race: TuneRace, confirmed: ConfirmedArms | None, named: Arm
) -> tuple[list[Arm], Stage]:
    """Return the arms of the answer, and the stage of their values."""
    history = race.history
    arms = [DEFAULT_ARM, *((NULL_ARM,) if race.spec.null else ())]
    if history.blocks(Stage.CONFIRM):
        if confirmed is not None:
            arms += sorted(confirmed.arms, key=lambda arm: arm != named)
        return arms, Stage.CONFIRM
    if named != DEFAULT_ARM:
        arms.append(named)
    return arms, fullest_stage(history)


def _stage_of_values(history: History, stage: Stage, arm: Arm) -> Stage:
    """Return the stage of the shown values of an arm: the confirmation, or one with values."""
    if stage is Stage.CONFIRM or history.values(stage, arm.name):
        return stage
    known = (other for other in Stage if history.values(other, arm.name))
    return max(known, key=lambda other: len(history.values(other, arm.name)), default=stage)
