"""Changes: what one owner has made hold on a host, and how it is put back.

Each step: written down (on the disk) -> done -> read back -> what was read is written down. So one
who is killed at any point leaves nothing that the journal does not tell.
"""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterable, Sequence

import msgspec

from assay.errors import NotPossible
from assay.launch.journal import Entry, Journal, Note, ReadBack
from assay.launch.system.act import (
    beside,
    demand_allowed,
    observe,
    perform,
    read_file,
    wanted,
    why,
    write_file,
)
from assay.launch.system.groups import ABSENT
from assay.launch.system.host import Held, Host
from assay.launch.system.undo import Undone, undo
from assay.machine.boot import BOOT_ID
from assay.records.action import ControlGroup, HoldFd, HostAction, WriteFile


class Word(enum.StrEnum):
    """What became of an action."""

    GRANTED = "granted"
    DEGRADED = "degraded"
    REFUSED = "refused"
    KEPT = "kept"
    """It was so before."""


class Outcome(msgspec.Struct, frozen=True):
    """What became of one action.

    Attributes:
        action: that was asked for.
        word: what became of it.
        old: what was there before, in one spelling, where it can be said.
        read: what is there now.
        reason: why it is not what was asked for.
    """

    action: HostAction
    word: Word
    old: str | None = None
    read: str | None = None
    reason: str | None = None


