"""Search for processes that hooks started and that are still running."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Collection
from pathlib import Path

HOOK_VARIABLE = "ASSAY_HOOKED"
"""Variable in the environment of hooks; their processes inherit it, also after they detach."""
_PROC = Path("/proc")
_DEFAULT_PATIENCE_S = 0.5
_PAUSE_S = 0.05


def new_mark() -> str:
    """Return a unique value of the variable for a study."""
    return uuid.uuid4().hex


def left_running(
    mark: str, known: Callable[[], Collection[int]] = tuple, patience_s: float = _DEFAULT_PATIENCE_S
) -> list[str]:
    """Return the names of running processes with a mark, after a time to end.

    Processes of other users are not found by the mark, since their environment cannot be read.

    Args:
        mark: value of the variable.
        known: returns further process ids.
        patience_s: time that a process may take to end after a signal, in seconds.
    """
    until_s = time.monotonic() + patience_s
    variable = f"{HOOK_VARIABLE}={mark}".encode()
    while (found := {*_marked(variable), *known()}) and time.monotonic() < until_s:
        time.sleep(_PAUSE_S)
    return [name for pid in sorted(found) if (name := _name_of(pid)) is not None]


def is_started_by_hook(pid: int) -> bool:
    """Return whether a hook of a study started a process; false if that cannot be read."""
    try:
        variables = (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return False
    return any(variable.startswith(f"{HOOK_VARIABLE}=".encode()) for variable in variables)


def _marked(variable: bytes) -> list[int]:
    found = []
    for folder in _PROC.iterdir():
        if not folder.name.isdecimal():
            continue
        try:
            variables = (folder / "environ").read_bytes().split(b"\0")
        except OSError:  # it has ended, or belongs to another user
            continue
        if variable in variables:
            found.append(int(folder.name))
    return found


def _name_of(pid: int) -> str | None:
    """Return name and id of a process; ``None`` if it has ended."""
    try:
        name = (_PROC / str(pid) / "comm").read_text(errors="replace").strip()
    except OSError:
        return None
    return f"{name} (process {pid})"
