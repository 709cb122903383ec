"""Conclusion of a search by several objectives."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.records import Arm, Conclusion, FrontPoint, Recommendation, Sample, Stage, StudySpec
from assay.search.claims.front_claims import (
    claims_between,
    confirmed_points,
    first_choice,
    front_alpha,
    judge_points,
    sorted_points,
)
from assay.search.conclusion.no_claim import front_sentence_without_points, max_losses
from assay.search.conclusion.notes import loss_notes
from assay.search.conclusion.summary import (
    ending_message,
    fullest_stage,
    search_notes,
    summarise_launches,
)
from assay.search.history.arm_result import result_of
from assay.search.history.history import DEFAULT_ARM
from assay.search.history.losses import fails_more
from assay.search.model.searcher import Searcher
from assay.search.races.front import FrontRace
from assay.search.races.race import Ending
from assay.search.races.search_race import NULL_ARM
from assay.search.space.search_space import SearchSpace
from assay.wording.front import front_verdict


def conclude_front_search(
    spec: StudySpec,
    samples: Sequence[Sample],
    space: SearchSpace,
    searcher: Searcher,
    done: Ending | None,
) -> Conclusion:
    """Return the conclusion of a search by several objectives; see ``conclude``."""
    race = FrontRace(spec, space, searcher)
    for sample in samples:
        race.tell(sample)
    history, objectives = race.history, race.objectives
    arms = confirmed_points(history, NULL_ARM)
    alpha = front_alpha(spec, max(1, len(arms)))
    default = max_losses(objectives, DEFAULT_ARM)
    failing = [arm for arm in arms if fails_more(max_losses(objectives, arm), default)]
    points = sorted_points(judge_points(objectives, arms, failing, alpha), objectives)
    front = tuple(point for point in points if point.exclusion is None)
    off = tuple(point for point in points if point.exclusion is not None)
    first = first_choice(front, spec.targets[0].name)
    claim = first.claim_on(spec.targets[0].name) if first else None
    sentence = (
        front_verdict(spec, front, off) if arms else front_sentence_without_points(race, done)
    )
    shown = [DEFAULT_ARM, *((NULL_ARM,) if spec.null else ()), *_in_order_of(points, arms)]
    stage = Stage.CONFIRM if history.blocks(Stage.CONFIRM) else fullest_stage(history)
    results = tuple(result_of(spec, history, stage, arm) for arm in shown)
    claims = (point.claim_on(spec.targets[0].name) for point in points)
    all_claims = [c for point in points for c in point.claims]
    return msgspec.structs.replace(
        summarise_launches(spec, history, results, ending_message(done)),
        claims=tuple(c for c in claims if c is not None),
        recommendation=Recommendation(
            settings=first.settings if first else DEFAULT_ARM.configuration,
            script="",
            sentence=sentence,
            claim=claim,
        ),
        pareto_front=front,
        excluded_points=off,
        noise_floor=claims_between(objectives[:1], (DEFAULT_ARM.name, NULL_ARM.name), alpha)[0]
        if spec.null
        else None,
        configurations=len({s.launch.configuration for s in samples}),
        notes=(
            *loss_notes(spec.workload, samples),
            *search_notes(spec, history, results, all_claims, claim),
        ),
    )


def _in_order_of(points: Sequence[FrontPoint], arms: Sequence[Arm]) -> list[Arm]:
    """Return arms in the order of their points."""
    by_name = {arm.name: arm for arm in arms}
    return [by_name[point.name] for point in points]
