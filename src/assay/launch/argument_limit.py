"""Free space for arguments and environment under the kernel's limit (execve(2))."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterable, Mapping
from typing import Any

_MIN_LIMIT_BYTES = 128 * 1024
"""Lower limit, independent of the stack size (``ARG_MAX`` of Linux)."""
_MAX_LIMIT_BYTES = 6 * 2**20
"""Upper limit: three quarters of the default stack of 8 MiB (``fs/exec.c``, since Linux 4.13)."""
_POINTER_BYTES = 8
"""Size of the pointer that accompanies each argument and variable (since Linux 4.13)."""
RESERVE_BYTES = 16 * 1024
"""Reserve for the paths of the program and of a script's interpreter, the first line of a script,
and the variables that the launcher adds."""


def free_argument_bytes(document: Mapping[str, Any], env: Mapping[str, str]) -> int:
    """Return by how many bytes the environment of a launch may safely grow.

    Args:
        document: document of the launch (docs/reference/assay-exec.md).
        env: environment of the launcher.
    """
    variables = {**env, **document.get("env_set", {})}
    several = document.get("instances") or [{}]
    return min(
        _limit_bytes(document)
        - RESERVE_BYTES
        - _size_bytes(own.get("argv", document["argv"]))
        - _size_bytes(
            f"{name}={value}" for name, value in {**variables, **own.get("env_set", {})}.items()
        )
        for own in several
    )


def _limit_bytes(document: Mapping[str, Any]) -> int:
    """Return a quarter of the stack limit of the program, within the kernel's bounds."""
    soft, _ = resource.getrlimit(resource.RLIMIT_STACK)
    for limit in document.get("rlimits", ()):
        if limit["resource"] == "stack":
            soft = resource.RLIM_INFINITY if limit["soft"] is None else limit["soft"]
    share = _MAX_LIMIT_BYTES if soft == resource.RLIM_INFINITY else soft // 4
    return max(_MIN_LIMIT_BYTES, min(share, _MAX_LIMIT_BYTES))


def _size_bytes(words: Iterable[str]) -> int:
    return sum(len(os.fsencode(word)) + 1 + _POINTER_BYTES for word in words)
