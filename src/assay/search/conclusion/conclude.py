"""Conclusion of a study: a function of its specification and its samples alone.

The re-analysis of stored samples uses it too, so that anyone with the samples of a study can verify
its verdict document.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from assay.records import (
    Arm,
    ArmResult,
    Claim,
    Conclusion,
    FrontPoint,
    Kind,
    Outcome,
    Recommendation,
    RecommendationStatus,
    RequirementResult,
    RequirementVerdict,
    Sample,
    Stage,
    StudySpec,
    Verdict,
)
from assay.records.requirement import overall_verdict
from assay.search.claims.calibration import calibration_notes, calibration_of
from assay.search.claims.claims import claim_between
from assay.search.claims.effects import effects_of
from assay.search.claims.front_claims import (
    claims_between,
    confirmed_points,
    first_choice,
    front_alpha,
    judge_points,
    sorted_points,
)
from assay.search.claims.objections import MAX_MISSING_SHARE, objection_to, unit_objection
from assay.search.claims.requirement import requirement_results
from assay.search.conclusion.boots import boot_notes
from assay.search.conclusion.cells import best_claim
from assay.search.conclusion.notes import (
    cell_grant_notes,
    disturbance_notes,
    grant_notes,
    loss_notes,
    observing_notes,
    other_work_notes,
    refusal_notes,
    shape_notes,
    stability_notes,
    too_few_blocks_notes,
)
from assay.search.conclusion.unproven import (
    only_default_answer,
    unproven_recommendation,
    with_proof_cost,
)
from assay.search.conclusion.warm_start import warm_start_result
from assay.search.history.arm_result import result_of
from assay.search.history.carry_over import carry_over_notes
from assay.search.history.complaints import complaint_notes
from assay.search.history.cross_environment import compare_environments
from assay.search.history.disturbance_sources import disturbance_sources_of
from assay.search.history.failure_order import describe_first_successes, failure_order_notes
from assay.search.history.first_launch import first_launch_notes, warm_up_notes
from assay.search.history.history import DEFAULT_ARM, History, arm_of
from assay.search.history.interference import interference_notes, interference_of
from assay.search.history.kernels import kernels_of
from assay.search.history.losses import count_losses, fails_more, may_win
from assay.search.history.objective_view import ObjectiveView
from assay.search.history.outliers import outlier_notes
from assay.search.history.remaining_processes import remaining_process_notes
from assay.search.history.termination import termination_notes
from assay.search.history.thread_counts import thread_count_notes
from assay.search.history.trend import trend_notes
from assay.search.history.waiting import waiting_notes
from assay.search.history.zeros import zeros_objection_to
from assay.search.model.feasibility import is_default_infeasible
from assay.search.model.searcher import Searcher
from assay.search.model.trials import trials_of
from assay.search.races.calibrate import calibrated_arms, recording
from assay.search.races.compare import (
    claim_alpha,
    claimed_pairs,
    compared_arms,
    null_name,
    step_pairs,
)
from assay.search.races.confirmation import (
    ConfirmedArms,
    claims_on,
    confirmed_arms,
    core_notes,
    recommended_arm,
)
from assay.search.races.confirmation import (
    claim_on as claim_on_tuned,
)
from assay.search.races.front import FrontRace
from assay.search.races.race import Ending, EndReason
from assay.search.races.search_race import NULL_ARM
from assay.search.races.sweep import sweep_alpha, sweep_claim
from assay.search.races.tune import TuneRace
from assay.search.space.comparability import instance_count_notes
from assay.search.space.search_space import SearchSpace
from assay.search.space.switching import switching_cost
from assay.wording import recommendation as wording
from assay.wording.endings import INTERRUPTED
from assay.wording.failure import reasons_by_arm
from assay.wording.front import alternatives, front_verdict
from assay.wording.requirement import default_requirement_sentence, required_verdict
from assay.wording.revisions import revision_notes
from assay.wording.sentence import tuning_verdict, unreliable_winner_verdict
from assay.wording.suspect import suspect_notes


def conclude(
    spec: StudySpec,
    samples: Sequence[Sample],
    space: SearchSpace,
    searcher: Searcher,
    done: Ending | None,
) -> Conclusion:
    """Return the conclusion of a study.

    Args:
        spec: specification of the study.
        samples: samples of one stratum, in the order of the launches.
        space, searcher: space and searcher of the race.
        done: ending of the race; ``None`` if it was interrupted.
    """
    found = _concluded(spec, samples, space, searcher, done)
    kernels = kernels_of(samples)
    found = msgspec.structs.replace(
        found,
        switching=switching_cost(spec, samples),
        notes=(
            *found.notes,
            *boot_notes(spec, samples, kernels),
            *revision_notes(samples),
            *remaining_process_notes(samples),
            *termination_notes(samples),
            *failure_order_notes(samples),
            *first_launch_notes(samples),
            *warm_up_notes(spec.kind, samples),
            *waiting_notes(samples),
            *thread_count_notes(samples),
            *trend_notes(spec, samples),
            *carry_over_notes(spec, samples),
            *suspect_notes(samples),
            *observing_notes(spec, samples),
        ),
        kernels=kernels,
    )
    return msgspec.structs.replace(found, reason=str(done.reason)) if done else found


def _concluded(
    spec: StudySpec,
    samples: Sequence[Sample],
    space: SearchSpace,
    searcher: Searcher,
    done: Ending | None,
) -> Conclusion:
    stopped = _stopped(done)
    match spec.kind:
        case Kind.TUNE if spec.objectives:
            return _tune_front(spec, samples, space, searcher, done)
        case Kind.TUNE:
            return _tune(spec, samples, space, searcher, done)
        case Kind.COMPARE:
            return _compare(spec, samples, stopped)
        case Kind.MEASURE:
            return _measure(spec, samples, stopped)
        case Kind.SWEEP:
            return _sweep(spec, samples, stopped)
        case Kind.CALIBRATE:
            return _calibrate(spec, samples, stopped)


def _stopped(done: Ending | None) -> str:
    return done.message if done else INTERRUPTED


def _tune(
    spec: StudySpec,
    samples: Sequence[Sample],
    space: SearchSpace,
    searcher: Searcher,
    done: Ending | None,
) -> Conclusion:
    race = TuneRace(spec, space, searcher)
    for sample in samples:
        race.tell(sample)
    history = race.history
    running = confirmed_arms(history)
    claims = claims_on(spec, history, running)
    arm = DEFAULT_ARM if running is None else recommended_arm(spec, history, running, claims)
    both = (DEFAULT_ARM,) if arm == DEFAULT_ARM else (DEFAULT_ARM, arm)
    required = requirement_results(spec, history, both) if history.blocks(Stage.CONFIRM) else ()
    chosen = _recommendation(race, arm, claims, required, done)
    named = arm_of(chosen.settings)
    if chosen.expected is not None:  # the sentence names it even if it is not recommended
        named = race.candidate.arm
    arms, stage = _shown_arms(race, running, named)
    notes: list[str] = loss_notes(spec.workload, samples)
    if running is not None:
        notes += core_notes(spec, history, running, arm)
        if race.reduced.note and arm == running.whole:
            notes.append(race.reduced.note)
    seen = tuple(result_of(spec, history, _shown_stage(history, stage, a), a) for a in arms)
    side_by_side = interference_of(spec, history)
    return msgspec.structs.replace(
        _counts(spec, history, seen, _stopped(done)),
        claims=tuple(claims[one] for one in arms if one in claims),
        requirements=required,
        recommendation=chosen,
        noise_floor=_null_claim(spec, history),
        interference=side_by_side,
        configurations=len({s.launch.configuration for s in samples}),
        notes=(
            *notes,
            *interference_notes(side_by_side),
            *instance_count_notes(spec),
            *disturbance_notes(spec, history, list(claims.values()) or [None]),
            *refusal_notes(history),
            *other_work_notes(history),
            *grant_notes(history, seen),
            *complaint_notes(history),
            *shape_notes(spec.workload.objective, seen, samples),
            *stability_notes(claims.get(arm)),
        ),
        warm_start=warm_start_result(
            spec.earlier, history, guided=bool(spec.earlier) and race.guided
        ),
    )


def _recommendation(
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
    spec, history, found = race.spec, race.history, claims.get(arm)
    better = found is not None and _better(found, required)
    lossy = not may_win(history, arm)
    wins = better and not lossy
    unproven = None if wins else unproven_recommendation(race, claims, required)
    if unproven is not None:
        return unproven
    if found is None:
        sentences = (
            _without_claim(race, arm, done),
            default_requirement_sentence(spec, required, DEFAULT_ARM.name),
        )
        sentence = " ".join(filter(None, sentences))
    else:
        disturbers = disturbance_sources_of(history)
        sentence = (
            required_verdict(spec, found, required, DEFAULT_ARM.name, disturbers)
            if required
            else tuning_verdict(spec, found, disturbers)
        )
        if lossy and better:
            sentence = unreliable_winner_verdict(sentence, *count_losses(history, arm))
    kept = Recommendation(
        settings=arm.configuration if wins else DEFAULT_ARM.configuration,
        script="",
        sentence=sentence,
        claim=found,
        status=RecommendationStatus.PROVEN if wins else RecommendationStatus.DEFAULT,
    )
    if wins or found is not None or history.blocks(Stage.CONFIRM):
        return kept
    return with_proof_cost(kept, race, done)


def _shown_arms(
    race: TuneRace, running: ConfirmedArms | None, chosen: Arm
) -> tuple[list[Arm], Stage]:
    """Return the arms of the answer, and the stage of their values."""
    history = race.history
    arms = [DEFAULT_ARM, *((NULL_ARM,) if race.spec.null else ())]
    if history.blocks(Stage.CONFIRM):
        if running is not None:
            arms += sorted(running.arms, key=lambda one: one != chosen)
        return arms, Stage.CONFIRM
    if chosen != DEFAULT_ARM:
        arms.append(chosen)
    return arms, _fullest_stage(history)


def _better(found: Claim, required: Sequence[RequirementResult]) -> bool:
    """Return whether a confirmed arm is preferable to the default.

    Without requirements, or if the default meets them, its gain decides. If the default violates
    them, an arm that meets them is preferable.
    """
    keeps, before = (overall_verdict(required, name) for name in (found.b, found.a))
    if keeps not in (None, RequirementVerdict.HOLDS):
        return False
    return found.verdict is Verdict.FASTER or before is RequirementVerdict.BROKEN


def _tune_front(
    spec: StudySpec,
    samples: Sequence[Sample],
    space: SearchSpace,
    searcher: Searcher,
    done: Ending | None,
) -> Conclusion:
    """Return the conclusion for several objectives."""
    race = FrontRace(spec, space, searcher)
    for sample in samples:
        race.tell(sample)
    history, objectives = race.history, race.objectives
    points = confirmed_points(history, NULL_ARM)
    alpha = front_alpha(spec, max(1, len(points)))
    default = _losses_in_any(objectives, DEFAULT_ARM)
    failing = [arm for arm in points if fails_more(_losses_in_any(objectives, arm), default)]
    seen = sorted_points(judge_points(objectives, points, failing, alpha), objectives)
    front = tuple(point for point in seen if point.off is None)
    off = tuple(point for point in seen if point.off is not None)
    first = first_choice(front, spec.targets[0].name)
    claim = first.claim_on(spec.targets[0].name) if first else None
    sentence = front_verdict(spec, front, off) if points else _without_front(race, done)
    arms = [DEFAULT_ARM, *((NULL_ARM,) if spec.null else ()), *_as_shown(points, seen)]
    stage = Stage.CONFIRM if history.blocks(Stage.CONFIRM) else _fullest_stage(history)
    arm_results = tuple(result_of(spec, history, stage, arm) for arm in arms)
    claims = (point.claim_on(spec.targets[0].name) for point in seen)
    return msgspec.structs.replace(
        _counts(spec, history, arm_results, _stopped(done)),
        claims=tuple(found for found in claims if found is not None),
        recommendation=Recommendation(
            settings=first.settings if first else DEFAULT_ARM.configuration,
            script="",
            sentence=sentence,
            claim=claim,
        ),
        front=front,
        off_front=off,
        noise_floor=claims_between(objectives[:1], (DEFAULT_ARM.name, NULL_ARM.name), alpha)[0]
        if spec.null
        else None,
        configurations=len({s.launch.configuration for s in samples}),
        notes=(
            *loss_notes(spec.workload, samples),
            *instance_count_notes(spec),
            *disturbance_notes(spec, history, [c for point in seen for c in point.claims]),
            *refusal_notes(history),
            *other_work_notes(history),
            *grant_notes(history, arm_results),
            *complaint_notes(history),
            *shape_notes(spec.workload.objective, arm_results, samples),
            *stability_notes(claim),
        ),
    )


def _as_shown(points: Sequence[Arm], shown: Sequence[FrontPoint]) -> list[Arm]:
    """Return arms in the order of their points in the answer."""
    by_name = {arm.name: arm for arm in points}
    return [by_name[point.name] for point in shown]


def _losses_in_any(objectives: Sequence[ObjectiveView], arm: Arm) -> tuple[int, int]:
    """Return the losses of an arm in the objective that it most often lacks."""
    return max(count_losses(view.history, arm) for view in objectives)


def _without_front(race: FrontRace, done: Ending | None) -> str:
    """Return the answer of a search by several objectives without a confirmed point."""
    tried = [a for a in race.history.arms(Stage.SEARCH) if a != DEFAULT_ARM]
    zeros = _zeros_in_any([view.history for view in race.objectives], [DEFAULT_ARM, *tried])
    if zeros is not None:
        return zeros
    if not tried or done is None or done.reason is EndReason.NOTHING_TO_TRY:
        return wording.NOTHING_ELSE_TO_TRY
    if not any(race.history.known(Stage.SEARCH, a.name) for a in tried):
        return wording.all_others_failed(*_losses_in_any(race.objectives, DEFAULT_ARM))
    if not race.candidates:
        return wording.no_better_in(alternatives([view.metric for view in race.objectives]))
    return wording.front_not_confirmed(race.candidates[0].name)


def _without_claim(race: TuneRace, confirmed_arm: Arm, done: Ending | None) -> str:
    """Return the answer of a search without a claim."""
    tried = [a for a in race.history.arms(Stage.SEARCH) if a != DEFAULT_ARM]
    history = race.history
    zeros = _zeros_in_any([history], [DEFAULT_ARM, *tried])
    if zeros is not None:
        return zeros
    if not tried and done is not None and done.needed is not None:
        return only_default_answer(race.spec, history, done.needed)
    if done is None or done.reason is EndReason.NOTHING_TO_TRY:
        return wording.NOTHING_ELSE_TO_TRY
    if confirmed_arm != DEFAULT_ARM:
        return wording.winner_without_value(confirmed_arm.name)
    if tried and not any(race.history.known(Stage.SEARCH, a.name) for a in tried):
        names = [DEFAULT_ARM.name, *(arm.name for arm in tried)]
        objection = objection_to(race.spec.workload.objective, history, names)
        if objection is not None:
            return wording.keep_default(objection)
        return wording.all_others_failed(*count_losses(history, DEFAULT_ARM))
    objective = race.spec.workload.objective
    for arm in tried if race.winner == DEFAULT_ARM else ():
        units = unit_objection(objective, history, (DEFAULT_ARM.name, arm.name))
        if units is not None:
            return wording.keep_default(units)
    if race.winner == DEFAULT_ARM and is_default_infeasible(trials_of(history)):
        return wording.no_configuration_meets(race.spec)
    if race.winner == DEFAULT_ARM and done.reason is EndReason.BUDGET:
        return wording.none_clearly_better(len(tried))
    failed = _failed_launches(history, tried)
    if race.winner == DEFAULT_ARM and len({s.launch.arm for s in failed}) == len(tried):
        before = [
            text
            for arm in tried
            if (text := describe_first_successes(history.launches_of(arm.name)))
        ]
        failures = reasons_by_arm(race.spec.workload, failed)
        return wording.others_failed_sometimes(failures, before[0] if before else "")
    if race.winner == DEFAULT_ARM:
        return wording.NO_BETTER_CONFIGURATION
    if done.reason is EndReason.BUDGET:
        return wording.winner_not_certain(race.winner.name)
    return wording.winner_not_better(race.winner.name)


def _zeros_in_any(histories: Iterable[History], arms: Sequence[Arm]) -> str | None:
    """Return the answer where values of an arm cannot be compared; ``None`` otherwise.

    Args:
        histories: one for each objective.
        arms: arms that were tried, the default first; its first launch counts.
    """
    for history, arm in itertools.product(histories, arms):
        samples = [s for s in history.launches_of(arm.name) if s.outcome is Outcome.OK]
        objection = zeros_objection_to(history.metric.name, arm.name, samples, MAX_MISSING_SHARE)
        if objection is not None:
            return wording.undecidable_sentence(objection)
    return None


def _failed_launches(history: History, arms: Sequence[Arm]) -> list[Sample]:
    """Return the launches of arms that failed or hit a limit."""
    lost = (Outcome.FAILED, Outcome.LIMIT)
    return [s for arm in arms for s in history.launches_of(arm.name) if s.outcome in lost]


def _fullest_stage(history: History) -> Stage:
    """Return the stage with most values of the default, for a summary without a confirmation."""
    stages = (Stage.SEARCH, Stage.REDUCE, Stage.GAUGE, Stage.SURVEY)
    return max(stages, key=lambda stage: len(history.values(stage, DEFAULT_ARM.name)))


def _shown_stage(history: History, stage: Stage, arm: Arm) -> Stage:
    """Return the stage of the shown values of an arm: the confirmation, or one with values."""
    if stage is Stage.CONFIRM or history.values(stage, arm.name):
        return stage
    known = (one for one in Stage if history.values(one, arm.name))
    return max(known, key=lambda one: len(history.values(one, arm.name)), default=stage)


def _null_claim(spec: StudySpec, history: History) -> Claim | None:
    """Return the claim on the repeat of the default."""
    return claim_on_tuned(spec, history, NULL_ARM) if spec.null else None


def _counts(
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
        stopped=stopped,
    )


def _seen(
    spec: StudySpec,
    history: History,
    arms: Sequence[Arm],
    stopped: str,
    claims: Sequence[Claim | None] = (),
) -> Conclusion:
    """Return a conclusion with summaries of named arms, and notes on them."""
    found = tuple(result_of(spec, history, Stage.CONFIRM, arm) for arm in arms)
    notes = (
        *loss_notes(spec.workload, history.samples),
        *instance_count_notes(spec),
        *disturbance_notes(spec, history, claims),
        *grant_notes(history, found),
        *complaint_notes(history),
        *shape_notes(spec.workload.objective, found, history.samples),
        *outlier_notes(spec, history, arms, found),
    )
    return msgspec.structs.replace(
        _counts(spec, history, found, stopped),
        requirements=requirement_results(spec, history, [a for a in arms if a in spec.arms]),
        notes=notes,
    )


def _compare(spec: StudySpec, samples: Sequence[Sample], stopped: str) -> Conclusion:
    history = History.of(spec, samples)
    alpha = claim_alpha(spec)
    claims, steps = (
        [claim_between(spec, history, pair, alpha) for pair in pairs]
        for pairs in (claimed_pairs(spec), step_pairs(spec))
    )
    compared, floor = _apart(spec, claims)
    seen = _seen(spec, history, compared_arms(spec), stopped, claims)
    return msgspec.structs.replace(
        seen,
        claims=compared,
        steps=tuple(claim for claim in steps if claim is not None),
        noise_floor=floor,
        elsewhere=compare_environments(spec, seen.arms),
    )


def _apart(
    spec: StudySpec, claims: Sequence[Claim | None]
) -> tuple[tuple[Claim, ...], Claim | None]:
    """Return the claims on compared arms, and the claim on the repeat of the first arm."""
    null = null_name(spec.arms[0].name) if spec.null else None
    known = [claim for claim in claims if claim is not None]
    return (
        tuple(claim for claim in known if claim.b != null),
        next((claim for claim in known if claim.b == null), None),
    )


def _measure(spec: StudySpec, samples: Sequence[Sample], stopped: str) -> Conclusion:
    return _seen(spec, History.of(spec, samples), (spec.arms[0],), stopped)


def _sweep(spec: StudySpec, samples: Sequence[Sample], stopped: str) -> Conclusion:
    history = History.of(spec, samples)
    arms = compared_arms(spec)
    alpha = sweep_alpha(spec)
    claims, floor = _apart(spec, [sweep_claim(spec, history, arms, arm, alpha) for arm in arms[1:]])
    cells = tuple(result_of(spec, history, Stage.CONFIRM, arm) for arm in arms)
    found = msgspec.structs.replace(
        _counts(spec, history, cells, stopped),
        claims=claims,
        effects=effects_of(spec, history, alpha),
        requirements=requirement_results(spec, history, spec.arms),
        noise_floor=floor,
        notes=(
            *(spec.design.notes if spec.design else ()),
            *too_few_blocks_notes(spec),
            *loss_notes(spec.workload, samples),
            *instance_count_notes(spec),
            *disturbance_notes(spec, history, claims),
            *cell_grant_notes(history),
            *complaint_notes(history),
        ),
    )
    # Only the cells of the answer, since there may be hundreds.
    best = best_claim(found)
    shown = tuple(r for r in cells if r is cells[0] or (best is not None and r.name == best.b))
    shape = shape_notes(spec.workload.objective, shown, samples)
    return msgspec.structs.replace(found, notes=(*found.notes, *shape))


def _calibrate(spec: StudySpec, samples: Sequence[Sample], stopped: str) -> Conclusion:
    history = History.of(spec, samples)
    arms = calibrated_arms(spec)
    floor = claim_between(spec, history, (arms[0].name, arms[1].name), spec.alpha)
    seen = _seen(spec, history, arms, stopped)
    recorded = recording(spec, history)
    return msgspec.structs.replace(
        seen,
        noise_floor=floor,
        calibration=calibration_of(recorded, alpha=spec.alpha, margin=spec.margin, seed=spec.seed),
        notes=(*seen.notes, *calibration_notes(floor, len(history.summarised(Stage.CONFIRM)))),
    )
