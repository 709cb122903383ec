"""This process: one study at a time, and preparation of the first launch."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from assay.api.leftovers import restore_leftovers
from assay.errors import NotPossibleError
from assay.signal_handlers import deferred_signals

_RUNNING = threading.Lock()
"""Held while a function of this process launches programs: two studies would disturb each other."""


class AssayWarning(UserWarning):
    """Limitation of a result, or a finding that needs attention.

    Examples:
        >>> import assay, warnings
        >>> warnings.simplefilter("ignore", assay.AssayWarning)
    """


@contextmanager
def single_study() -> Iterator[None]:
    """Context in which no other thread of this process launches programs.

    Raises:
        NotPossibleError: another thread does.
    """
    if not _RUNNING.acquire(blocking=False):
        raise NotPossibleError(
            "Another study of this process is running, and would disturb this one.",
            "Wait for its end, or stop it; close() ends a session.",
        )
    try:
        yield
    finally:
        _RUNNING.release()


def prepare(reads: tuple[type, ...], *, launches: bool = True) -> None:
    """Prepare this process for its first launch; see ``Preparation``.

    No signal handler is installed.

    Raises:
        NotPossibleError: the undo journal is not accessible.
    """
    # An exception while msgspec reads the annotations of a record crashes the interpreter.
    with deferred_signals():
        for kind in reads:
            msgspec.json.Decoder(kind)
    for line in restore_leftovers() if launches else ():
        warnings.warn(f"{line}.", AssayWarning, stacklevel=2)
