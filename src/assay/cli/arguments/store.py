"""Command line of the actions of ``assay study`` on the store. This module loads quickly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.cli.arguments.ages import begin_of, count_of, end_of
from assay.errors import InvalidInputError
from assay.store import StudySelection

if TYPE_CHECKING:
    from assay.cli.parsing.parser import Parsed


def selection_of(parsed: Parsed, now_s: float) -> StudySelection:
    """Return the selection of ``assay study list``.

    Args:
        parsed: command line.
        now_s: present time, in seconds since 1970 (UTC).

    Raises:
        InvalidInputError: an option is invalid.
    """
    arguments = parsed.arguments
    since, until = arguments.since, arguments.until
    return StudySelection(
        limit=None if arguments.limit is None else count_of("--limit", arguments.limit, 1),
        label=arguments.label,
        command=arguments.command,
        since=None if since is None else begin_of("--since", since, now_s),
        before=None if until is None else end_of("--until", until, now_s),
        machine=arguments.machine,
    )


def label_of(parsed: Parsed) -> str:
    """Return the label of ``assay study label``.

    Raises:
        InvalidInputError: it is missing.
    """
    label: str | None = parsed.arguments.file
    if label is None:
        raise InvalidInputError(
            "`assay study label` needs a study and a label.", "Write: assay study label last NAME"
        )
    return label
