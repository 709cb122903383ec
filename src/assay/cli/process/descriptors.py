"""Descriptors: how many files this process may have open."""

from __future__ import annotations

import errno
import resource

from assay.errors import NotPossibleError

MIN_OPEN_FILES = 32
"""Fewer do not hold the store with its journal and locks, what a launch takes, and a module that is
being loaded; where they run out, the errors are as various as what needs the next one."""
_RAISE = "Raise the limit with `ulimit -n 1024` in the shell that starts assay."


def demand_descriptors() -> None:
    """Refuse to begin what could not open its files.

    Raises:
        NotPossibleError: the soft limit is below ``MIN_OPEN_FILES``.
    """
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < MIN_OPEN_FILES:
        raise NotPossibleError(
            f"No more than {soft} files may be open at a time here (`ulimit -n`), and assay needs "
            f"{MIN_OPEN_FILES}.",
            _RAISE,
        )


def descriptor_error(error: OSError) -> NotPossibleError | None:
    """What is said where they ran out all the same; ``None`` where the error is another."""
    if error.errno == errno.EMFILE:
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return NotPossibleError(
            f"As many files are open as may be, {soft} (`ulimit -n`).",
            f"{_RAISE} What was measured is kept.",
        )
    if error.errno == errno.ENFILE:
        return NotPossibleError(
            "As many files are open on this system as may be (/proc/sys/fs/file-max).",
            "End what holds them: `lsof | awk '{print $1}' | sort | uniq -c | sort -n` tells. "
            "What was measured is kept.",
        )
    return None
