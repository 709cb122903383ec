"""``assay report``: one self-contained page of a study."""

from __future__ import annotations

from pathlib import Path

import msgspec

from assay.cli.documents import print_json
from assay.cli.parser import Parsed
from assay.cli.wire import store_of
from assay.machine.document import Machine
from assay.records import Stratum
from assay.report.html import write
from assay.report.inputs import ReportInput


def run(parsed: Parsed) -> int:
    """Run the verb."""
    arguments = parsed.arguments
    path = Path(arguments.output)
    with store_of(arguments, create=False) as store:
        study_id = store.find(arguments.study)
        record = store.study(study_id)
        newest = record.strata[-1]
        samples = store.samples(study_id, newest.number)
    recommendation = record.conclusion.recommendation if record.conclusion else None
    write(
        ReportInput(
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
        ),
        path,
    )
    if arguments.json:
        print_json({"study": study_id, "report": str(path)})
    elif not arguments.quiet:
        print(f"The report on study {study_id} is in {path}")
    return 0


def _machine(stratum: Stratum) -> Machine | None:
    """The machine document that a stratum holds, where this version can read it."""
    try:
        return msgspec.convert(stratum.host, Machine)
    except msgspec.ValidationError:
        return None
