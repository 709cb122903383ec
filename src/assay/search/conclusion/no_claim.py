"""Answers of searches without a claim: the reason why the default is kept."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from assay.records import Arm, Outcome, Sample, Stage
from assay.search.claims.objections import MAX_MISSING_SHARE, objection_to, unit_objection
from assay.search.conclusion.unproven import only_default_answer
from assay.search.history.failure_order import describe_first_successes
from assay.search.history.history import DEFAULT_ARM, History
from assay.search.history.losses import count_losses
from assay.search.history.objective_view import ObjectiveView
from assay.search.history.zeros import zeros_objection_to
from assay.search.model.feasibility import is_default_infeasible
from assay.search.model.trials import trials_of
from assay.search.races.front import FrontRace
from assay.search.races.race import Ending, EndReason
from assay.search.races.tune import TuneRace
from assay.search.races.violating import best_violating_arm
from assay.units import show_quantity
from assay.wording import recommendation as wording
from assay.wording.failure import reasons_by_arm
from assay.wording.front import alternatives
from assay.wording.requirement import unit_of
from assay.wording.unreached import is_unreached


def sentence_without_claim(race: TuneRace, confirmed_arm: Arm, done: Ending | None) -> str:
    """Return the answer of a search without a claim."""
    tried = [a for a in race.history.arms(Stage.SEARCH) if a != DEFAULT_ARM]
    history, objective = race.history, race.spec.workload.objective
    zeros = _zeros_sentence([history], [DEFAULT_ARM, *tried])
    if zeros is not None:
        return zeros
    if not tried and done is not None and done.needed is not None:
        return only_default_answer(race.spec, history, done.needed)
    if done is None:
        return wording.INTERIM_DEFAULT  # the study was interrupted
    if done.reason is EndReason.NOTHING_TO_TRY:
        return wording.NOTHING_ELSE_TO_TRY
    if confirmed_arm != DEFAULT_ARM:
        return wording.winner_without_value(confirmed_arm.name)
    if tried and not any(race.history.known(Stage.SEARCH, a.name) for a in tried):
        names = [DEFAULT_ARM.name, *(arm.name for arm in tried)]
        objection = objection_to(objective, history, names)
        if objection is not None:
            return wording.keep_default(objection)
        if all(is_unreached(s, objective) for arm in tried for s in history.launches_of(arm.name)):
            return wording.no_other_reached(objective)
        return wording.all_others_failed(*count_losses(history, DEFAULT_ARM))
    for arm in tried if race.winner == DEFAULT_ARM else ():
        units = unit_objection(objective, history, (DEFAULT_ARM.name, arm.name))
        if units is not None:
            return wording.keep_default(units)
    if race.winner == DEFAULT_ARM and is_default_infeasible(trials_of(history)):
        return wording.no_configuration_meets(race.spec)
    violating = best_violating_arm(race.spec, history) if race.winner == DEFAULT_ARM else None
    if violating is not None:
        return wording.better_one_violates(
            race.spec,
            violating.arm.name,
            violating.ratio,
            violating.requirement,
            show_quantity(violating.value, unit_of(race.spec, violating.requirement.metric)),
            violating.launches,
        )
    if race.winner == DEFAULT_ARM and done.reason is EndReason.BUDGET:
        return wording.none_clearly_better(len(tried))
    failed = _failed_launches(history, tried)
    if race.winner == DEFAULT_ARM and len({s.launch.arm for s in failed}) == len(tried):
        successes = [
            text
            for arm in tried
            if (text := describe_first_successes(history.launches_of(arm.name)))
        ]
        failures = reasons_by_arm(race.spec.workload, failed)
        return wording.others_failed_sometimes(failures, successes[0] if successes else "")
    if race.winner == DEFAULT_ARM:
        return wording.NO_BETTER_CONFIGURATION
    if done.reason is EndReason.BUDGET:
        return wording.winner_not_certain(race.winner.name)
    return wording.winner_not_better(race.winner.name)


def front_sentence_without_points(race: FrontRace, done: Ending | None) -> str:
    """Return the answer of a search by several objectives without a confirmed point."""
    tried = [a for a in race.history.arms(Stage.SEARCH) if a != DEFAULT_ARM]
    zeros = _zeros_sentence([view.history for view in race.objectives], [DEFAULT_ARM, *tried])
    if zeros is not None:
        return zeros
    if done is None:
        return wording.INTERIM_DEFAULT
    if not tried or done.reason is EndReason.NOTHING_TO_TRY:
        return wording.NOTHING_ELSE_TO_TRY
    if not any(race.history.known(Stage.SEARCH, a.name) for a in tried):
        return wording.all_others_failed(*max_losses(race.objectives, DEFAULT_ARM))
    if not race.candidates:
        return wording.no_better_in(alternatives([view.metric for view in race.objectives]))
    return wording.front_not_confirmed(race.candidates[0].name)


def max_losses(objectives: Sequence[ObjectiveView], arm: Arm) -> tuple[int, int]:
    """Return the losses of an arm in the objective that it most often lacks."""
    return max(count_losses(view.history, arm) for view in objectives)


def _zeros_sentence(histories: Iterable[History], arms: Sequence[Arm]) -> str | None:
    """Return the answer where values of an arm cannot be compared; ``None`` otherwise.

    Args:
        histories: one for each objective.
        arms: arms that were tried, the default first; its first launch counts.
    """
    for history, arm in itertools.product(histories, arms):
        samples = [s for s in history.launches_of(arm.name) if s.outcome.succeeded]
        objection = zeros_objection_to(history.metric.name, arm.name, samples, MAX_MISSING_SHARE)
        if objection is not None:
            return wording.undecidable_sentence(objection)
    return None


def _failed_launches(history: History, arms: Sequence[Arm]) -> list[Sample]:
    """Return the launches of arms that failed or hit a limit."""
    lost = (Outcome.FAILED, Outcome.LIMIT)
    return [s for arm in arms for s in history.launches_of(arm.name) if s.outcome in lost]
