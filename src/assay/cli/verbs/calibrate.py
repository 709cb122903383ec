"""``assay study calibrate``: noise of the machine, and errors of assay, from identical arms."""

from __future__ import annotations

import os
import sys

from assay.cli.arguments.calibrate import calibrate_request
from assay.cli.arguments.common import CommonOptions, common_options
from assay.cli.composition import laboratory, opened_store, program_of
from assay.cli.parsing.parser import Parsed
from assay.cli.requests.missing import demand_found
from assay.cli.show.answer import deliver_answer
from assay.cli.show.progress import Progress, uses_live_line
from assay.errors import NotPossibleError
from assay.records import Kind, StudySpec, Workload
from assay.records.calibration import BUILT_IN_LOAD
from assay.requests.calibrate import CalibrateRequest, OverheadRequest
from assay.search.history.history import DEFAULT_ARM
from assay.study.session import begin


def run(parsed: Parsed) -> int:
    """Run the action."""
    request, options = calibrate_request(parsed), common_options(parsed)
    if isinstance(request, OverheadRequest):
        from assay.cli.verbs.overhead import measure_overhead

        return measure_overhead(request, options)
    return _calibrate(request, options)


def _calibrate(request: CalibrateRequest, options: CommonOptions) -> int:
    argv = request.argv or _built_in_argv()
    program = program_of(argv)
    demand_found(program.path, program.missing or argv[0])
    spec = StudySpec(
        kind=Kind.CALIBRATE,
        workload=Workload(argv=argv, cwd=os.getcwd()),  # noqa: PTH109 - of the launch
        budget=request.budget,
        arms=(DEFAULT_ARM,),
        seed=request.seed,
        disturbed_above=request.disturbed_above,
        requested_observations=request.observe,
    )
    lab = laboratory(program, helper=options.helper)
    with (
        opened_store(options.db) as store,
        Progress(spec, live=uses_live_line(options.color), quiet=options.quiet) as progress,
    ):
        result = begin(lab, store, spec, progress)
    deliver_answer(result, (), (), json=options.json)
    return 0


def _built_in_argv() -> tuple[str, ...]:
    """Return the command of the built-in load.

    Raises:
        NotPossibleError: the Python interpreter is unknown.
    """
    if not sys.executable:
        raise NotPossibleError(
            "The built-in load needs the Python interpreter that runs assay, which is not known.",
            "Give a command of your own: assay study calibrate -- ./app",
        )
    return (sys.executable, *BUILT_IN_LOAD)
