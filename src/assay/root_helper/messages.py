"""Asked: what an assay without rights may ask of its root helper, and what it is answered.

The union is closed: a document that is none of these, or holds anything beside, is not read.
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
"""The actions that may be asked for; not all of those that root may take."""


class _Asked(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="ask"):
    pass


class Hold(_Asked, frozen=True, tag="hold"):
    """Make exactly these hold, for as long as the asking assay lives."""

    actions: tuple[HelperAction, ...]


class Look(_Asked, frozen=True, tag="look"):
    """What do their targets hold now?"""

    actions: tuple[HelperAction, ...]


class Release(_Asked, frozen=True, tag="release"):
    """Put back what is held."""


class Keep(_Asked, frozen=True, tag="keep"):
    """Make these hold until they are asked back (``assay machine apply``)."""

    actions: tuple[HelperAction, ...]


class Recover(_Asked, frozen=True, tag="recover"):
    """Put back what an assay that is gone left changed."""


class Restore(_Asked, frozen=True, tag="restore"):
    """Put back all that is written down, or say what would be (``assay machine restore``)."""

    force: bool = False
    dry_run: bool = False


Question = Hold | Look | Release | Keep | Recover | Restore


class HeldOutcomes(_Asked, frozen=True, tag="told"):
    """What became of actions."""

    outcomes: tuple[ActionOutcome, ...]


class TargetValues(_Asked, frozen=True, tag="seen"):
    """What files hold, by path."""

    found: dict[str, str]


class UndoOutcomes(_Asked, frozen=True, tag="put back"):
    """What became of changes, with lines of the journal that could not be read, and partitions."""

    words: tuple[UndoOutcome, ...]
    unreadable: int = 0
    partitions: tuple[str, ...] = ()


class Refused(_Asked, frozen=True, tag="refused"):
    """Why nothing was done."""

    cause: str
    remedy: str | None = None
    busy: bool = False

    def error(self) -> NotPossibleError:
        """As it was raised there."""
        return (MachineBusyError if self.busy else NotPossibleError)(self.cause, self.remedy)


Answer = HeldOutcomes | TargetValues | UndoOutcomes | Refused


def demand_permitted(question: Question) -> None:
    """Refuse what root does for nobody without rights.

    Raises:
        NotPossibleError: an action is on what may not be, or takes a swap area into use.
    """
    for action in getattr(question, "actions", ()):
        demand_allowed(action)
        if isinstance(action, Swap) and action.on:
            raise NotPossibleError(
                f"The root helper does not do this: swap on {action.path}.",
                "Start as root itself, or with --as-root.",
            )
