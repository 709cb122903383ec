"""Changes: what one owner has made hold on a host, and how it is put back.

Each step: written down (on the disk) -> done -> read back -> what was read is written down. So one
who is killed at any point leaves nothing that the journal does not tell.
"""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from assay.errors import NotPossibleError
from assay.host.actions import (
    demand_allowed,
    explain_error,
    observe,
    perform,
    read_file,
    side_effects,
    target_value,
    write_file,
)
from assay.host.control_groups import ABSENT
from assay.host.host import HeldRequest, Host
from assay.host.journal import Entry, Journal, Note, ReadBack
from assay.host.online import equal_except_offline, explain_offline
from assay.host.undo import UndoOutcome, is_set_by_assay, restore_targets, undo
from assay.machine.boot import BOOT_ID
from assay.records.action import (
    ControlGroup,
    HoldFd,
    HostAction,
    IrqBalance,
    TaskAffinity,
    WriteFile,
)


class ActionStatus(enum.StrEnum):
    """What became of an action."""

    GRANTED = "granted"
    DEGRADED = "degraded"
    REFUSED = "refused"
    KEPT = "kept"
    """It was so before."""
    DRIFTED = "drifted"
    """Somebody else set it since: it is left."""


class ActionOutcome(msgspec.Struct, frozen=True):
    """What became of one action.

    Attributes:
        action: that was asked for.
        word: what became of it.
        old: what was there before, in one spelling, where it can be said.
        read: what is there now.
        reason: why it is not what was asked for.
    """

    action: HostAction
    word: ActionStatus
    old: str | None = None
    read: str | None = None
    reason: str | None = None


@dataclass(frozen=True)
class UpdateResult:
    """What became of what an owner needs.

    Attributes:
        outcomes: of all that is needed.
        undone: of what is not needed any more.
    """

    outcomes: tuple[ActionOutcome, ...]
    undone: tuple[UndoOutcome, ...]

    @property
    def missing(self) -> tuple[ActionOutcome, ...]:
        """What is needed, and is not so."""
        held = (ActionStatus.GRANTED, ActionStatus.KEPT)
        return tuple(outcome for outcome in self.outcomes if outcome.word not in held)

    @property
    def left(self) -> tuple[UndoOutcome, ...]:
        """What is not as it was before."""
        return tuple(word for word in self.undone if word.fate in ("drifted", "failed"))


