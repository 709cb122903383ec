"""Pauses of studies that need another boot, on the command line."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence

from assay.cli.boot_loaders import KERNEL_FILES, is_installed, loader_lines
from assay.cli.show.json_output import print_json
from assay.cli.show.layout import width_of, wrapped
from assay.errors import NotPossibleError, StudyPaused
from assay.records import BootChange, Configuration, to_builtins
from assay.records.configuration import show_value
from assay.study.booting import BootPause
from assay.untrusted import clean

ERROR_OUTPUT = 2
"""File descriptor of error output, which the reboot command writes to."""


def report_pause(pause: StudyPaused, reboot_argv: Sequence[str], *, json: bool) -> int:
    """Print the required boot, and run the reboot command, if there is one.

    Args:
        pause: pause of the study.
        reboot_argv: words of the reboot command; empty for none.
        json: print a JSON document.

    Returns:
        Exit status of assay.

    Raises:
        NotPossibleError: the reboot command fails, or the last boot lacks the change.
    """
    if not isinstance(pause, BootPause):
        print(f"assay: {clean(str(pause))}", file=sys.stderr)
        return pause.exit_status
    if json:
        print_json(pause_document(pause))
    else:
        print("\n".join(wrapped(pause_lines(pause), width_of(sys.stdout))))
    sys.stdout.flush()
    if not reboot_argv:
        return pause.exit_status
    if pause.change.missing_after_boot:
        raise _boot_without_change(pause.change)
    _run(reboot_argv, pause)
    return pause.exit_status


def _boot_without_change(change: BootChange) -> NotPossibleError:
    """Return the error on a boot without the required change: repeating it would not help."""
    missing = "; ".join(change.missing)
    if change.running_kernel is None:
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
        "boot_change": to_builtins(pause.change),
        "resume_command": _resume(pause),
    }


def pause_lines(pause: BootPause) -> Iterator[str]:
    """Yield the required boot and the steps towards it."""
    change = pause.change
    settings = clean(str(Configuration(change.settings)))
    if change.repeat_boot:
        yield f"Study {pause.study_id} is paused: it needs a boot of its own with {settings}."
        yield "  The current boot has these settings, but a claim needs separate boots: boot again."
    else:
        yield f"Study {pause.study_id} is paused: it needs a boot with {settings}."
    if change.missing_after_boot:
        yield "  The machine was booted since the last launch, without this change:"
    for text in change.missing:
        yield f"  read      {clean(text)}"
    for word in change.remove:
        yield f"  remove    {clean(word)}"
    for word in change.add:
        yield f"  add       {clean(word)}"
    for name, value in change.firmware.items():
        yield f"  firmware  {clean(name)} = {clean(value)}, in the setup menu of the firmware"
    kernel = change.kernel if change.running_kernel else None
    if kernel is not None:
        yield f"  kernel    {clean(kernel)} in place of {clean(change.running_kernel or '')}"
    if kernel is not None and not is_installed(kernel):
        places = " and no ".join(path.format(kernel) for path in KERNEL_FILES)
        yield f"            is not installed here: no {places}"
    if kernel is not None and change.missing_after_boot:
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
        for name in pause.change.unconfirmed
    ]
    return " ".join(["assay study resume", pause.study_id, *confirmations])


def reboot_variables(study_id: str, change: BootChange) -> dict[str, str]:
    """Return the environment variables that describe the required boot to the reboot command."""
    return {
        "ASSAY_STUDY": study_id,
        "ASSAY_BOOT_ADD": " ".join(change.add),
        "ASSAY_BOOT_REMOVE": " ".join(change.remove),
        "ASSAY_BOOT_WORDS": " ".join(change.required_arguments),
        "ASSAY_BOOT_KERNEL": change.kernel or "",
        "ASSAY_FIRMWARE": " ".join(f"{name}={value}" for name, value in change.firmware.items()),
    }


def _run(argv: Sequence[str], pause: BootPause) -> None:
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
