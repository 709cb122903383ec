"""Conclusion of a sweep."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.records import Conclusion, Sample, Stage, StudySpec
from assay.search.claims.effects import effects_of
from assay.search.claims.requirement import requirement_results
from assay.search.conclusion.cells import best_claim
from assay.search.conclusion.notes import (
    cell_grant_notes,
    disturbance_notes,
    loss_notes,
    shape_notes,
    too_few_blocks_notes,
)
from assay.search.conclusion.summary import split_null_claim, summarise_launches
from assay.search.history.arm_result import launches_by_arm, results_of
from assay.search.history.complaints import complaint_notes
from assay.search.history.history import History
from assay.search.races.compare import compared_arms
from assay.search.races.sweep import sweep_alpha, sweep_claim
from assay.search.space.comparability import instance_count_notes
from assay.wording.sweep import problem_notes


def conclude_sweep(spec: StudySpec, samples: Sequence[Sample], stopped: str) -> Conclusion:
    """Return the conclusion of a sweep; see ``conclude``."""
    history = History.of(spec, samples)
    arms = compared_arms(spec)
    alpha = sweep_alpha(spec)
    claims, noise_floor = split_null_claim(
        spec, [sweep_claim(spec, history, arms, arm, alpha) for arm in arms[1:]]
    )
    launches = launches_by_arm(history, Stage.CONFIRM, arms)
    cells = results_of(spec, history, Stage.CONFIRM, arms, launches)
    conclusion = msgspec.structs.replace(
        summarise_launches(spec, history, cells, stopped),
        claims=claims,
        effects=effects_of(spec, history, alpha),
        requirements=requirement_results(spec, history, spec.arms),
        noise_floor=noise_floor,
        notes=(
            *(spec.design.notes if spec.design else ()),
            *too_few_blocks_notes(spec),
            *loss_notes(spec.workload, samples),
            *instance_count_notes(spec),
            *disturbance_notes(spec, history, claims),
            *problem_notes(claims),
            *cell_grant_notes(history),
            *complaint_notes(history),
        ),
    )
    # Only the cells of the answer, since there may be hundreds.
    best = best_claim(conclusion)
    shown = tuple(r for r in cells if r is cells[0] or (best is not None and r.name == best.b))
    shape = shape_notes(spec.workload.objective, shown, samples)
    return msgspec.structs.replace(conclusion, notes=(*conclusion.notes, *shape))
