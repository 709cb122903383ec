"""Resolution of symbolic links in the paths of a machine."""

from __future__ import annotations

import os
from collections.abc import Callable

_MAX_LINKS = 40
"""The kernel's limit on symbolic links in one path (``MAXSYMLINKS``)."""


def resolved(path: str, target_of: Callable[[str], str | None]) -> str | None:
    """Return a path with all links resolved; ``None`` for cyclic links.

    Args:
        path: path on the machine, which need not exist.
        target_of: returns the target of a link, given a path with resolved directories; ``None``
            for other files.
    """
    done: list[str] = []
    pending = path.split("/")[::-1]
    links = 0
    while pending:
        word = pending.pop()
        if word in ("", "."):
            continue
        if word == "..":
            del done[-1:]
            continue
        target = target_of("/".join(("", *done, word)))
        if target is None:
            done.append(word)
            continue
        links += 1
        if links > _MAX_LINKS:
            return None
        if target.startswith("/"):
            done.clear()
        pending.extend(target.split("/")[::-1])
    return "/".join(("", *done))


def link_target(place: str) -> str | None:
    """Return the target of a link on the host, as written; ``None`` for other files."""
    try:
        return os.readlink(place)  # noqa: PTH115
    except (OSError, ValueError):
        return None
