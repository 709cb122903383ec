"""``assay report``: one self-contained page of a study."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import msgspec

from assay.cli.documents import print_json
from assay.cli.parser import Parsed
from assay.cli.wire import store_of
from assay.errors import BadInput
from assay.machine.document import Machine
from assay.records import Stratum
from assay.report.html import render, write
from assay.report.inputs import ReportInput
from assay.study.session import result_of


def run(parsed: Parsed) -> int:
    """Run the verb."""
    arguments = parsed.arguments
    path = _path(arguments)
    with store_of(arguments, create=False) as store:
        study_id = store.find(arguments.study)
        record = store.study(study_id)
        newest = record.strata[-1]
        samples = store.samples(study_id, newest.number)
        floor = result_of(store, record, record.conclusion).floor if record.conclusion else None
    recommendation = record.conclusion.recommendation if record.conclusion else None
    report = ReportInput(
        study_id=study_id,
        spec=record.spec,
        strata=record.strata,
        samples=tuple(samples),
        conclusion=record.conclusion,
        machine=_machine(newest),
        engine=newest.engine,
        created_at=record.created_at,
        elapsed_s=record.elapsed_s,
        script=recommendation.script if recommendation else "",
        status=record.status,
        floor=floor,
    )
    if path is None:
        sys.stdout.buffer.write(render(report).encode())
        return 0
    write(report, path)
    if arguments.json:
        print_json({"study": study_id, "report": str(path)})
    elif not arguments.quiet:
        print(f"The report on study {study_id} is in {path}")
    return 0


def _path(arguments: argparse.Namespace) -> Path | None:
    """The file that is asked for; ``None`` for standard output.

    Raises:
        BadInput: no file can be there; two documents on standard output.
    """
    if arguments.output in ("-", "/dev/stdout"):
        if arguments.json:
            raise BadInput(
                "The page and --json cannot both be on standard output.", "Name a file with -o."
            )
        return None
    path = Path(arguments.output)
    if path.is_dir():
        raise BadInput(f"-o {path}: that is a folder.", f"Name a file: -o {path / 'report.html'}")
    if not path.parent.is_dir():
        raise BadInput(f"-o {path}: there is no folder {path.parent}.", "Make it first.")
    return path


def _machine(stratum: Stratum) -> Machine | None:
    """The machine document that a stratum holds, where this version can read it."""
    try:
        return msgspec.convert(stratum.host, Machine)
    except msgspec.ValidationError:
        return None
