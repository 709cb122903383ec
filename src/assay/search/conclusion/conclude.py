"""Conclusion of a study: a function of its specification and its samples alone.

The re-analysis of stored samples uses it too, so that anyone with the samples of a study can verify
its verdict document.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.records import Conclusion, Kind, Sample, StudySpec
from assay.records.sample import REVISION
from assay.search.conclusion.boots import boot_notes
from assay.search.conclusion.comparison import (
    conclude_calibration,
    conclude_comparison,
    conclude_measurement,
)
from assay.search.conclusion.fidelity import fidelity_notes
from assay.search.conclusion.front_search import conclude_front_search
from assay.search.conclusion.notes import observing_notes
from assay.search.conclusion.progress_notes import progress_notes
from assay.search.conclusion.search import conclude_search
from assay.search.conclusion.summary import ending_message
from assay.search.conclusion.sweep import conclude_sweep
from assay.search.conclusion.trial_words import in_own_words
from assay.search.history.carry_over import carry_over_notes
from assay.search.history.failure_order import failure_order_notes
from assay.search.history.first_launch import first_launch_notes, warm_up_notes
from assay.search.history.kernels import kernels_of
from assay.search.history.packed_samples import select, with_evidence
from assay.search.history.remaining_processes import remaining_process_notes
from assay.search.history.termination import termination_notes
from assay.search.history.thread_counts import thread_count_notes
from assay.search.history.trend import trend_notes
from assay.search.history.waiting import waiting_notes
from assay.search.model.searcher import Searcher
from assay.search.races.race import Ending
from assay.search.space.search_space import SearchSpace
from assay.search.space.switching import switching_cost
from assay.wording.revisions import revision_notes
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
    conclusion = _conclude_kind(spec, samples, space, searcher, done)
    kernels = kernels_of(samples)
    whole = samples  # without a copy: a study may have 100,000 samples
    if spec.fidelity is not None:
        whole = [sample for sample in samples if sample.launch.fidelity is None]
    conclusion = msgspec.structs.replace(
        conclusion,
        switching=switching_cost(spec, samples),
        notes=(
            *conclusion.notes,
            *fidelity_notes(spec, conclusion.fidelity),
            *progress_notes(spec, whole, conclusion.arms),
            *boot_notes(spec, samples, kernels),
            *revision_notes(with_evidence(samples, REVISION)),
            *remaining_process_notes(samples),
            *termination_notes(samples),
            *failure_order_notes(whole),
            *first_launch_notes(whole),
            *warm_up_notes(spec.kind, whole),
            *waiting_notes(whole),
            *thread_count_notes(whole),
            *trend_notes(spec, whole),
            *carry_over_notes(spec, whole),
            *suspect_notes(select(samples, lambda shape: shape.suspect), len(samples)),
            *observing_notes(spec, samples),
        ),
        kernels=kernels,
    )
    conclusion = in_own_words(spec, samples, conclusion)
    return msgspec.structs.replace(conclusion, stop_code=str(done.reason)) if done else conclusion


def _conclude_kind(
    spec: StudySpec,
    samples: Sequence[Sample],
    space: SearchSpace,
    searcher: Searcher,
    done: Ending | None,
) -> Conclusion:
    """Return the part of the conclusion that depends on the kind of the study."""
    stopped = ending_message(done)
    match spec.kind:
        case Kind.TUNE if spec.objectives:
            return conclude_front_search(spec, samples, space, searcher, done)
        case Kind.TUNE:
            return conclude_search(spec, samples, space, searcher, done)
        case Kind.COMPARE:
            return conclude_comparison(spec, samples, stopped)
        case Kind.MEASURE:
            return conclude_measurement(spec, samples, stopped)
        case Kind.SWEEP:
            return conclude_sweep(spec, samples, stopped)
        case Kind.CALIBRATE:
            return conclude_calibration(spec, samples, stopped)
