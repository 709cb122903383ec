"""Applier: what gives actions outside the process their effect, and takes it back.

One for each scope beyond the process (local files, guests, composers). Settings of this version all
act within the process, through the launcher, so none is wired in yet; executors refuse a plan that
would need one.
"""

from __future__ import annotations

from typing import Protocol

from assay.records import Action, Scope, Value


class Journal(Protocol):
    """Where a change is written down, durably, before it is made."""

    def note(self, action: Action, old: Value | None, new: Value) -> str:
        """Write an entry down and return its identity once it is on the disk."""
        ...

    def close(self, entry: str, outcome: str) -> None:
        """Mark an entry as undone, gone with the boot, or left alone."""
        ...


class Applier(Protocol):
    """Applies the actions of one scope."""

    @property
    def scope(self) -> Scope:
        """Which actions it takes."""
        ...

    def apply(self, action: Action, journal: Journal) -> None:
        """Make the change, after it was written down."""
        ...

    def observe(self, action: Action) -> Value:
        """Read back what is there now."""
        ...

    def undo(self, entry: str, journal: Journal) -> bool:
        """Put back what was there, unless it has changed meanwhile; whether it did."""
        ...
