"""Shell: bash wrapper of pipelines, and the pipeline as typed by the user."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

SIGPIPE_TRAP = (
    'trap \'s=$? p=("${PIPESTATUS[@]}"); if [ $s = 141 ]; then '
    'for e in "${p[@]}"; do [ $e = 0 ] || [ $e = 141 ] || exit $e; done; exit 0; fi\' EXIT\n'
)
"""Prefix of a pipeline: replaces exit status 141 (128 + SIGPIPE) by that of the other commands."""


def as_typed(argv: Sequence[str]) -> tuple[str, ...]:
    """Return the arguments of a command without the prefix of pipelines."""
    return tuple(word.removeprefix(SIGPIPE_TRAP) for word in argv)


def command_text(argv: Sequence[str]) -> str:
    """Return a command as shell text, as typed by the user."""
    return shlex.join(as_typed(argv))


def typed_text(command: str) -> str:
    """Return a command that is stored as text, as typed by the user."""
    return command_text(shlex.split(command)) if "PIPESTATUS" in command else command
