"""Finding: what one check says of a host."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """How a host stands to what a profile demands; ``UNKNOWN`` is what could not be read."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"
    UNKNOWN = "unknown"


WORST_FIRST = (Status.FAIL, Status.WARN, Status.UNKNOWN, Status.OK)


class Right(StrEnum):
    """What a remedy needs: nothing of its own, root, a reboot, or a change in the firmware."""

    NONE = "none"
    ROOT = "root"
    REBOOT = "reboot"
    FIRMWARE = "firmware"


@dataclass(frozen=True)
class Remedy:
    """What to do.

    Attributes:
        text: a command for the shell, ``Boot with`` an argument, or a sentence.
        right: that it needs.
        setting: assay's own, as ``name=value``, where it has one that does the same.
        note: what to know about it.
        command: whether the text is a command.
    """

    text: str
    right: Right = Right.NONE
    setting: str | None = None
    note: str | None = None
    command: bool = False


@dataclass(frozen=True)
class Finding:
    """What one check says.

    Attributes:
        id: of the check, as ``cpu.governor``.
        status: how the host stands.
        evidence: what was read, and from where.
        remedy: what to do; ``None`` where nothing is to be done, or nothing can.
    """

    id: str
    status: Status
    evidence: str
    remedy: Remedy | None = None


class UnreadableError(Exception):
    """Something could not be read, so that nothing can be said; the text names it."""

    def __init__(self, evidence: str, remedy: Remedy | None = None) -> None:
        super().__init__(evidence)
        self.evidence = evidence
        self.remedy = remedy
