"""Errors that name their cause and the next step.

Library code raises these; only ``assay.cli`` turns them into a message and an exit status.
"""

from __future__ import annotations


class AssayError(Exception):
    """Something assay can explain.

    Args:
        cause: one sentence: what happened.
        remedy: one sentence: what to do next.
    """

    exit_status = 1

    def __init__(self, cause: str, remedy: str | None = None) -> None:
        super().__init__(cause)
        self.cause = cause
        self.remedy = remedy

    def __str__(self) -> str:
        return self.cause if self.remedy is None else f"{self.cause}\n  {self.remedy}"


class InvalidInputError(AssayError):
    """What was asked for is wrong in itself: an unknown name, a value outside its domain."""

    exit_status = 2


class NotPossibleError(AssayError):
    """Right in itself, but not allowed or not possible on this machine, now."""

    exit_status = 3


class ShareLostError(NotPossibleError):
    """A share of a partition went while it was held; a study goes on when it is back."""


class StudyPaused(AssayError):
    """A study waits for something that only its user can do; it goes on afterwards."""

    exit_status = 4


class WorkloadFailedError(AssayError):
    """The program under test failed whatever was done with it."""

    exit_status = 1


def nearest(name: str, known: list[str] | tuple[str, ...]) -> str | None:
    """The known name that ``name`` was most likely meant to be, if any is close."""
    import difflib

    found = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return found[0] if found else None
