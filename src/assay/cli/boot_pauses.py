"""Pauses of studies that need another boot, on the command line."""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator

import msgspec

from assay.cli.boot_loaders import KERNEL_FILES, is_installed, loader_lines
from assay.cli.show.documents import print_json
from assay.cli.show.layout import width_of, wrapped
from assay.errors import InvalidInputError, NotPossibleError, StudyPaused
from assay.records import BootChange, Configuration, StudySpec, to_builtins
from assay.records.configuration import show_value
from assay.search.conclusion.boots import boot_announcement
from assay.study.booting import BootPause
from assay.study.firmware import (
    COMMAND_MARK,
    demand_unreadable,
    demand_varied,
    with_firmware_values,
)
from assay.study.laboratory import Laboratory
from assay.study.session import prepared_spec
from assay.untrusted import clean

ERROR_OUTPUT = 2
"""File descriptor of error output, which the reboot command writes to."""


def prepare_boot_settings(
    arguments: argparse.Namespace, lab: Laboratory, spec: StudySpec
) -> tuple[Laboratory, StudySpec]:
    """Return the laboratory and the study with the firmware values of the command line.

    Prints the number of boots that the study needs.

    Raises:
        InvalidInputError, NotPossibleError: as ``with_firmware_values``, ``prepared_spec`` and
            ``demand_varied``.
    """
    reboot_argv(arguments)
    verify = _pairs("--verify", arguments.verify)
    for name, source in verify.items():
        demand_unreadable(name, lab.registry)
        _demand_source(name, source)
    spec = msgspec.structs.replace(spec, verify=verify)
    confirmed = firmware_confirmations(arguments)
    lab = with_firmware_values(lab, spec, confirmed)
    spec = prepared_spec(spec, lab)
    demand_varied((*confirmed, *verify), spec)
    words = boot_announcement(spec)
    if words and not arguments.quiet:
        lines = wrapped([f"assay: {words}"], width_of(sys.stderr))
        print("\n".join(lines), file=sys.stderr, flush=True)
    return lab, spec


def firmware_confirmations(arguments: argparse.Namespace) -> dict[str, str]:
    """Return the values of ``--confirm`` by setting.

    Raises:
        InvalidInputError: an invalid word.
    """
    return _pairs("--confirm", arguments.confirm)


def reboot_argv(arguments: argparse.Namespace) -> list[str]:
    """Return the words of ``--reboot-command``; empty without the option.

    Raises:
        InvalidInputError: unbalanced quotes.
    """
    text = getattr(arguments, "reboot_command", None)
    try:
        return shlex.split(text) if text else []
    except ValueError as error:
        raise InvalidInputError(f"--reboot-command: {error}.", "Close its quotes.") from error


def report_pause(pause: StudyPaused, arguments: argparse.Namespace) -> int:
    """Print the required boot, and run the reboot command, if there is one.

    Returns:
        Exit status of assay.

    Raises:
        NotPossibleError: the reboot command fails, or the last boot did not bring the change.
    """
    if not isinstance(pause, BootPause):
        print(f"assay: {clean(str(pause))}", file=sys.stderr)
        return pause.exit_status
    if getattr(arguments, "json", False):
        print_json(pause_document(pause))
    else:
        print("\n".join(wrapped(pause_lines(pause), width_of(sys.stdout))))
    sys.stdout.flush()
    argv = reboot_argv(arguments)
    if not argv:
        return pause.exit_status
    if pause.change.unbrought:
        raise _unbrought(pause.change)
    _run(argv, pause)
    return pause.exit_status


def _unbrought(change: BootChange) -> NotPossibleError:
    """Return the error for a boot without the required change, which would repeat for ever."""
    missing = "; ".join(change.missing)
    if change.running is None:
        return NotPossibleError(
            "The machine was booted since the last launch, but the required change is missing "
            f"({missing}). assay does not run --reboot-command again.",
            "Correct the command, boot by hand, and resume.",
        )
    return NotPossibleError(
        f"The machine was booted since the last launch, and {missing}: {change.kernel} did not "
        "boot, or the boot loader chose another kernel. assay does not run --reboot-command again.",
        f"Look at the console, /sys/fs/pstore and `journalctl --boot=-1`; boot {change.kernel} by "
        "hand, and resume.",
    )


