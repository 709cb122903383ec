"""``assay study export``: a study in files for others and for other programs."""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from assay.bundle.files import replace_atomically
from assay.bundle.source import Source, read_source
from assay.cli.process.termination import terminate_in_order
from assay.cli.show.documents import json_text, print_json
from assay.errors import InvalidInputError
from assay.machine.document import Machine
from assay.records import Conclusion, Output, Plan, Sample, Status, Stratum, StudySpec
from assay.store import Store
from assay.units import show_bytes, show_count
from assay.untrusted import clean, clean_lines

STDOUT = "-"
FORMS = {
    "bundle": (".zip", ".assay"),
    "csv": (".csv",),
    "json": (".json",),
    "openmetrics": (".om", ".prom", ".txt"),
}
"""What can be written, and the endings by which ``-o`` tells it."""

NAMES = {
    "bundle": "a bundle",
    "csv": "a table of samples",
    "json": "all there is",
    "openmetrics": "OpenMetrics",
}
"""The same for people."""


@dataclass(frozen=True)
class _Asked:
    """One file to write."""

    form: str
    path: str


def export(arguments: argparse.Namespace, store: Store, study_id: str) -> int:
    """Write a study to files.

    Raises:
        InvalidInputError: nothing to write was named, or two things to one place.
        NotPossibleError: a file cannot be written.
    """
    asked = _asked(arguments)
    writers = {one: _writer(one.form) for one in asked}
    for kind in EXPORT_RECORDS:
        msgspec.json.Decoder(kind)
    terminate_in_order()  # what was begun to be written is removed when a signal comes
    source = read_source(store, study_id)
    written = [_write(one, source, writers[one], arguments.no_outputs) for one in asked]
    notes = [note for document in written for note in document.get("notes", ())]
    if source.record.status is Status.RUNNING:
        notes.append("The study is still running: this is what it has so far.")
    if any(one.path == STDOUT for one in asked):
        _remark(notes)
    elif arguments.json and arguments.file is None:
        print_json({"study": study_id, "files": written})
    elif not arguments.quiet:
        print("\n".join(map(_told, written)))
        _remark(notes)
    return 0


EXPORT_RECORDS = (StudySpec, Stratum, Sample, Plan, Conclusion, tuple[Output, ...], Machine)
"""Records that are read: see assay.cli.process.termination for why they are looked at before."""


def _asked(arguments: argparse.Namespace) -> list[_Asked]:
    """The files to write.

    Raises:
        InvalidInputError: no file is given, a suffix is unknown, or two exports share a file.
    """
    named = {"bundle": arguments.bundle, "csv": arguments.csv, "json": None}
    named["openmetrics"] = arguments.openmetrics
    if arguments.file is not None:
        if not arguments.json:
            raise InvalidInputError(
                f"Unexpected argument {arguments.file!r} for `assay study export`.",
                f"Say what it is to be: --bundle {arguments.file}, --csv, --json or "
                "--openmetrics, or -o, which goes by the ending.",
            )
        named["json"] = arguments.file
    asked = [_Asked(form, path) for form, path in named.items() if path is not None]
    if arguments.output is not None:
        asked.append(_Asked(_form_of(arguments.output), arguments.output))
    if not asked and arguments.json:
        return [_Asked("json", STDOUT)]
    if not asked:
        raise InvalidInputError(
            "`assay study export` needs to know what to write.",
            "--bundle FILE.zip for others to check, --csv FILE or --json FILE for your own "
            "analysis, --openmetrics FILE for Prometheus.",
        )
    places = [one.path for one in asked]
    twice = next((path for path in places if places.count(path) > 1), None)
    if twice is not None:
        raise InvalidInputError(f"Two exports go to {twice}.", "Name a file for each.")
    return asked


def _form_of(path: str) -> str:
    for form, endings in FORMS.items():
        if path.endswith(endings):
            return form
    known = ", ".join(f"{' or '.join(endings)} ({NAMES[form]})" for form, endings in FORMS.items())
    raise InvalidInputError(
        f"-o {path}: its ending does not say what to write.",
        f"It goes by {known}; or name the form: --bundle, --csv, --json or --openmetrics {path}",
    )


