"""Helped: system settings through the root helper, as without it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

import msgspec

from assay.host.changes import ActionOutcome
from assay.host.system_hold import NotRestoredError, SystemHold
from assay.host.undo import UndoOutcome
from assay.launch.spawning import ProcessStarter
from assay.records.action import SystemAction
from assay.root_helper.helper import RootHelper
from assay.root_helper.messages import (
    Answer,
    HeldOutcomes,
    Hold,
    Keep,
    Look,
    Question,
    Recover,
    Refused,
    Release,
    Restore,
    TargetValues,
    UndoOutcomes,
)

if TYPE_CHECKING:
    from assay.root_helper.restoration import RestoreResult

_ANSWERS = msgspec.json.Decoder(Answer)
_Kind = TypeVar("_Kind", HeldOutcomes, TargetValues, UndoOutcomes)


class SystemHolder(Protocol):
    """What makes system actions hold for the launches that follow."""

    def hold(self, actions: Iterable[SystemAction]) -> tuple[ActionOutcome, ...]:
        """See ``SystemHold.hold``."""
        ...

    def look(self, actions: Iterable[SystemAction]) -> dict[str, str]:
        """See ``SystemHold.look``."""
        ...

    def close(self) -> None:
        """See ``SystemHold.close``."""
        ...


def system_holder(launcher: Path | ProcessStarter) -> SystemHolder:
    """By the helper where there is one, which starts the launcher too."""
    return HelperHold(launcher) if isinstance(launcher, RootHelper) else SystemHold()


class HelperHold:
    """A ``SystemHold`` of the helper.

    Args:
        helper: of this process. Nothing is asked of it before the first action.
    """

    def __init__(self, helper: RootHelper) -> None:
        self._helper = helper
        self._begun = False

    def hold(self, actions: Iterable[SystemAction]) -> tuple[ActionOutcome, ...]:
        """See ``SystemHold.hold``.

        Raises:
            NotPossibleError: as there, or the helper does not answer.
        """
        wanted = tuple(actions)
        if not self._begun and not wanted:
            return ()
        self._begun = True
        return _asked(self._helper, Hold(wanted), HeldOutcomes).outcomes

    def look(self, actions: Iterable[SystemAction]) -> dict[str, str]:
        """See ``SystemHold.look``.

        Raises:
            NotPossibleError: the helper does not answer.
        """
        wanted = tuple(actions)
        return (
            _asked(self._helper, Look(wanted), TargetValues).found if self._begun and wanted else {}
        )

    def close(self) -> None:
        """See ``SystemHold.close``.

        Raises:
            NotRestoredError: something is not as it was.
            NotPossibleError: the journal cannot be written, or the helper does not answer.
        """
        if not self._begun or self._helper.ended:
            return
        self._begun = False
        if words := _asked(self._helper, Release(), UndoOutcomes).words:
            raise NotRestoredError(words)


def keep_applied(helper: RootHelper, actions: Iterable[SystemAction]) -> tuple[ActionOutcome, ...]:
    """Make actions hold until they are asked back.

    Raises:
        NotPossibleError: they may not, another assay changes the machine, or the helper does not answer.
    """
    return _asked(helper, Keep(tuple(actions)), HeldOutcomes).outcomes


def recover(helper: RootHelper) -> tuple[UndoOutcome, ...]:
    """Put back what an assay that is gone left changed.

    Raises:
        NotPossibleError: the journal cannot be had or written, or the helper does not answer.
    """
    return _asked(helper, Recover(), UndoOutcomes).words


def restore(helper: RootHelper, *, force: bool, dry_run: bool) -> RestoreResult:
    """Put back all that is written down, or say what would be.

    Raises:
        NotPossibleError: as ``recover``, or another assay changes the machine now.
    """
    from assay.root_helper.restoration import RestoreResult

    found = _asked(helper, Restore(force, dry_run), UndoOutcomes)
    return RestoreResult(found.words, found.unreadable, found.partitions)


def _asked(helper: RootHelper, question: Question, kind: type[_Kind]) -> _Kind:
    answer = _ANSWERS.decode(helper.ask(msgspec.json.encode(question)))
    if isinstance(answer, Refused):
        raise answer.error()
    assert isinstance(answer, kind)
    return answer
