"""Options of studies that continue after a reboot."""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING

import msgspec

from assay.api.options.boot import boot_request_of
from assay.errors import InvalidInputError
from assay.requests.study import BootRequest

if TYPE_CHECKING:
    from assay.cli.parsing.parser import Parsed


def boot_request(arguments: argparse.Namespace) -> BootRequest:
    """Return the request of ``--reboot-command``, ``--confirm`` and ``--verify``.

    Raises:
        InvalidInputError: an invalid word, a value given twice, or unbalanced quotes.
    """
    # Before the words of the reboot command, so that errors keep their order.
    found = boot_request_of(confirm=arguments.confirm, verify=getattr(arguments, "verify", []))
    return msgspec.structs.replace(found, reboot_argv=_reboot_argv(arguments))


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