def _write(one: _Asked, source: Source, writer: Writer, no_outputs: bool) -> dict[str, Any]:
    """Write one file, and say what it is."""
    with _target(one.path) as target:
        more = writer(source, target, not no_outputs)
    samples = sum(len(stratum.samples) for stratum in source.strata)
    document = {"form": one.form, "file": one.path, "study": source.record.id, "samples": samples}
    if one.path != STDOUT and Path(one.path).is_file():
        document["size_bytes"] = Path(one.path).stat().st_size
    return document | more


@contextlib.contextmanager
def _target(path: str) -> Iterator[BinaryIO]:
    if path != STDOUT:
        with replace_atomically(Path(path)) as file:
            yield file
        return
    # A ZIP archive is written back and forth, which a pipe does not let.
    whole = io.BytesIO()
    yield whole
    sys.stdout.flush()
    sys.stdout.buffer.write(whole.getbuffer())
    sys.stdout.flush()


Writer = Callable[[Source, BinaryIO, bool], dict[str, Any]]
"""Writes a study, with its outputs or without, and tells what there is to tell."""


def _writer(form: str) -> Writer:
    """What writes a form, with all that it takes loaded."""
    return {"bundle": _bundle, "csv": _csv, "json": _json, "openmetrics": _openmetrics}[form]()


def _bundle() -> Writer:
    from assay.bundle.identity import read_identity
    from assay.bundle.write import write_bundle

    identity = read_identity()

    def write(source: Source, target: BinaryIO, outputs: bool) -> dict[str, Any]:
        done = write_bundle(source, identity, target, outputs=outputs)
        return {
            "head": done.manifest.head,
            "replaced": done.manifest.replaced,
            "outputs": done.manifest.outputs,
            "notes": list(done.notes),
        }

    return write


def _csv() -> Writer:
    from assay.bundle.table import table

    def write(source: Source, target: BinaryIO, outputs: bool) -> dict[str, Any]:
        target.write(table(source).encode(errors="backslashreplace"))
        return {}

    return write


def _json() -> Writer:
    from assay.bundle.document import study_document

    def write(source: Source, target: BinaryIO, outputs: bool) -> dict[str, Any]:
        document = study_document(source, outputs=outputs)
        target.write(json_text(document).encode(errors="backslashreplace") + b"\n")
        return {}

    return write


def _openmetrics() -> Writer:
    from assay.bundle.openmetrics import openmetrics

    def write(source: Source, target: BinaryIO, outputs: bool) -> dict[str, Any]:
        target.write(openmetrics(source).encode(errors="backslashreplace"))
        return {}

    return write


def _told(document: dict[str, Any]) -> str:
    """What was written, in a line or a few."""
    size = f", {show_bytes(document['size_bytes'])}" if "size_bytes" in document else ""
    count = show_count(document["samples"], "sample", "samples")
    what = {"bundle": "a bundle", "csv": "a table", "json": "a document"}.get(
        document["form"], "OpenMetrics text"
    )
    lines = [f"{document['file']}: {what} of study {document['study']}, {count}{size}"]
    if document["form"] == "bundle":
        lines.append(_told_replaced(document["replaced"], document["outputs"]))
        lines.append(f"  check it: assay study verify {document['file']}")
    return "\n".join(map(clean_lines, lines))


def _told_replaced(replaced: dict[str, int], outputs: bool) -> str:
    counts = ", ".join(f"{token} {count}" for token, count in replaced.items())
    names = f"names replaced: {counts}" if counts else "no names of host or user were in it"
    kept = (
        "with what the program wrote: look at it before you share it (--no-outputs leaves it out)"
    )
    return f"  {names}; {kept if outputs else 'without what the program wrote'}"


def _remark(notes: list[str]) -> None:
    for note in notes:
        print(f"assay: note: {clean(note)}", file=sys.stderr)
