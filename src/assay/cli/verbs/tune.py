"""``assay tune``: search for the best configuration, its ablation and its confirmation."""

from __future__ import annotations

from assay.api.studies.tuning import SpaceChoice, tune
from assay.cli.announcements import context_of
from assay.cli.arguments.common import CommonOptions, common_options
from assay.cli.arguments.study_groups import export_paths
from assay.cli.arguments.tune import tune_request
from assay.cli.parsing.parser import Parsed
from assay.cli.show.answer import deliver_answer
from assay.cli.show.documents import space_document
from assay.cli.show.json_output import print_json
from assay.cli.show.space import show_space


def run(parsed: Parsed) -> int:
    """Run the verb."""
    request, options = tune_request(parsed), common_options(parsed)
    exports = export_paths(parsed)
    found = tune(request, context_of(options))
    if isinstance(found, SpaceChoice):
        _show_dry_run(found, options)
    else:
        deliver_answer(found, exports, json=options.json)
    return 0


def _show_dry_run(found: SpaceChoice, options: CommonOptions) -> None:
    if options.json:
        print_json(space_document(found.spec, found.left_out, list(found.notes)))
    else:
        show_space(found, verbose=options.verbose)
