"""Execution of ``MeasureRequest``."""

from __future__ import annotations

from assay.api.composition import laboratory, opened_store
from assay.api.context import Context
from assay.api.options.assigned import configuration_of
from assay.api.options.workload import resolve_workload
from assay.api.studies.boot_settings import prepare_boot_settings
from assay.api.studies.built import program_before, with_built
from assay.api.studies.reserving import in_share
from assay.records import Arm, Kind, StudySpec
from assay.requests.measure import MeasureRequest
from assay.study.laboratory import Laboratory
from assay.study.result import StudyResult
from assay.study.session import begin


def measure(request: MeasureRequest, context: Context) -> StudyResult:
    """Launch one configuration repeatedly; return the result.

    Raises:
        AssayError: the request is invalid, or the study fails.
    """
    workload = request.workload
    program = program_before(workload.argv, builds=workload.build is not None)
    lab = laboratory(context, program)
    with in_share(lab, request.reserve, context.observer, seed=request.seed) as placed:
        return _measure(request, context, placed)


def _measure(request: MeasureRequest, context: Context, lab: Laboratory) -> StudyResult:
    observer = context.observer
    configuration = configuration_of(request.settings, lab.registry, lab.machine)
    workload = resolve_workload(request.workload, configurations=(configuration,))
    observer.workload_known(workload, request.budget)
    spec = StudySpec(
        kind=Kind.MEASURE,
        workload=workload,
        budget=request.budget,
        arms=(Arm(name=str(configuration), configuration=configuration),),
        precision=request.precision,
        seed=request.seed,
        disturbed_above=request.disturbed_above,
        requested_observations=request.observe,
        until=request.until,
        warmup=request.warmup,
        requirements=request.require,
        reserve=request.reserve,
    )
    lab = with_built(lab, spec, observer.building)
    lab, spec = prepare_boot_settings(request.boot, lab, spec, observer)
    with opened_store(context.db) as store, observer.listening(spec) as listener:
        return begin(lab, store, spec, listener, stop=context.stop)
