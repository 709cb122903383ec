"""Refusals: studies of trials cannot be launched, and other studies have no trials."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.errors import InvalidInputError, NotPossibleError

if TYPE_CHECKING:
    from assay.store import StudyRecord


def demand_in_process(record: StudyRecord) -> None:
    """Raise an error for a study whose launches assay makes.

    Raises:
        InvalidInputError: names the function that continues it.
    """
    if not record.spec.in_process:
        raise InvalidInputError(
            f"Study {record.id} launches a program; it has no trials of a session.",
            f'assay.resume("{record.id}") continues it.',
        )


def demand_launchable(record: StudyRecord) -> None:
    """Raise an error for a study of trials, which assay cannot launch.

    Raises:
        NotPossibleError: names the way to continue it.
    """
    if record.spec.in_process:
        raise NotPossibleError(
            f"Study {record.id} is a session: its trials run within the user's own Python program, "
            "so assay has no command to launch.",
            f'assay.Session(study="{record.id}") in that program continues it; '
            f"`assay study show {record.id}` shows its settings.",
        )
