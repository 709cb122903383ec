"""Execution of ``ResumeRequest``."""

from __future__ import annotations

from assay.api.composition import laboratory_of
from assay.api.context import Context
from assay.api.studies.built import with_built, with_cached_build
from assay.api.studies.confirming import demand_programs
from assay.api.studies.reserving import in_share
from assay.records import Status
from assay.requests.stored_study import ResumeRequest
from assay.store import Store
from assay.study.firmware import demand_varied, with_firmware_values
from assay.study.in_process import demand_launchable
from assay.study.result import StudyResult, finished_result
from assay.study.session import resume


def resume_study(
    request: ResumeRequest, context: Context, store: Store, study_id: str
) -> StudyResult:
    """Resume a study; return the result of its newest stratum.

    Args:
        request: request with an additional budget.
        context: context of the request.
        store: store of the study.
        study_id: id of the study.

    Raises:
        AssayError: the study cannot be resumed, or fails.
    """
    record = store.study(study_id)
    demand_launchable(record)
    spec = record.spec
    confirmed = request.boot.confirmed
    lab = with_firmware_values(laboratory_of(spec, context), spec, confirmed)
    demand_varied(confirmed, spec)
    if record.status is Status.DONE and request.budget is None and not request.new_stratum:
        found = finished_result(with_cached_build(lab, spec), store, record)
        if found is not None:
            return found
    observer = context.observer
    with in_share(lab, spec.reserve, observer, seed=spec.seed) as placed:
        placed = placed.divided(spec.parallel)
        placed = with_built(placed, spec, observer.building)
        if request.new_stratum:  # otherwise resume compares the program, and names it
            demand_programs(placed, study_id)
        with observer.listening(spec, launches=record.launches) as listener:
            return resume(
                placed,
                store,
                study_id,
                listener,
                new_stratum=request.new_stratum,
                more=request.budget,
                stop=context.stop,
            )
