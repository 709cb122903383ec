"""Type of the document of ``assay report``."""

from __future__ import annotations

from assay.records.codec import SCHEMA, Record


class ReportAnswer(Record, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Answer of ``assay report``.

    Attributes:
        study: identifier of the study.
        report: path of the file that was written.
    """

    study: str
    report: str
