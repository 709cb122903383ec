"""Command line of the actions of ``assay study`` on the store. This module loads quickly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.cli.arguments.ages import age_of, begin_of, count_of, end_of
from assay.errors import InvalidInputError
from assay.store import StudySelection

if TYPE_CHECKING:
    from assay.api.studies.pruning import PrunePolicy
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
    since = begin_of("--since", arguments.since, now_s) if arguments.since is not None else None
    before = end_of("--until", arguments.until, now_s) if arguments.until is not None else None
    if since is not None and before is not None and since >= before:
        raise InvalidInputError(
            f"--since {arguments.since} is not before --until {arguments.until}: no study can "
            "match.",
            "Exchange them: `--since 2h --until 1h` is the hour that ended an hour ago.",
        )
    return StudySelection(
        limit=None if arguments.limit is None else count_of("--limit", arguments.limit, 1),
        labels=tuple(arguments.label) or None,
        command=arguments.command,
        since=since,
        before=before,
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


def removes_label(parsed: Parsed) -> bool:
    """Return whether ``assay study label`` removes the label."""
    removes: bool = parsed.arguments.remove
    return removes


def returns_space(parsed: Parsed) -> bool:
    """Return whether ``assay study compact`` returns free space to the disk."""
    return not parsed.arguments.no_vacuum


def applies(parsed: Parsed) -> bool:
    """Return whether ``assay study prune`` deletes the listed data."""
    applied: bool = parsed.arguments.yes
    return applied


def policy_of(parsed: Parsed, now_s: float) -> PrunePolicy:
    """Return the policy of ``assay study prune``.

    Args:
        parsed: command line.
        now_s: present time, in seconds since 1970 (UTC).

    Raises:
        InvalidInputError: an option is invalid, or none selects studies.
    """
    from assay.api.studies.pruning import Extent, PrunePolicy

    arguments = parsed.arguments
    age, last = arguments.older_than, arguments.keep_last
    if age is None and last is None:
        raise InvalidInputError(
            "`assay study prune` needs an age, or a number of studies to keep.",
            "Write for example --older-than 90d or --keep-last 1000.",
        )
    return PrunePolicy(
        begun_before=None if age is None else now_s - age_of("--older-than", age),
        keep_last=0 if last is None else count_of("--keep-last", last, 0),
        extent=Extent(arguments.samples or Extent.STUDY),
    )
