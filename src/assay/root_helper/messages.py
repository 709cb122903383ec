"""Requests to the root helper, and its answers.

The union is closed: documents of another type, or with unknown fields, are refused.
"""

from __future__ import annotations

import msgspec

from assay.errors import NotPossibleError
from assay.host.actions import demand_allowed
from assay.host.changes import ActionOutcome
from assay.host.journal import MachineBusyError
from assay.host.undo import UndoOutcome
from assay.records.action import HoldFd, Swap, WriteFile

HelperAction = WriteFile | HoldFd | Swap
"""Actions that may be requested; only a part of the actions of root."""


class _Request(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="ask"):
    pass


class Hold(_Request, frozen=True, tag="hold"):
    """Request to apply exactly these actions for the lifetime of the requesting assay."""

    actions: tuple[HelperAction, ...]


class ReadTargets(_Request, frozen=True, tag="look"):
    """Request for the current values of the targets."""

    actions: tuple[HelperAction, ...]


class Release(_Request, frozen=True, tag="release"):
    """Request to restore all applied actions."""


class Keep(_Request, frozen=True, tag="keep"):
    """Request to apply actions until they are undone explicitly (``assay machine apply``)."""

    actions: tuple[HelperAction, ...]


class Recover(_Request, frozen=True, tag="recover"):
    """Request to restore the changes of an ended assay."""


class Restore(_Request, frozen=True, tag="restore"):
    """Request to restore all recorded changes, or a preview (``assay machine restore``)."""

    force: bool = False
    dry_run: bool = False


Question = Hold | ReadTargets | Release | Keep | Recover | Restore


class HeldOutcomes(_Request, frozen=True, tag="told"):
    """Outcomes of actions."""

    outcomes: tuple[ActionOutcome, ...]


class TargetValues(_Request, frozen=True, tag="seen"):
    """Values of targets, by path."""

    found: dict[str, str]


class UndoOutcomes(_Request, frozen=True, tag="put back"):
    """Outcomes of restorations, the number of unreadable journal lines, and partitions."""

    words: tuple[UndoOutcome, ...]
    unreadable: int = 0
    partitions: tuple[str, ...] = ()


class Refused(_Request, frozen=True, tag="refused"):
    """Refusal, with its reason."""

    cause: str
    remedy: str | None = None
    busy: bool = False

    def error(self) -> NotPossibleError:
        """Return the error as it was raised in the helper."""
        return (MachineBusyError if self.busy else NotPossibleError)(self.cause, self.remedy)


Answer = HeldOutcomes | TargetValues | UndoOutcomes | Refused


def demand_permitted(question: Question) -> None:
    """Refuse actions that root does not perform for users without rights.

    Raises:
        NotPossibleError: an action is not allowed, or enables a swap area.
    """
    for action in getattr(question, "actions", ()):
        demand_allowed(action)
        if isinstance(action, Swap) and action.on:
            raise NotPossibleError(
                f"The root helper does not enable swap areas: {action.path}.",
                "Start assay as root, or use --as-root.",
            )