def pause_document(pause: BootPause) -> dict[str, object]:
    """Return the pause as a JSON document."""
    return {
        "study": pause.study_id,
        "status": "paused",
        "paused": to_builtins(pause.change),
        "resume": _resume(pause),
    }


def pause_lines(pause: BootPause) -> Iterator[str]:
    """Yield the required boot and the steps towards it."""
    change = pause.change
    wanted = clean(str(Configuration(change.settings)))
    if change.anew:
        yield f"Study {pause.study_id} is paused: it needs a boot of its own with {wanted}."
        yield "  The present boot has these settings, but a claim needs separate boots: boot again."
    else:
        yield f"Study {pause.study_id} is paused: it needs a boot with {wanted}."
    if change.unbrought:
        yield "  The machine was booted since the last launch, without this change:"
    for text in change.missing:
        yield f"  read      {clean(text)}"
    for word in change.remove:
        yield f"  remove    {clean(word)}"
    for word in change.add:
        yield f"  add       {clean(word)}"
    for name, value in change.firmware.items():
        yield f"  firmware  {clean(name)} = {clean(value)}, in the setup menu of the firmware"
    kernel = change.kernel if change.running else None
    if kernel is not None:
        yield f"  kernel    {clean(kernel)} in place of {clean(change.running or '')}"
    if kernel is not None and not is_installed(kernel):
        places = " and no ".join(path.format(kernel) for path in KERNEL_FILES)
        yield f"            is not installed here: no {places}"
    if kernel is not None and change.unbrought:
        yield "            did not boot, or the boot loader chose another kernel: look at the"
        yield "            console, /sys/fs/pstore and `journalctl --boot=-1`"
    if change.add or change.remove or kernel is not None:
        yield ""
        for line in loader_lines(change.add, change.remove, kernel=kernel):
            yield f"  {clean(line)}"
    yield ""
    yield "Then boot, and continue with"
    yield f"  {clean(_resume(pause))}"


def _resume(pause: BootPause) -> str:
    confirmations = [
        f"--confirm {shlex.quote(f'{name}={show_value(pause.change.settings[name])}')}"
        for name in pause.change.confirm
    ]
    return " ".join(["assay study resume", pause.study_id, *confirmations])


def reboot_variables(study_id: str, change: BootChange) -> dict[str, str]:
    """Return the environment variables that describe the required boot to the reboot command."""
    return {
        "ASSAY_STUDY": study_id,
        "ASSAY_BOOT_ADD": " ".join(change.add),
        "ASSAY_BOOT_REMOVE": " ".join(change.remove),
        "ASSAY_BOOT_WORDS": " ".join(change.words),
        "ASSAY_BOOT_KERNEL": change.kernel or "",
        "ASSAY_FIRMWARE": " ".join(f"{name}={value}" for name, value in change.firmware.items()),
    }


def _run(argv: list[str], pause: BootPause) -> None:
    env = os.environ | reboot_variables(pause.study_id, pause.change)
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, stdout=ERROR_OUTPUT, env=env, check=False
        )
    except OSError as error:
        raise NotPossibleError(
            f"--reboot-command: {argv[0]} cannot be run: {error.strerror}.", _BY_HAND
        ) from error
    if done.returncode:
        raise NotPossibleError(
            f"--reboot-command: {argv[0]} exited with status {done.returncode}.", _BY_HAND
        )


_BY_HAND = "The study is kept: change the boot by hand, and resume."


def _pairs(option: str, texts: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise InvalidInputError(
                f"{option}: invalid word {text!r}.", f"Write {option} firmware.NAME=..."
            )
        if found.setdefault(name, value) != value:
            raise InvalidInputError(f"{option} {name} is given twice.", "Leave one of them out.")
    return found


def _demand_source(name: str, source: str) -> None:
    """Raise an error on a source that is neither an absolute path nor a command.

    Raises:
        InvalidInputError: an invalid source.
    """
    try:
        words = (
            shlex.split(source.removeprefix(COMMAND_MARK))
            if source.startswith(COMMAND_MARK)
            else []
        )
    except ValueError as error:
        raise InvalidInputError(f"--verify {name}: {error}.", "Close its quotes.") from error
    if source.startswith("/") or words:
        return
    raise InvalidInputError(
        f"--verify {name}={source} is neither a file nor a command.",
        "Write the absolute path of a file, or ! and a command that prints the value.",
    )
