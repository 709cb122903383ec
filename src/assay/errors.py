"""Errors that name their cause and the next step.

Library code raises these; only ``assay.cli`` turns them into a message and an exit status.
"""

from __future__ import annotations

TYPE_CHECKING = False
"""Same as ``typing.TYPE_CHECKING``; loading ``typing`` takes longer than this module."""

if TYPE_CHECKING:
    from typing import Self


class AssayError(Exception):
    """Failure that assay can explain.

    Args:
        cause: one sentence that states the failure.
        remedy: one sentence that states the next step.
        python_remedy: next step of a caller of the Python API; ``None`` for the same one.

    Examples:
        >>> import assay
        >>> try:
        ...     assay.measure(["true"], bugdet="10s")
        ... except assay.AssayError as error:
        ...     print(error.remedy)
        Did you mean budget?
    """

    exit_status = 1

    def __init__(
        self, cause: str, remedy: str | None = None, *, python_remedy: str | None = None
    ) -> None:
        super().__init__(cause)
        self.cause = cause
        self.remedy = remedy
        self.python_remedy = python_remedy

    def for_python(self) -> Self:
        """Return the same error with the next step of a caller of the Python API."""
        self.remedy = self.python_remedy or self.remedy
        return self

    def __str__(self) -> str:
        return self.cause if self.remedy is None else f"{self.cause}\n  {self.remedy}"


class InvalidInputError(AssayError):
    """Invalid request: an unknown name, or a value outside its domain.

    Examples:
        >>> import assay
        >>> try:
        ...     assay.Range(2, 1)
        ... except assay.InvalidInputError as error:
        ...     print(error.cause, error.remedy)
        The range from 2 to 1 is empty. Exchange its ends.
    """

    exit_status = 2


class NotPossibleError(AssayError):
    """Valid request that this machine does not allow or cannot carry out now.

    Examples:
        >>> import assay
        >>> try:
        ...     assay.run(["./missing"])
        ... except assay.NotPossibleError as error:
        ...     print(error.cause)
        ./missing cannot be started...
    """

    exit_status = 3


class ShareLostError(NotPossibleError):
    """Loss of a share of a partition during use; the study resumes once the share is back."""


class StudyPaused(AssayError):
    """Pause of a study until its user completes a step, such as a reboot.

    Examples:
        >>> import assay
        >>> def after_boot() -> assay.Result | None:
        ...     try:
        ...         return assay.resume("last")
        ...     except assay.StudyPaused as pause:
        ...         print(pause.remedy)  # the next boot
        ...         return None
    """

    exit_status = 4


class StudyStopped(AssayError):
    """Stop of a running study by another thread; the study is kept and can be resumed.

    Examples:
        >>> import assay
        >>> with assay.Study(assay.run, ["sleep", "60"]) as study:
        ...     study.stop()
        ...     try:
        ...         study.result()
        ...     except assay.StudyStopped as stopped:
        ...         print(stopped.cause)
        The study was stopped.
    """


class WorkloadFailedError(AssayError):
    """Failure of the program under test, independent of its settings.

    Examples:
        >>> import assay
        >>> try:
        ...     assay.run(["false"]).check()
        ... except assay.WorkloadFailedError as error:
        ...     print(error.cause)
        The program ended with the outcome failed (exit status 1).
    """

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
