"""Options of studies that continue after a reboot."""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING

from assay.errors import InvalidInputError
from assay.requests.study import BootRequest
from assay.study.firmware import COMMAND_MARK

if TYPE_CHECKING:
    from assay.cli.parsing.parser import Parsed


def boot_request(arguments: argparse.Namespace) -> BootRequest:
    """Return the request of ``--reboot-command``, ``--confirm`` and ``--verify``.

    Raises:
        InvalidInputError: an invalid word, a value given twice, or unbalanced quotes.
    """
    verify = _pairs("--verify", getattr(arguments, "verify", []))
    for name, source in verify.items():
        _demand_source(name, source)
    return BootRequest(
        reboot_argv=_reboot_argv(arguments),
        confirmed=_pairs("--confirm", arguments.confirm),
        verify=verify,
    )


def pause_reboot_argv(parsed: Parsed) -> tuple[str, ...]:
    """Return the words of ``--reboot-command``; empty without the option.

    Raises:
        InvalidInputError: unbalanced quotes.
    """
    return _reboot_argv(parsed.arguments)


def _reboot_argv(arguments: argparse.Namespace) -> tuple[str, ...]:
    text = getattr(arguments, "reboot_command", None)
    try:
        return tuple(shlex.split(text)) if text else ()
    except ValueError as error:
        raise InvalidInputError(f"--reboot-command: {error}.", "Close its quotes.") from error


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
