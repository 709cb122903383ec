"""``assay sweep``: a designed experiment that a file describes."""

from __future__ import annotations

import json
import sys

from assay.api.files.sweep_file import shipped_schema
from assay.api.studies.sweeping import DesignChoice, sweep
from assay.cli.announcements import context_of
from assay.cli.arguments.common import CommonOptions, common_options
from assay.cli.arguments.study_groups import export_paths
from assay.cli.arguments.sweep import is_schema_request, sweep_request
from assay.cli.parsing.parser import Parsed
from assay.cli.show.answer import deliver_answer
from assay.cli.show.design import design_lines
from assay.cli.show.documents import design_document
from assay.cli.show.json_output import print_json
from assay.cli.show.layout import width_of, wrapped


def run(parsed: Parsed) -> int:
    """Run the verb."""
    if is_schema_request(parsed):
        print(json.dumps(shipped_schema(), indent=1))
        return 0
    request, options = sweep_request(parsed), common_options(parsed)
    exports = export_paths(parsed)
    found = sweep(request, context_of(options))
    if isinstance(found, DesignChoice):
        _show(options, found)
    else:
        deliver_answer(found, exports, json=options.json)
    return 0


def _show(options: CommonOptions, found: DesignChoice) -> None:
    """Print all cells, and the launches and the time that they need."""
    if options.json:
        print_json(design_document(found.spec, found.launches))
        return
    lines = design_lines(options.db, found.spec, found.launches)
    print("\n".join(wrapped(lines, width_of(sys.stdout))))
