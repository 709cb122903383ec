"""Client of the root helper: applies system settings as without a helper."""

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
    Question,
    ReadTargets,
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
    """Interface that applies system actions for the following launches."""

    def hold(self, actions: Iterable[SystemAction]) -> tuple[ActionOutcome, ...]:
        """Apply actions; see ``SystemHold.hold``."""
        ...

    def read_targets(self, actions: Iterable[SystemAction]) -> dict[str, str]:
        """Return target values; see ``SystemHold.read_targets``."""
        ...

    def close(self) -> None:
        """Restore all changes; see ``SystemHold.close``."""
        ...


def system_holder(launcher: Path | ProcessStarter) -> SystemHolder:
    """Return a holder that uses the helper, if the launcher is one."""
    return HelperHold(launcher) if isinstance(launcher, RootHelper) else SystemHold()


class HelperHold:
    """``SystemHold`` of the helper.

    Args:
        helper: helper of this process. It receives no request before the first action.
    """

    def __init__(self, helper: RootHelper) -> None:
        self._helper = helper
        self._begun = False

    def hold(self, actions: Iterable[SystemAction]) -> tuple[ActionOutcome, ...]:
        """Apply actions; see ``SystemHold.hold``.

        Raises:
            NotPossibleError: see there; or the helper does not answer.
        """
        wanted = tuple(actions)
        if not self._begun and not wanted:
            return ()
        self._begun = True
        return _answer_of(self._helper, Hold(wanted), HeldOutcomes).outcomes

    def read_targets(self, actions: Iterable[SystemAction]) -> dict[str, str]:
        """Return target values; see ``SystemHold.read_targets``.

        Raises:
            NotPossibleError: the helper does not answer.
        """
        wanted = tuple(actions)
        return (
            _answer_of(self._helper, ReadTargets(wanted), TargetValues).found
            if self._begun and wanted
            else {}
        )

    def close(self) -> None:
        """Restore all changes; see ``SystemHold.close``.

        Raises:
            NotRestoredError: a change could not be restored.
            NotPossibleError: the journal cannot be written, or the helper does not answer.
        """
        if not self._begun or self._helper.ended:
            return
        self._begun = False
        if words := _answer_of(self._helper, Release(), UndoOutcomes).words:
            raise NotRestoredError(words)


def keep_applied(helper: RootHelper, actions: Iterable[SystemAction]) -> tuple[ActionOutcome, ...]:
    """Apply actions until they are undone explicitly.

    Raises:
        NotPossibleError: an action is not allowed, another assay changes the machine, or the helper
            does not answer.
    """
    return _answer_of(helper, Keep(tuple(actions)), HeldOutcomes).outcomes


def recover(helper: RootHelper) -> tuple[UndoOutcome, ...]:
    """Restore the changes of an ended assay.

    Raises:
        NotPossibleError: the journal cannot be opened or written, or the helper does not answer.
    """
    return _answer_of(helper, Recover(), UndoOutcomes).words


def restore(helper: RootHelper, *, force: bool, dry_run: bool) -> RestoreResult:
    """Restore all recorded changes, or preview that.

    Raises:
        NotPossibleError: see ``recover``; or another assay is changing the machine.
    """
    from assay.root_helper.restoration import RestoreResult

    found = _answer_of(helper, Restore(force, dry_run), UndoOutcomes)
    return RestoreResult(found.words, found.unreadable, found.partitions)


def _answer_of(helper: RootHelper, question: Question, kind: type[_Kind]) -> _Kind:
    answer = _ANSWERS.decode(helper.ask(msgspec.json.encode(question)))
    if isinstance(answer, Refused):
        raise answer.error()
    assert isinstance(answer, kind)
    return answer
