"""Start of an assay-exec process."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)
"""Signals that Python ignores from its start. An ignored signal survives exec: a program in a
pipeline would continue to write after its reader has ended (docs.python.org, subprocess,
``restore_signals``)."""
_FIRST_FREE_FD = 3


class ProcessStarter(Protocol):
    """Object that starts the launcher on behalf of this process, as its child."""

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
        launcher: path of the executable, or an object that starts it.
        arguments: arguments of the launcher.
        env: environment of the launcher.
        places: descriptors of this process, mapped to their numbers in the launcher.
        blocked: signal mask of the launcher; that of this thread if absent.

    Returns:
        The process id of the launcher.

    Raises:
        OSError: the launcher cannot be started.
    """
    if not isinstance(launcher, Path):
        return launcher.spawn(arguments, env, places)
    mask: dict[str, Any] = {} if blocked is None else {"setsigmask": blocked}
    return os.posix_spawn(
        launcher,
        ["assay-exec", *arguments],
        env,
        file_actions=_move_actions(places),
        setsigdef=IGNORED_BY_PYTHON,
        **mask,
    )


def descriptor_map(launcher: Path | ProcessStarter, fds: Sequence[int]) -> dict[int, int]:
    """Return the descriptor numbers in the launcher, for ``spawn``.

    Descriptors keep their numbers: another number may belong to a file that the program inherits,
    such as the pipe of ``make -j``. A helper inherits no descriptor and cannot know these numbers.

    Args:
        launcher: path of the executable, or an object that starts it.
        fds: descriptors of this process.
    """
    if isinstance(launcher, Path):
        return {fd: fd for fd in fds}
    return {fd: _FIRST_FREE_FD + offset for offset, fd in enumerate(fds)}


def _move_actions(places: Mapping[int, int]) -> list[tuple[int, int, int]]:
    """Return the file actions that move descriptors to their numbers in the child.

    A source may have the number of another target. Therefore all descriptors are first duplicated
    to higher numbers.
    """
    if all(source == target for source, target in places.items()):
        # dup2 to the same number clears FD_CLOEXEC (posix_spawn_file_actions_adddup2(3)).
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
