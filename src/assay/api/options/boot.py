"""Settings of boot and firmware: ``--confirm`` and ``--verify``."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from assay.errors import InvalidInputError
from assay.requests.study import BootRequest
from assay.study.firmware import COMMAND_MARK


def boot_request_of(*, confirm: Sequence[str], verify: Sequence[str]) -> BootRequest:
    """Return the request of the texts of the options.

    Args:
        confirm: current values of firmware settings, each as ``NAME=VALUE``.
        verify: sources of such values, each as ``NAME=SOURCE``.

    Raises:
        InvalidInputError: an invalid text, or a value given twice.
    """
    sources = _pairs("--verify", verify)
    for name, source in sources.items():
        _demand_source(name, source)
    return BootRequest(confirmed=_pairs("--confirm", confirm), verify=sources)


def _pairs(option: str, texts: Sequence[str]) -> dict[str, str]:
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
