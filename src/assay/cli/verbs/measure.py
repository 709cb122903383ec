"""``assay measure``: repeated launches of one configuration."""

from __future__ import annotations

import os

from assay.cli.arguments.common import CommonOptions, common_options
from assay.cli.arguments.measure import measure_request
from assay.cli.arguments.study_groups import export_paths
from assay.cli.boot_pauses import prepare_boot_settings
from assay.cli.composition import laboratory, opened_store
from assay.cli.parsing.parser import Parsed
from assay.cli.process.long_grace import warn_of_long_grace
from assay.cli.process.parallel_job import warn_of_parallel_job
from assay.cli.process.unused_input import warn_of_unused_input
from assay.cli.requests.assigned import configuration_of
from assay.cli.requests.built import program_before, with_built
from assay.cli.requests.reserving import in_share
from assay.cli.requests.workload import resolve_workload
from assay.cli.show.answer import deliver_answer
from assay.cli.show.gate import gate_status
from assay.cli.show.progress import Progress, uses_live_line
from assay.records import Arm, Kind, Sample, StudySpec
from assay.requests.measure import MeasureRequest
from assay.study.laboratory import Laboratory
from assay.study.session import StudyResult, begin


def run(parsed: Parsed) -> int:
    """Run the verb."""
    request, options = measure_request(parsed), common_options(parsed)
    exports = export_paths(parsed)
    workload = request.workload
    program = program_before(workload.argv, builds=workload.build is not None)
    lab = laboratory(program, helper=options.helper)
    with in_share(lab, request.reserve, seed=request.seed, quiet=options.quiet) as placed:
        result, samples = _measure(request, options, placed)
    deliver_answer(result, samples, exports, json=options.json)
    return gate_status(request.gate, result)


def _measure(
    request: MeasureRequest, options: CommonOptions, lab: Laboratory
) -> tuple[StudyResult, list[Sample]]:
    configuration = configuration_of(request.settings, lab.registry, lab.machine)
    workload = resolve_workload(request.workload, configurations=(configuration,))
    warn_of_unused_input(workload, quiet=options.quiet)
    warn_of_long_grace(workload, request.budget, quiet=options.quiet)
    warn_of_parallel_job(os.environ, quiet=options.quiet)
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
    lab = with_built(lab, spec, quiet=options.quiet)
    lab, spec = prepare_boot_settings(request.boot, lab, spec, quiet=options.quiet)
    with (
        opened_store(options.db) as store,
        Progress(spec, live=uses_live_line(options.color), quiet=options.quiet) as progress,
    ):
        result = begin(lab, store, spec, progress)
        return result, store.samples(result.study_id)
