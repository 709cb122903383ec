"""Command line of ``assay machine`` as requests, one for each action."""

from __future__ import annotations

from pathlib import Path

from assay.cli.files.output_file import output_path
from assay.cli.parsing.parser import Parsed
from assay.errors import InvalidInputError
from assay.requests.machine import (
    MachineApplyRequest,
    MachineCheckRequest,
    MachineDiffRequest,
    MachineRestoreRequest,
    MachineShowRequest,
    MachineSnapshotRequest,
)

MAX_WORDS = {"diff": 2, "apply": 1, "noise": 3}
"""Largest number of words of an action."""
DESCRIPTION_SUFFIXES = (".svg", ".json", ".txt")
SNAPSHOT_SUFFIXES = (".tar.gz", ".tgz")


def demand_machine_words(parsed: Parsed) -> None:
    """Raise on words that the action does not take.

    Raises:
        InvalidInputError: there is such a word; names the first.
    """
    words, action = parsed.arguments.words, parsed.action
    if "" in words:
        raise InvalidInputError(
            f"A word for `assay machine {action}` is empty.",
            "Check for an unset variable of the shell.",
        )
    spare = words[MAX_WORDS.get(action, 0) :]
    if spare:
        raise InvalidInputError(
            f"Unexpected argument {spare[0]!r} for `assay machine {action}`.",
            f"A profile is named by an option: `assay machine check --profile {spare[0]}`."
            if action == "check"
            else "`assay machine --help` shows what it takes.",
        )


def show_request(parsed: Parsed) -> MachineShowRequest:
    """Return the request of ``assay machine show``."""
    return MachineShowRequest(root=parsed.arguments.root)


def description_path(parsed: Parsed) -> Path | None:
    """Return the file of ``assay machine show``; ``None`` for standard output.

    Raises:
        InvalidInputError: an unknown suffix, or a missing folder.
    """
    output = parsed.arguments.output
    return output_path("-o", output, DESCRIPTION_SUFFIXES) if output else None


def check_request(parsed: Parsed) -> MachineCheckRequest:
    """Return the request of ``assay machine check``."""
    arguments = parsed.arguments
    request = MachineCheckRequest(root=arguments.root)
    if not arguments.profile:
        return request
    return MachineCheckRequest(profile=arguments.profile, root=arguments.root)


def snapshot_request(parsed: Parsed) -> MachineSnapshotRequest:
    """Return the request of ``assay machine snapshot``.

    Raises:
        InvalidInputError: the file is missing, or its suffix is unknown.
    """
    output: str | None = parsed.arguments.output
    if not output or not output.endswith(SNAPSHOT_SUFFIXES):
        raise InvalidInputError(
            f"-o {output}: a snapshot is a .tar.gz archive."
            if output
            else "`assay machine snapshot` needs a file to write.",
            "Write `assay machine snapshot -o machine.tar.gz`.",
        )
    return MachineSnapshotRequest(path=output, root=parsed.arguments.root)


def diff_request(parsed: Parsed) -> MachineDiffRequest:
    """Return the request of ``assay machine diff``.

    Raises:
        InvalidInputError: the machine is missing.
    """
    arguments = parsed.arguments
    if not arguments.words:
        raise InvalidInputError(
            "`assay machine diff` needs a machine to compare.",
            "Name two snapshots or studies, or a single one to compare it with this machine.",
        )
    if len(arguments.words) == 1:
        return MachineDiffRequest(a=arguments.words[0], root=arguments.root)
    return MachineDiffRequest(a=arguments.words[0], b=arguments.words[1], root=arguments.root)


def apply_request(parsed: Parsed) -> MachineApplyRequest:
    """Return the request of ``assay machine apply``.

    Raises:
        InvalidInputError: the profile is missing.
    """
    arguments = parsed.arguments
    if not arguments.words:
        raise InvalidInputError(
            "The profile is missing.", "Write for example: assay machine apply measuring"
        )
    return MachineApplyRequest(profile=arguments.words[0], dry_run=arguments.dry_run)


def restore_request(parsed: Parsed) -> MachineRestoreRequest:
    """Return the request of ``assay machine restore``."""
    arguments = parsed.arguments
    return MachineRestoreRequest(force=arguments.force, dry_run=arguments.dry_run)
