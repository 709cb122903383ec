"""``assay compare``: commands or configurations in interleaved blocks."""

from __future__ import annotations

from assay.api.studies.comparing import compare
from assay.cli.announcements import context_of
from assay.cli.arguments.common import common_options
from assay.cli.arguments.compare import compare_request
from assay.cli.arguments.study_groups import export_paths
from assay.cli.parsing.parser import Parsed
from assay.cli.show.answer import deliver_answer
from assay.cli.show.gate import gate_status


def run(parsed: Parsed) -> int:
    """Run the verb."""
    request, options = compare_request(parsed), common_options(parsed)
    exports = export_paths(parsed)
    result = compare(request, context_of(options))
    deliver_answer(result, exports, json=options.json)
    return gate_status(request.gate, result)
