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


class MachineDifference(Record, frozen=True, kw_only=True):
    """Difference between two machines.

    Attributes:
        subject: part of the machine.
        path: property that differs; a star stands for each of ``numbers``.
        a: value on the first machine; absent if it has none.
        b: value on the second machine; absent if it has none.
        numbers: numbers of the CPUs or other parts that differ equally.
    """

    subject: str
    path: str
    a: str | None = None
    b: str | None = None
    numbers: tuple[int, ...] = ()


class MachineDiffAnswer(Record, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Answer of ``assay machine diff``.

    Attributes:
        a: name of the first machine.
        b: name of the second machine.
        differences: one entry for each difference.
    """

    a: str
    b: str
    differences: tuple[MachineDifference, ...]
