"""Guard of objects that belong to one thread of one process."""

from __future__ import annotations

import os
import threading

from assay.errors import NotPossibleError


class OwnerGuard:
    """Thread and process that an object belongs to: those that made it."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._thread = threading.get_ident()

    @property
    def is_forked(self) -> bool:
        """True in a forked child, which must not write to the study of its parent."""
        return os.getpid() != self._pid

    @property
    def is_in_other_thread(self) -> bool:
        """True in a thread of the owning process other than the owner."""
        return not self.is_forked and threading.get_ident() != self._thread

    def check(self) -> None:
        """Raise an error in another thread or process.

        Raises:
            NotPossibleError: names the owner.
        """
        if self.is_forked:
            raise NotPossibleError(
                f"This session belongs to process {self._pid}; a forked child cannot use it.",
                "Return the values of the child to that process, and report them there.",
            )
        if self.is_in_other_thread:
            raise NotPossibleError(
                "This session belongs to another thread; its trials run one after the other.",
                "Pass the values to that thread, and report them there.",
            )
