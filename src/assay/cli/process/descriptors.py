"""Limit of open file descriptors of this process."""

from __future__ import annotations

import errno
import resource

from assay.errors import NotPossibleError

MIN_OPEN_FILES = 32
"""Descriptors for the store with its journal and locks, for a launch, and for a module that is
loaded. With fewer, assay fails at various places with various errors."""
_RAISE = "Raise the limit with `ulimit -n 1024` in the shell that starts assay."


def demand_descriptors() -> None:
    """Raise an error if this process cannot open enough files.

    Raises:
        NotPossibleError: the soft limit is below ``MIN_OPEN_FILES``.
    """
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < MIN_OPEN_FILES:
        raise NotPossibleError(
            f"The limit of open files is {soft} (`ulimit -n`), and assay needs {MIN_OPEN_FILES}.",
            _RAISE,
        )


def descriptor_error(error: OSError) -> NotPossibleError | None:
    """Return the error on too many open files; ``None`` if the given error has another cause."""
    if error.errno == errno.EMFILE:
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return NotPossibleError(
            f"This process has reached its limit of {soft} open files (`ulimit -n`).",
            f"{_RAISE} All measurements are kept.",
        )
    if error.errno == errno.ENFILE:
        return NotPossibleError(
            "This system has reached its limit of open files (/proc/sys/fs/file-max).",
            "End the processes that hold them: `lsof | awk '{print $1}' | sort | uniq -c | sort -n`"
            " counts them. All measurements are kept.",
        )
    return None
