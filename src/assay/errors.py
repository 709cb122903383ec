"""Errors that name their cause and the next step.

Library code raises these; only ``assay.cli`` turns them into a message and an exit status.
"""

from __future__ import annotations


class AssayError(Exception):
    """Failure that assay can explain.

    Args:
        cause: one sentence that states the failure.
        remedy: one sentence that states the next step.
    """

    exit_status = 1

    def __init__(self, cause: str, remedy: str | None = None) -> None:
        super().__init__(cause)
        self.cause = cause
        self.remedy = remedy

    def __str__(self) -> str:
        return self.cause if self.remedy is None else f"{self.cause}\n  {self.remedy}"


class InvalidInputError(AssayError):
    """Invalid request: an unknown name, or a value outside its domain."""

    exit_status = 2


class NotPossibleError(AssayError):
    """Valid request that this machine does not allow or cannot carry out now."""

    exit_status = 3


class ShareLostError(NotPossibleError):
    """Loss of a share of a partition during use; the study resumes once the share is back."""


class StudyPaused(AssayError):
    """Pause of a study until its user completes a step, such as a reboot."""

    exit_status = 4


class StudyStopped(AssayError):
    """Stop of a running study by another thread; the study is kept and can be resumed."""


class WorkloadFailedError(AssayError):
    """Failure of the program under test, independent of its settings."""

    exit_status = 1


def nearest(
    name: str, known: list[str] | tuple[str, ...], min_similarity: float = 0.6
) -> str | None:
    """Return the known name that is most similar to ``name``, if one is close enough.

    Args:
        name: unknown name.
        known: known names.
        min_similarity: share of characters in common (``difflib.SequenceMatcher.ratio``).
    """
    import difflib

    found = difflib.get_close_matches(name, known, n=1, cutoff=min_similarity)
    return found[0] if found else None
