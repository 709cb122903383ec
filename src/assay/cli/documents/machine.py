"""Types of the documents of ``assay machine`` that change, record and compare a machine."""

from __future__ import annotations

from assay.records.codec import SCHEMA, Record


class MachineSnapshotAnswer(Record, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Answer of ``assay machine snapshot``.

    Attributes:
        file: path of the archive.
        files: number of recorded files.
        bytes: size of the archive, in bytes.
        excluded: parts that were too slow or too large.
    """

    file: str
    files: int
    bytes: int
    excluded: tuple[str, ...]