class Changes:
    """What one owner has made hold.

    Args:
        host: that is changed.
        journal: held for as long; closed by whoever opened it.
        owner: in whose name.
    """

    def __init__(self, host: Host, journal: Journal, owner: str) -> None:
        self._host = host
        self._journal = journal
        self._owner = owner
        self._devices: dict[HoldFd, Held] = {}

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What was written down in this owner's name, and not taken back."""
        return tuple(e for e in self._journal.entries if e.note.owner == self._owner)

    def hold(self, actions: Iterable[HostAction]) -> tuple[Outcome, ...]:
        """Make exactly these hold: the rest is put back, what is missing is done.

        Returns:
            A word for each, in the order given. What the kernel refuses is told, not raised.

        Raises:
            NotPossible: an action on what may not be written, or the journal cannot be; nothing of
                these is changed then, or all of it was put back.
        """
        asked = tuple(dict.fromkeys(actions))
        for action in asked:
            demand_allowed(action)
        self._let_go(asked)
        before = {e.note.action: e for e in self.entries if self._stands(e)}
        files = [a for a in asked if not isinstance(a, HoldFd) and a not in before]
        told = {outcome.action: outcome for outcome in self._apply(files)}
        for action in asked:
            if isinstance(action, HoldFd):
                told[action] = self._keep_open(action)
            elif action in before:
                told[action] = self._standing(before[action])
        return tuple(told[action] for action in asked)

    def _let_go(self, asked: tuple[HostAction, ...]) -> None:
        """Put back what is not asked for; what went with an earlier boot is closed."""
        boot_id = self._host.read(BOOT_ID)
        here = {e.note.action for e in self.entries if boot_id in (None, e.note.boot_id)}
        self.put_back({action for action in asked if action in here or isinstance(action, HoldFd)})

    def _stands(self, entry: Entry) -> bool:
        """Whether what was done still is as it was read back; else it is done anew."""
        current = observe(self._host, entry.note.action)
        return entry.read is not None and current == entry.read.value

    def put_back(self, but: Iterable[HostAction] = ()) -> tuple[Undone, ...]:
        """Put back what holds, but for these actions.

        Raises:
            NotPossible: the journal cannot be written; all that can be is put back by then.
        """
        kept = set(but)
        for action in [action for action in self._devices if action not in kept]:
            self._devices.pop(action).close()
        gone = [entry for entry in self.entries if entry.note.action not in kept]
        return undo(self._host, self._journal, gone) if gone else ()

    def look(self, actions: Iterable[HostAction]) -> dict[str, str]:
        """What the targets of actions hold now, by path; only those that can be read."""
        found = {}
        for action in actions:
            if isinstance(action, HoldFd):
                device = self._devices.get(action)
                text = device.read() if device is not None else None
            else:
                text = observe(self._host, action)
            if text is not None:
                found[action.path] = text
        return found

    def _apply(self, actions: Sequence[HostAction]) -> list[Outcome]:
        outcomes: dict[HostAction, Outcome] = {}
        due: list[HostAction] = []
        for action in actions:
            old = observe(self._host, action)
            if old is None:
                reason = "it is not there, or cannot be read"
                outcomes[action] = Outcome(action, Word.REFUSED, reason=reason)
            elif old == wanted(action):
                outcomes[action] = Outcome(action, Word.KEPT, old, old)
            elif (why_not := self._no_way_back(action)) is not None:
                outcomes[action] = Outcome(action, Word.REFUSED, old, old, why_not)
            else:
                due.append(action)
        entries = self._journal.note(self._note(action) for action in due)
        try:
            outcomes |= {outcome.action: outcome for outcome in self._write(entries, outcomes)}
            self._conclude(entries)
        except BaseException:
            # The disk may be full: what was done is put back first, and told as far as it can be.
            mine = {entry.note.id for entry in entries}
            again = [entry for entry in self.entries if entry.note.id in mine]
            with contextlib.suppress(NotPossible):
                undo(self._host, self._journal, again)
            raise
        return [outcomes[action] for action in actions]

    def _no_way_back(self, action: HostAction) -> str | None:
        """Why what changes with an action could not be put back, where that is to be tried."""
        if not isinstance(action, WriteFile) or not action.tries:
            return None
        for path in action.resets:
            current = read_file(self._host, path)
            try:
                if current is not None:
                    write_file(self._host, path, current)
            except OSError as error:
                return f"{path} changes with it, and could not be put back: {why(error, path)}"
        return None

    def _note(self, action: HostAction) -> Note:
        others = {path: read_file(self._host, path) for path in beside(self._host, action)}
        return Note(
            id=0,
            boot_id=self._host.read(BOOT_ID) or "",
            owner=self._owner,
            action=action,
            old=ABSENT if isinstance(action, ControlGroup) else observe(self._host, action) or "",
            beside={path: text for path, text in others.items() if text is not None},
        )

    def _write(
        self, entries: tuple[Entry, ...], others: dict[HostAction, Outcome]
    ) -> list[Outcome]:
        """Do it; then once more what another write undid, or what another had to come before."""
        errors: dict[HostAction, str] = {}
        due = [entry.note.action for entry in entries]
        kept = [action for action, outcome in others.items() if outcome.word is Word.KEPT]
        for attempt in (due, [*due, *kept]):
            for action in attempt:
                if observe(self._host, action) != wanted(action):
                    self._try(action, errors)
        return [self._judged(e.note.action, e.note.old, errors) for e in entries] + [
            self._judged(action, others[action].old, errors) for action in kept
        ]

    def _try(self, action: HostAction, errors: dict[HostAction, str]) -> None:
        errors.pop(action, None)
        try:
            perform(self._host, action, wanted(action))
        except OSError as error:
            errors[action] = why(error, action.path)

    def _judged(
        self, action: HostAction, old: str | None, errors: dict[HostAction, str]
    ) -> Outcome:
        read = observe(self._host, action)
        if read == wanted(action):
            return Outcome(action, Word.KEPT if old == read else Word.GRANTED, old, read)
        word = Word.REFUSED if read in (None, old) else Word.DEGRADED
        reason = errors.get(action) or f"it reads {read} after {wanted(action)} was written"
        return Outcome(action, word, old, read, reason)

    def _conclude(self, entries: tuple[Entry, ...]) -> None:
        """Write down what was read back; what nothing came of is closed."""
        readings = []
        for entry in entries:
            value = observe(self._host, entry.note.action)
            others = {path: read_file(self._host, path) for path in entry.note.beside}
            known = {path: text for path, text in others.items() if text is not None}
            if value is not None:
                readings.append(ReadBack(id=entry.note.id, value=value, beside=known))
        self._journal.read_back(readings)
        old = {entry.note.id: entry.note for entry in entries}
        self._journal.end(
            {
                r.id: "undone"
                for r in readings
                if r.value == old[r.id].old and r.beside == old[r.id].beside
            }
        )

    def _keep_open(self, action: HoldFd) -> Outcome:
        if action not in self._devices:
            try:
                self._devices[action] = self._host.hold(action.path, action.value)
            except OSError as error:
                return Outcome(action, Word.REFUSED, reason=why(error, action.path))
        read = self._devices[action].read()
        return Outcome(action, Word.GRANTED, None, read)

    def _standing(self, entry: Entry) -> Outcome:
        """An action that was done before, as it is now."""
        return self._judged(entry.note.action, entry.note.old, {})
