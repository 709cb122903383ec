"""Types of the documents of ``assay study`` about files and deleted studies."""

from __future__ import annotations

from assay.records.codec import SCHEMA, Record


class ExportedFile(Record, frozen=True, kw_only=True):
    """One exported file.

    Attributes:
        form: format of the file: ``bundle``, ``csv``, ``json`` or ``openmetrics``.
        file: path of the file.
        study: identifier of the study.
        samples: number of samples.
        size_bytes: size of the file, in bytes; absent for standard output.
        head: digest at the end of the chain of a bundle.
        replacements: number of replacements in a bundle, by kind of name.
        includes_outputs: the bundle contains the output of the program.
        notes: limitations of a bundle for its readers, as sentences.
    """

    form: str
    file: str
    study: str
    samples: int
    size_bytes: int | None = None
    head: str | None = None
    replacements: dict[str, int] | None = None
    includes_outputs: bool | None = None
    notes: tuple[str, ...] | None = None


class StudyExportAnswer(Record, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Answer of ``assay study export``.

    Attributes:
        study: identifier of the study.
        files: description of each file.
    """

    study: str
    files: tuple[ExportedFile, ...]
