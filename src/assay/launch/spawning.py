"""Start of a process of assay-exec."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)
"""Python ignores them from its start on, and what is ignored survives exec: a program in a pipeline
would go on writing to nobody (docs.python.org, subprocess, ``restore_signals``)."""
_FIRST_PLACE = 3


class ProcessStarter(Protocol):
    """Who starts the launcher in our place, as a child of this process all the same."""

    def spawn(
        self, arguments: Sequence[str], env: Mapping[str, str], places: Mapping[int, int]
    ) -> int:
        """See ``spawn``."""
        ...


def spawn(
    launcher: Path | ProcessStarter,
    arguments: Sequence[str],
    env: Mapping[str, str],
    places: Mapping[int, int],
    blocked: Iterable[int] | None = None,
) -> int:
    """Start the launcher.

    Args:
        launcher: path of the executable, or who starts it.
        arguments: for it.
        env: its environment.
        places: descriptors of this process, and where the launcher finds them.
        blocked: signals that it has blocked; those of this thread if absent.

    Returns:
        Its process id.

    Raises:
        OSError: it cannot be started.
    """
    if not isinstance(launcher, Path):
        return launcher.spawn(arguments, env, places)
    mask: dict[str, Any] = {} if blocked is None else {"setsigmask": blocked}
    return os.posix_spawn(
        launcher,
        ["assay-exec", *arguments],
        env,
        file_actions=_moved(places),
        setsigdef=IGNORED_BY_PYTHON,
        **mask,
    )


def descriptor_map(launcher: Path | ProcessStarter, fds: Sequence[int]) -> dict[int, int]:
    """Return where a launcher is to find descriptors, for ``spawn``.

    They keep their numbers, which are free here: on any other number might lie a file that the
    program is to inherit, such as the pipe of ``make -j``. A helper inherits none, and cannot know
    ours.

    Args:
        launcher: path of the executable, or who starts it.
        fds: of this process.
    """
    if isinstance(launcher, Path):
        return {fd: fd for fd in fds}
    return {fd: _FIRST_PLACE + offset for offset, fd in enumerate(fds)}


def _moved(places: Mapping[int, int]) -> list[tuple[int, int, int]]:
    """File actions that put descriptors where the child expects them.

    Sources may lie on each other's targets, so all go through copies well above them first.
    """
    if all(source == target for source, target in places.items()):
        # dup2 onto itself clears the mark that closes it (posix_spawn_file_actions_adddup2(3)).
        return [(os.POSIX_SPAWN_DUP2, fd, fd) for fd in places]
    actions: list[tuple[int, int, int]] = []
    spare = max(*places.keys(), *places.values()) + 1
    for offset, source in enumerate(places):
        actions.append((os.POSIX_SPAWN_DUP2, source, spare + offset))
    for offset, target in enumerate(places.values()):
        actions.append((os.POSIX_SPAWN_DUP2, spare + offset, target))
    for offset in range(len(places)):
        actions.append((os.POSIX_SPAWN_CLOSE, spare + offset))  # type: ignore[arg-type]
    return actions
