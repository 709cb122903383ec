"""``assay report``: one self-contained page of a study."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from assay.api.composition import opened_store
from assay.api.studies.stored import report_input
from assay.cli.arguments.common import common_options
from assay.cli.arguments.report import report_request
from assay.cli.documents.report import ReportAnswer
from assay.cli.parsing.parser import Parsed
from assay.cli.show.json_output import print_json
from assay.records import to_builtins
from assay.reporting.html import render_page, write_document
from assay.reporting.main_picture import main_png, main_svg
from assay.study.paused_collection import paused_collection
from assay.untrusted import clean

FORMS = {
    "": render_page,
    ".html": render_page,
    ".htm": render_page,
    ".svg": main_svg,
    ".png": main_png,
}
"""Writers of the page or its main picture, by the suffix of the file."""


def run(parsed: Parsed) -> int:
    """Run the verb."""
    request, options = report_request(parsed), common_options(parsed)
    path = None if request.path is None else Path(request.path)
    with opened_store(options.db, create=False) as store, _keeping_objects():
        study_id = store.find(request.study)
        report, _ = report_input(store, study_id)
    if path is None:
        sys.stdout.buffer.write(render_page(report))
        return 0
    draw = FORMS[path.suffix.lower()]
    write_document(draw(report), path)
    if options.json:
        print_json(to_builtins(ReportAnswer(study=study_id, report=str(path))))
    elif not options.quiet:
        noun = "report on" if draw is render_page else "main picture of"
        print(f"The {noun} study {study_id} is in {clean(str(path))}")
    return 0


@contextmanager
def _keeping_objects() -> Iterator[None]:
    """Create objects that live until the process ends, without looking for cycles among them."""
    with paused_collection():
        yield
        gc.freeze()
