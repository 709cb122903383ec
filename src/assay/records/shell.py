"""Shell: the words that run a pipeline in bash, and the pipeline as it was typed."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

SIGPIPE_TRAP = (
    'trap \'s=$? p=("${PIPESTATUS[@]}"); if [ $s = 141 ]; then '
    'for e in "${p[@]}"; do [ $e = 0 ] || [ $e = 141 ] || exit $e; done; exit 0; fi\' EXIT\n'
)
"""Put in front of a pipeline: makes of status 141, which is 128 and SIGPIPE, that of its other
commands."""


def as_typed(argv: Sequence[str]) -> tuple[str, ...]:
    """Return the words of a command without what assay puts in front of a pipeline."""
    return tuple(word.removeprefix(SIGPIPE_TRAP) for word in argv)


def command_text(argv: Sequence[str]) -> str:
    """Return the words of a command as one text for a shell, as they were typed."""
    return shlex.join(as_typed(argv))


def typed_text(command: str) -> str:
    """Return a command that is kept as one text, as it was typed."""
    return command_text(shlex.split(command)) if "PIPESTATUS" in command else command
