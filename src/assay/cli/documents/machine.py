"""Types of the documents of ``assay machine`` that change, record and compare a machine."""

from __future__ import annotations

from typing import Literal

from assay.host.undo import Fate
from assay.records.codec import SCHEMA, Record
from assay.records.configuration import Value

ApplyStatus = Literal["granted", "degraded", "refused", "kept"]
"""Result of applying a setting; ``kept`` for a value that was in force before."""


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


class AppliedSetting(Record, frozen=True, kw_only=True):
    """Result of applying one setting of a profile.

    Attributes:
        name: name of the setting.
        value: requested value.
        status: result; ``kept`` for a value that was in force before, and ``granted`` in a dry run
            for a value that assay would set.
        reason: reason why the kernel did not grant the value.
        original_value: previous value; absent if the files of the setting had different values.
    """

    name: str
    value: Value
    status: ApplyStatus
    reason: str | None = None
    original_value: str | None = None


class MachineApplyAnswer(Record, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Answer of ``assay machine apply``.

    Attributes:
        profile: name or file of the profile.
        settings: one entry for each setting of the profile.
    """

    profile: str
    settings: tuple[AppliedSetting, ...]


class RestoredChange(Record, frozen=True, kw_only=True):
    """Restoration of one change.

    Attributes:
        path: target of the change, usually a file.
        owner: study, command or partition that made the change.
        original_value: value before the change.
        status: result: ``undone``; ``drifted`` if another program changed the file since; ``gone``
            if the change ended with the boot, thread or device; ``failed``.
        current_value: present value.
        reason: reason why the value was not restored.
    """

    path: str
    owner: str
    original_value: str
    status: Fate
    current_value: str | None = None
    reason: str | None = None


class MachineRestoreAnswer(Record, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Answer of ``assay machine restore``.

    Attributes:
        changes: one entry for each change, the newest first.
        partitions: names of the deleted partitions.
    """

    changes: tuple[RestoredChange, ...]
    partitions: tuple[str, ...]