class HostChanges:
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
        self._devices: dict[HoldFd, HeldRequest] = {}

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What was written down in this owner's name, and not taken back."""
        return tuple(e for e in self._journal.entries if e.note.owner == self._owner)

    def hold(self, actions: Iterable[HostAction]) -> tuple[ActionOutcome, ...]:
        """Make exactly these hold: the rest is put back, what is missing is done.

        Returns:
            A word for each, in the order given. What the kernel refuses is told, not raised.

        Raises:
            NotPossibleError: an action on what may not be written, or the journal cannot be; nothing of
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

    def update(self, actions: Iterable[HostAction]) -> UpdateResult:
        """Make exactly these hold, for an owner whose needs change while they are in use.

        As ``hold``, but what a target is to hold instead of something else is written at once, with
        no way back to what was there before all of it; and what somebody else set since is told and
        left.

        Args:
            actions: of targets, one for each; none of them keeps something open.

        Raises:
            NotPossibleError: as ``hold``; what was begun is written down then.
        """
        asked = {action.path: action for action in actions}
        for action in asked.values():
            demand_allowed(action)
        boot_id = self._host.read(BOOT_ID)
        kept = [
            entry
            for entry in self.entries
            if entry.note.action.path in asked and boot_id in (None, entry.note.boot_id)
        ]
        gone = [entry for entry in self.entries if entry not in kept]
        undone = undo(self._host, self._journal, gone) if gone else ()
        last = {asked[entry.note.action.path]: entry for entry in kept}
        told = {
            action: found
            for action, entry in last.items()
            if (found := self._as_it_is(action, entry)) is not None
        }
        due = [action for action in asked.values() if action not in told]
        told |= {outcome.action: outcome for outcome in self._apply(due, last)}
        # One who was stopped did not get to end what was replaced.
        self._journal.end({e.note.id: "replaced" for e in kept if e not in last.values()})
        return UpdateResult(tuple(told[action] for action in asked.values()), undone)

    def _as_it_is(self, action: HostAction, last: Entry) -> ActionOutcome | None:
        """What stays as it is: it was done, or somebody else set it; ``None``: it is to be done."""
        current = observe(self._host, action)
        at = observe(self._host, last.note.action)
        # A daemon that was started anew knows nothing of what another was told.
        not_done = last.read is None or isinstance(action, IrqBalance)
        # The kernel gives its threads all CPUs again when one of them comes online.
        not_done = not_done or isinstance(action, TaskAffinity)
        if at is None or (not_done and at == last.note.old):
            return None
        if not is_set_by_assay(self._host, last, at):
            put = target_value(last.note.action) if last.read is None else last.read.value
            told = f"somebody set it to {at} meanwhile; {put} was put there"
            return ActionOutcome(action, ActionStatus.DRIFTED, last.note.old, current, told)
        same = last.note.action == action and last.read is not None and at == last.read.value
        if isinstance(action, ControlGroup | TaskAffinity):  # a step that failed may work now
            same = last.note.action == action and equal_except_offline(
                self._host, action.path, at, target_value(action)
            )
        return self._standing(last) if same else None

    def _let_go(self, asked: tuple[HostAction, ...]) -> None:
        """Put back what is not asked for; what went with an earlier boot is closed."""
        boot_id = self._host.read(BOOT_ID)
        here = {e.note.action for e in self.entries if boot_id in (None, e.note.boot_id)}
        self.put_back({action for action in asked if action in here or isinstance(action, HoldFd)})

    def _stands(self, entry: Entry) -> bool:
        """Whether what was done still is as it was read back; else it is done anew."""
        current = observe(self._host, entry.note.action)
        return entry.read is not None and current == entry.read.value

    def put_back(self, but: Iterable[HostAction] = ()) -> tuple[UndoOutcome, ...]:
        """Put back what holds, but for these actions.

        Raises:
            NotPossibleError: the journal cannot be written; all that can be is put back by then.
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

    def _apply(
        self, actions: Sequence[HostAction], over: Mapping[HostAction, Entry] = {}
    ) -> list[ActionOutcome]:
        """Do actions.

        Args:
            actions: none of which is done.
            over: what each replaces, of those that replace something.
        """
        outcomes: dict[HostAction, ActionOutcome] = {}
        due: list[HostAction] = []
        for action in actions:
            old = observe(self._host, action)
            if old is None:
                reason = "it is not there, or cannot be read"
                outcomes[action] = ActionOutcome(action, ActionStatus.REFUSED, reason=reason)
            elif action in over:
                due.append(action)
            elif old == target_value(action):
                outcomes[action] = ActionOutcome(action, ActionStatus.KEPT, old, old)
            elif (why_not := self._no_way_back(action)) is not None:
                outcomes[action] = ActionOutcome(action, ActionStatus.REFUSED, old, old, why_not)
            else:
                due.append(action)
        entries = self._journal.note(self._note(action, over.get(action)) for action in due)
        replaced = [over[action] for action in due if action in over]
        try:
            outcomes |= {outcome.action: outcome for outcome in self._write(entries, outcomes)}
            self._conclude(entries)
            self._journal.end({entry.note.id: "replaced" for entry in replaced})
        except BaseException:
            # The disk may be full: what was done is put back first, and told as far as it can be.
            # What replaces something stays written down, to be done again or put back.
            mine = {entry.note.id for entry in entries if entry.note.action not in over}
            again = [entry for entry in self.entries if entry.note.id in mine]
            with contextlib.suppress(NotPossibleError):
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
                return f"{path} changes with it, and could not be put back: {explain_error(error, path)}"
        return None

    def _note(self, action: HostAction, replaced: Entry | None) -> Note:
        others = {path: read_file(self._host, path) for path in side_effects(self._host, action)}
        known = {path: text for path, text in others.items() if text is not None}
        now = observe(self._host, action) or ""
        old, held = (ABSENT if isinstance(action, ControlGroup) else now), None
        if replaced is not None:
            before = restore_targets(self._host, replaced)
            old, held = before.pop(action.path), now
            known |= before
        return Note(
            id=0,
            boot_id=self._host.read(BOOT_ID) or "",
            owner=self._owner,
            action=action,
            old=old,
            held=held,
            beside=known,
        )

    def _write(
        self, entries: tuple[Entry, ...], others: dict[HostAction, ActionOutcome]
    ) -> list[ActionOutcome]:
        """Do it; then once more what another write undid, or what another had to come before."""
        errors: dict[HostAction, str] = {}
        due = [entry.note.action for entry in entries]
        kept = [action for action, outcome in others.items() if outcome.word is ActionStatus.KEPT]
        for attempt in (due, [*due, *kept]):
            for action in attempt:
                if observe(self._host, action) != target_value(action):
                    self._try(action, errors)
        return [self._judged(e.note.action, e.note.old, errors) for e in entries] + [
            self._judged(action, others[action].old, errors) for action in kept
        ]

    def _try(self, action: HostAction, errors: dict[HostAction, str]) -> None:
        errors.pop(action, None)
        try:
            perform(self._host, action, target_value(action))
        except OSError as error:
            errors[action] = explain_error(error, action.path)

    def _judged(
        self, action: HostAction, old: str | None, errors: dict[HostAction, str]
    ) -> ActionOutcome:
        read = observe(self._host, action)
        if equal_except_offline(self._host, action.path, read, target_value(action)):
            return ActionOutcome(
                action, ActionStatus.KEPT if old == read else ActionStatus.GRANTED, old, read
            )
        word = ActionStatus.REFUSED if read in (None, old) else ActionStatus.DEGRADED
        offline = explain_offline(self._host, action, target_value(action))
        reason = (
            offline
            or errors.get(action)
            or f"it reads {read} after {target_value(action)} was written"
        )
        return ActionOutcome(action, word, old, read, reason)

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

    def _keep_open(self, action: HoldFd) -> ActionOutcome:
        if action not in self._devices:
            try:
                self._devices[action] = self._host.hold(action.path, action.value)
            except OSError as error:
                return ActionOutcome(
                    action, ActionStatus.REFUSED, reason=explain_error(error, action.path)
                )
        read = self._devices[action].read()
        return ActionOutcome(action, ActionStatus.GRANTED, None, read)

    def _standing(self, entry: Entry) -> ActionOutcome:
        """An action that was done before, as it is now."""
        return self._judged(entry.note.action, entry.note.old, {})
