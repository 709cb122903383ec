"""Helped: system settings through the root helper, as without it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

import msgspec

from assay.host.changes import Outcome
from assay.host.hold import NotPutBack, SystemHold
from assay.host.undo import Undone
from assay.launch.spawning import Starter
from assay.records.action import SystemAction
from assay.root_helper.asked import (
    Answer,
    Hold,
    Keep,
    Look,
    PutBack,
    Question,
    Recover,
    Refused,
    Release,
    Restore,
    Seen,
    Told,
)
from assay.root_helper.helper import Helper

if TYPE_CHECKING:
    from assay.root_helper.restoring import Restored

_ANSWERS = msgspec.json.Decoder(Answer)
_Kind = TypeVar("_Kind", Told, Seen, PutBack)


class Holding(Protocol):
    """What makes system actions hold for the launches that follow."""

    def hold(self, actions: Iterable[SystemAction]) -> tuple[Outcome, ...]:
        """See ``SystemHold.hold``."""
        ...

    def look(self, actions: Iterable[SystemAction]) -> dict[str, str]:
        """See ``SystemHold.look``."""
        ...

    def close(self) -> None:
        """See ``SystemHold.close``."""
        ...


def holding(launcher: Path | Starter) -> Holding:
    """By the helper where there is one, which starts the launcher too."""
    return HelpedHold(launcher) if isinstance(launcher, Helper) else SystemHold()


class HelpedHold:
    """A ``SystemHold`` of the helper.

    Args:
        helper: of this process. Nothing is asked of it before the first action.
    """

    def __init__(self, helper: Helper) -> None:
        self._helper = helper
        self._begun = False

    def hold(self, actions: Iterable[SystemAction]) -> tuple[Outcome, ...]:
        """See ``SystemHold.hold``.

        Raises:
            NotPossibleError: as there, or the helper does not answer.
        """
        wanted = tuple(actions)
        if not self._begun and not wanted:
            return ()
        self._begun = True
        return _asked(self._helper, Hold(wanted), Told).outcomes

    def look(self, actions: Iterable[SystemAction]) -> dict[str, str]:
        """See ``SystemHold.look``.

        Raises:
            NotPossibleError: the helper does not answer.
        """
        wanted = tuple(actions)
        return _asked(self._helper, Look(wanted), Seen).found if self._begun and wanted else {}

    def close(self) -> None:
        """See ``SystemHold.close``.

        Raises:
            NotPutBack: something is not as it was.
            NotPossibleError: the journal cannot be written, or the helper does not answer.
        """
        if not self._begun or self._helper.ended:
            return
        self._begun = False
        if words := _asked(self._helper, Release(), PutBack).words:
            raise NotPutBack(words)


def keep(helper: Helper, actions: Iterable[SystemAction]) -> tuple[Outcome, ...]:
    """Make actions hold until they are asked back.

    Raises:
        NotPossibleError: they may not, another assay changes the machine, or the helper does not answer.
    """
    return _asked(helper, Keep(tuple(actions)), Told).outcomes


def recover(helper: Helper) -> tuple[Undone, ...]:
    """Put back what an assay that is gone left changed.

    Raises:
        NotPossibleError: the journal cannot be had or written, or the helper does not answer.
    """
    return _asked(helper, Recover(), PutBack).words


def restore(helper: Helper, *, force: bool, dry_run: bool) -> Restored:
    """Put back all that is written down, or say what would be.

    Raises:
        NotPossibleError: as ``recover``, or another assay changes the machine now.
    """
    from assay.root_helper.restoring import Restored

    found = _asked(helper, Restore(force, dry_run), PutBack)
    return Restored(found.words, found.unreadable, found.partitions)


def _asked(helper: Helper, question: Question, kind: type[_Kind]) -> _Kind:
    answer = _ANSWERS.decode(helper.ask(msgspec.json.encode(question)))
    if isinstance(answer, Refused):
        raise answer.error()
    assert isinstance(answer, kind)
    return answer
