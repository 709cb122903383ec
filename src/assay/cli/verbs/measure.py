"""``assay measure``: repeated launches of one configuration."""

from __future__ import annotations

from assay.api.studies.measuring import measure
from assay.cli.announcements import context_of
from assay.cli.arguments.common import common_options
from assay.cli.arguments.measure import measure_request
from assay.cli.arguments.study_groups import export_paths
from assay.cli.parsing.parser import Parsed
from assay.cli.show.answer import deliver_answer
from assay.cli.show.gate import gate_status


def run(parsed: Parsed) -> int:
    """Run the verb."""
    request, options = measure_request(parsed), common_options(parsed)
    exports = export_paths(parsed)
    result = measure(request, context_of(options))
    deliver_answer(result, exports, json=options.json)
    return gate_status(request.gate, result)
