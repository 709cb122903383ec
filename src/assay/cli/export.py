"""``assay study export``: a study in files for others and for other programs."""

from __future__ import annotations

import contextlib
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from assay.bundle.files import replace_atomically, text_within
from assay.bundle.source import Source, read_source
from assay.cli.arguments.common import CommonOptions
from assay.cli.arguments.study import STDOUT
from assay.cli.documents.study import ExportedFile, StudyExportAnswer
from assay.cli.process.termination import terminate_in_order
from assay.cli.show.json_output import print_json
from assay.machine.document import Machine
from assay.records import (
    Conclusion,
    Output,
    Plan,
    Sample,
    Status,
    Stratum,
    StudySpec,
    to_builtins,
)
from assay.requests.stored_study import ExportFile, ExportRequest
from assay.store import Store
from assay.units import show_bytes, show_count
from assay.untrusted import clean, clean_lines

if TYPE_CHECKING:
    from assay.bundle.write import WrittenBundle


def export(request: ExportRequest, options: CommonOptions, store: Store, study_id: str) -> int:
    """Write a study to files.

    Raises:
        NotPossibleError: a file cannot be written.
    """
    writers = {one: _writer(one.form) for one in request.files}
    for kind in EXPORT_RECORDS:
        msgspec.json.Decoder(kind)
    terminate_in_order()  # a signal removes files that are incomplete
    source = read_source(store, study_id)
    files = tuple(_write(one, source, writers[one], request.outputs) for one in request.files)
    notes = [note for file in files for note in file.notes or ()]
    if source.record.status is Status.RUNNING:
        notes.append("The study is still running: the export contains the samples so far.")
    if any(one.path == STDOUT for one in request.files):
        _print_notes(notes)
    elif options.json:
        print_json(to_builtins(StudyExportAnswer(study=study_id, files=files)))
    elif not options.quiet:
        print("\n".join(map(_description, files)))
        _print_notes(notes)
    return 0


EXPORT_RECORDS = (StudySpec, Stratum, Sample, Plan, Conclusion, tuple[Output, ...], Machine)
"""Records to decode: assay.cli.process.termination explains why their types are cached before."""


def _write(one: ExportFile, source: Source, writer: Writer, outputs: bool) -> ExportedFile:
    """Write one file, and return its description."""
    with _target(one) as target:
        bundle = writer(source, target, outputs)
    has_size = one.path != STDOUT and Path(one.path).is_file()
    found = ExportedFile(
        form=one.form,
        file=one.path,
        study=source.record.id,
        samples=source.samples,
        size_bytes=Path(one.path).stat().st_size if has_size else None,
    )
    if bundle is None:
        return found
    return msgspec.structs.replace(
        found,
        head=bundle.manifest.head,
        replacements=bundle.manifest.replacements,
        includes_outputs=bundle.manifest.includes_outputs,
        notes=bundle.notes,
    )


@contextlib.contextmanager
def _target(one: ExportFile) -> Iterator[BinaryIO]:
    if one.path != STDOUT:
        with replace_atomically(Path(one.path)) as file:
            yield file
        return
    sys.stdout.flush()
    if one.form != "bundle":
        yield sys.stdout.buffer
    else:  # writing a ZIP archive needs to seek, and a pipe cannot
        with tempfile.TemporaryFile() as whole:
            yield whole
            whole.seek(0)
            shutil.copyfileobj(whole, sys.stdout.buffer)
    sys.stdout.flush()


Writer = Callable[[Source, BinaryIO, bool], "WrittenBundle | None"]
"""Writer of a form: takes the study, the file and whether to include outputs."""


def _writer(form: str) -> Writer:
    """Return the writer of a form, with its modules loaded."""
    writers = {
        "bundle": _bundle,
        "csv": _csv,
        "json": _json,
        "openmetrics": _openmetrics,
        "series": _series,
    }
    return writers[form]()


def _bundle() -> Writer:
    from assay.bundle.identity import read_identity
    from assay.bundle.write import write_bundle

    identity = read_identity()

    def write(source: Source, target: BinaryIO, outputs: bool) -> WrittenBundle:
        return write_bundle(source, identity, target, outputs=outputs)

    return write


def _csv() -> Writer:
    from assay.bundle.table import write_table

    def write(source: Source, target: BinaryIO, outputs: bool) -> None:
        with text_within(target) as text:
            write_table(source, text)

    return write


def _series() -> Writer:
    from assay.bundle.series_table import write_series_table

    def write(source: Source, target: BinaryIO, outputs: bool) -> None:
        with text_within(target) as text:
            write_series_table(source, text)

    return write


def _json() -> Writer:
    from assay.bundle.document import study_document, write_json

    def write(source: Source, target: BinaryIO, outputs: bool) -> None:
        with text_within(target) as text:
            write_json(study_document(source, outputs=outputs), text)

    return write


def _openmetrics() -> Writer:
    from assay.bundle.openmetrics import write_openmetrics

    def write(source: Source, target: BinaryIO, outputs: bool) -> None:
        with text_within(target) as text:
            write_openmetrics(source, text)

    return write


_DESCRIBED = {
    "bundle": "a bundle",
    "csv": "a table",
    "json": "a document",
    "series": "a table of the reported values",
}
"""Forms of a file in its description."""


def _description(file: ExportedFile) -> str:
    """Return the lines that describe a written file."""
    size = "" if file.size_bytes is None else f", {show_bytes(file.size_bytes)}"
    count = show_count(file.samples, "sample", "samples")
    form = _DESCRIBED.get(file.form, "OpenMetrics text")
    lines = [f"{file.file}: {form} of study {file.study}, {count}{size}"]
    if file.form == "bundle":
        lines.append(_replaced_names(file.replacements or {}, bool(file.includes_outputs)))
        lines.append(f"  verify it: assay study verify {file.file}")
    return "\n".join(map(clean_lines, lines))


def _replaced_names(replaced: dict[str, int], outputs: bool) -> str:
    counts = ", ".join(
        f"{token} ({show_count(count, 'time')})" for token, count in replaced.items()
    )
    names = f"placeholders for names: {counts}" if counts else "no names of host or user"
    kept = "the output of the program; read it before you share it, or leave it out by --no-outputs"
    return f"  contains {names}, and {kept if outputs else 'no output of the program'}"


def _print_notes(notes: list[str]) -> None:
    for note in notes:
        print(f"assay: note: {clean(note)}", file=sys.stderr)
