"""Conclusions on named arms: comparison, measurement and calibration."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.records import Conclusion, Sample, Stage, StudySpec
from assay.search.claims.calibration import calibration_notes, calibration_of
from assay.search.claims.claims import claim_between
from assay.search.conclusion.dependence import dependence_notes
from assay.search.conclusion.summary import split_null_claim, summarise_arms
from assay.search.history.cross_environment import compare_environments
from assay.search.history.history import History
from assay.search.history.trend import trend_notes
from assay.search.races.calibrate import calibrated_arms, recording
from assay.search.races.compare import claim_alpha, claimed_pairs, compared_arms, step_pairs


def conclude_comparison(spec: StudySpec, samples: Sequence[Sample], stopped: str) -> Conclusion:
    """Return the conclusion of a comparison; see ``conclude``."""
    history = History.of(spec, samples)
    alpha = claim_alpha(spec)
    claims, steps = (
        [claim_between(spec, history, pair, alpha) for pair in pairs]
        for pairs in (claimed_pairs(spec), step_pairs(spec))
    )
    compared, noise_floor = split_null_claim(spec, claims)
    summary = summarise_arms(spec, history, compared_arms(spec), stopped, claims)
    return msgspec.structs.replace(
        summary,
        claims=compared,
        steps=tuple(claim for claim in steps if claim is not None),
        noise_floor=noise_floor,
        cross_environment=compare_environments(spec, summary.arms),
    )


def conclude_measurement(spec: StudySpec, samples: Sequence[Sample], stopped: str) -> Conclusion:
    """Return the conclusion of a measurement; see ``conclude``."""
    history = History.of(spec, samples)
    found = summarise_arms(spec, history, (spec.arms[0],), stopped)
    notes = dependence_notes(spec, history, found.arms[0])
    if notes and trend_notes(spec, samples):
        notes = []  # the trend is the dependence, and has a note
    return msgspec.structs.replace(found, notes=(*found.notes, *notes))


def conclude_calibration(spec: StudySpec, samples: Sequence[Sample], stopped: str) -> Conclusion:
    """Return the conclusion of a calibration; see ``conclude``."""
    history = History.of(spec, samples)
    arms = calibrated_arms(spec)
    noise_floor = claim_between(spec, history, (arms[0].name, arms[1].name), spec.alpha)
    summary = summarise_arms(spec, history, arms, stopped)
    recorded = recording(spec, history)
    blocks = len(history.summarised(Stage.CONFIRM))
    return msgspec.structs.replace(
        summary,
        noise_floor=noise_floor,
        calibration=calibration_of(recorded, alpha=spec.alpha, margin=spec.margin, seed=spec.seed),
        notes=(*summary.notes, *calibration_notes(noise_floor, blocks)),
    )
