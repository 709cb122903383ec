"""Result of a check."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """Result of a comparison with a demand; ``UNKNOWN`` if the value could not be read."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"
    UNKNOWN = "unknown"


WORST_FIRST = (Status.FAIL, Status.WARN, Status.UNKNOWN, Status.OK)


class Right(StrEnum):
    """Requirement of a remedy: none, root, a reboot, or a change in the firmware."""

    NONE = "none"
    ROOT = "root"
    REBOOT = "reboot"
    FIRMWARE = "firmware"


@dataclass(frozen=True)
class Remedy:
    """Proposed change for a finding.

    Attributes:
        text: a shell command, ``Boot with`` an argument, or a sentence.
        right: its requirement.
        setting: equivalent setting of assay, as ``name=value``.
        note: side effect or alternative.
        command: true if the text is a command.
    """

    text: str
    right: Right = Right.NONE
    setting: str | None = None
    note: str | None = None
    command: bool = False


@dataclass(frozen=True)
class Finding:
    """The result of one check.

    Attributes:
        id: id of the check, such as ``cpu.governor``.
        status: result of the comparison.
        evidence: value and its source.
        remedy: next step; ``None`` if none is needed or possible.
    """

    id: str
    status: Status
    evidence: str
    remedy: Remedy | None = None


class UnreadableError(Exception):
    """A value cannot be read, so the check has no result; the text names the file."""

    def __init__(self, evidence: str, remedy: Remedy | None = None) -> None:
        super().__init__(evidence)
        self.evidence = evidence
        self.remedy = remedy
