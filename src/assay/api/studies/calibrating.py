"""Execution of ``CalibrateRequest``."""

from __future__ import annotations

import os
import sys

from assay.api.composition import laboratory, opened_store, program_of
from assay.api.context import Context
from assay.api.options.missing import demand_found
from assay.errors import NotPossibleError
from assay.records import Kind, StudySpec, Workload
from assay.records.calibration import BUILT_IN_LOAD
from assay.requests.calibrate import CalibrateRequest
from assay.search.history.history import DEFAULT_ARM
from assay.study.result import StudyResult
from assay.study.session import begin


def calibrate(request: CalibrateRequest, context: Context) -> StudyResult:
    """Measure the noise of this machine with two identical arms.

    Raises:
        AssayError: the request is invalid, or the study fails.
    """
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
    lab = laboratory(context, program)
    with opened_store(context.db) as store, context.observer.listening(spec) as listener:
        return begin(lab, store, spec, listener, stop=context.stop)


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
