"""``assay report``: one self-contained page of a study."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from assay.cli.composition import store_of
from assay.cli.files.output_file import demand_parent
from assay.cli.parsing.parser import Parsed
from assay.cli.show.documents import print_json
from assay.errors import InvalidInputError
from assay.machine.document import machine_in
from assay.reporting.html import render_page, write_document
from assay.reporting.inputs import ReportInput
from assay.reporting.main_picture import main_png, main_svg
from assay.search.space.labels import label_conclusion, label_samples
from assay.study.session import elapsed_of, stored_result
from assay.untrusted import clean

FORMS = {
    "": render_page,
    ".html": render_page,
    ".htm": render_page,
    ".svg": main_svg,
    ".png": main_png,
}
"""What is written, by the ending of the name: the page, or its main picture."""


def run(parsed: Parsed) -> int:
    """Run the verb."""
    arguments = parsed.arguments
    path = _path(arguments)
    with store_of(arguments, create=False) as store:
        study_id = store.find(arguments.study)
        record = store.study(study_id)
        newest = record.strata[-1]
        samples = store.samples(study_id, newest.number)
        result = stored_result(store, record)
        elapsed_s = elapsed_of(store, record)
    conclusion = label_conclusion(record.spec, result.conclusion) if result else None
    recommendation = conclusion.recommendation if conclusion else None
    report = ReportInput(
        study_id=study_id,
        spec=record.spec,
        strata=record.strata,
        samples=label_samples(record.spec, samples),
        conclusion=conclusion,
        machine=machine_in(newest.host),
        engine=newest.engine,
        created_at=record.created_at,
        elapsed_s=elapsed_s,
        script=recommendation.script if recommendation else "",
        status=record.status,
        floor=result.floor if result else None,
        explanation=result.explanation if result else None,
    )
    if path is None:
        sys.stdout.buffer.write(render_page(report))
        return 0
    draw = FORMS[path.suffix.lower()]
    write_document(draw(report), path)
    if arguments.json:
        print_json({"study": study_id, "report": str(path)})
    elif not arguments.quiet:
        which = "report on" if draw is render_page else "main picture of"
        print(f"The {which} study {study_id} is in {clean(str(path))}")
    return 0


def _path(arguments: argparse.Namespace) -> Path | None:
    """The file that is asked for; ``None`` for standard output.

    Raises:
        InvalidInputError: no file can be there; two documents on standard output.
    """
    if arguments.output in ("-", "/dev/stdout"):
        if arguments.json:
            raise InvalidInputError(
                "The page and --json cannot both be on standard output.", "Name a file with -o."
            )
        return None
    path = Path(arguments.output)
    if path.is_dir():
        raise InvalidInputError(
            f"-o {path}: that is a folder.", f"Name a file: -o {path / 'report.html'}"
        )
    if path.suffix.lower() not in FORMS:
        raise InvalidInputError(
            f"-o {path}: a report is a page of HTML, or its main picture as SVG or PNG, not a file "
            f"of the kind {path.suffix}.",
            f"Name it so: -o {path.with_suffix('.html')}, .svg or .png",
        )
    demand_parent("-o", path)
    return path
