"""``assay study calibrate``: noise of the machine, and errors of assay, from identical arms."""

from __future__ import annotations

from assay.api.studies.calibrating import calibrate
from assay.cli.announcements import context_of
from assay.cli.arguments.calibrate import calibrate_request
from assay.cli.arguments.common import common_options
from assay.cli.parsing.parser import Parsed
from assay.cli.show.answer import deliver_answer
from assay.requests.calibrate import OverheadRequest


def run(parsed: Parsed) -> int:
    """Run the action."""
    request, options = calibrate_request(parsed), common_options(parsed)
    if isinstance(request, OverheadRequest):
        from assay.cli.verbs.overhead import measure_overhead

        return measure_overhead(request, options)
    deliver_answer(calibrate(request, context_of(options)), (), json=options.json)
    return 0
