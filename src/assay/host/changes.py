"""Changes of one owner on a host, and their restoration.

Each change has four steps: record it in the journal (on the disk), perform it, read it back, record
the reading. Therefore a process that is killed at any point leaves no unrecorded change.
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
from assay.host.undo import (
    UndoOutcome,
    is_balanced_within,
    is_set_by_assay,
    restore_targets,
    undo,
)
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
    """Result of an action."""

    GRANTED = "granted"
    DEGRADED = "degraded"
    REFUSED = "refused"
    KEPT = "kept"
    """The target had the value before."""
    DRIFTED = "drifted"
    """Another process has changed the target since: it is left unchanged."""


class ActionOutcome(msgspec.Struct, frozen=True):
    """Outcome of one action.

    Attributes:
        action: requested action.
        status: result.
        old: normalised previous value, if known.
        read: current value.
        reason: reason for another value than the requested one.
    """

    action: HostAction
    status: ActionStatus
    old: str | None = None
    read: str | None = None
    reason: str | None = None


@dataclass(frozen=True)
class UpdateResult:
    """Outcome of an update of an owner's actions.

    Attributes:
        outcomes: outcomes of the required actions.
        undone: outcomes of the actions that are no longer required.
    """

    outcomes: tuple[ActionOutcome, ...]
    undone: tuple[UndoOutcome, ...]

    @property
    def missing(self) -> tuple[ActionOutcome, ...]:
        """Required actions that are not in force."""
        held = (ActionStatus.GRANTED, ActionStatus.KEPT)
        return tuple(outcome for outcome in self.outcomes if outcome.status not in held)

    @property
    def left(self) -> tuple[UndoOutcome, ...]:
        """Targets that do not have their previous value again."""
        return tuple(outcome for outcome in self.undone if outcome.fate in ("drifted", "failed"))


class HostChanges:
    """Changes of one owner.

    Args:
        host: host to change.
        journal: open journal; the caller closes it.
        owner: owner of the changes.
    """

    def __init__(self, host: Host, journal: Journal, owner: str) -> None:
        self._host = host
        self._journal = journal
        self._owner = owner
        self._devices: dict[HoldFd, HeldRequest] = {}

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Entries of this owner that are not undone."""
        return tuple(e for e in self._journal.entries if e.note.owner == self._owner)

    def hold(self, actions: Iterable[HostAction]) -> tuple[ActionOutcome, ...]:
        """Apply exactly these actions: undo all others, and perform missing ones.

        Returns:
            The outcome of each action, in the given order. A refusal of the kernel is an outcome,
            not an error.

        Raises:
            NotPossibleError: an action is not allowed, or the journal cannot be written. Then no
                action is performed, or all of them are undone.
        """
        requested = tuple(dict.fromkeys(actions))
        for action in requested:
            demand_allowed(action)
        self._undo_unrequested(requested)
        before = {e.note.action: e for e in self.entries if self._is_unchanged(e)}
        files = [a for a in requested if not isinstance(a, HoldFd) and a not in before]
        outcomes = {outcome.action: outcome for outcome in self._apply(files)}
        for action in requested:
            if isinstance(action, HoldFd):
                outcomes[action] = self._keep_open(action)
            elif action in before:
                outcomes[action] = self._current_outcome(before[action])
        return tuple(outcomes[action] for action in requested)

    def update(self, actions: Iterable[HostAction]) -> UpdateResult:
        """Apply exactly these actions, for an owner whose requirements change during use.

        This is like ``hold``, but a new target value is written directly, without restoring the
        previous one first. Values that other processes have changed are reported and left.

        Args:
            actions: one action per target; none keeps a device open.

        Raises:
            NotPossibleError: see ``hold``; started changes are then in the journal.
        """
        requested = {action.path: action for action in actions}
        for action in requested.values():
            demand_allowed(action)
        boot_id = self._host.read(BOOT_ID)
        kept = [
            entry
            for entry in self.entries
            if entry.note.action.path in requested and boot_id in (None, entry.note.boot_id)
        ]
        dropped = [entry for entry in self.entries if entry not in kept]
        undone = undo(self._host, self._journal, dropped) if dropped else ()
        last = {requested[entry.note.action.path]: entry for entry in kept}
        outcomes = {
            action: found
            for action, entry in last.items()
            if (found := self._unchanged_outcome(action, entry)) is not None
        }
        due = [action for action in requested.values() if action not in outcomes]
        outcomes |= {outcome.action: outcome for outcome in self._apply(due, last)}
        # An interrupted process may not have closed replaced entries.
        self._journal.end({e.note.id: "replaced" for e in kept if e not in last.values()})
        return UpdateResult(tuple(outcomes[action] for action in requested.values()), undone)

    def _unchanged_outcome(self, action: HostAction, last: Entry) -> ActionOutcome | None:
        """Return the outcome of an unchanged action; ``None`` if it must be performed."""
        current = observe(self._host, action)
        at = observe(self._host, last.note.action)
        # A restarted daemon does not know the requests to the previous one.
        not_done = last.read is None or isinstance(action, IrqBalance)
        # The kernel resets the affinity of its threads when a CPU comes online.
        not_done = not_done or isinstance(action, TaskAffinity)
        if at is None or (not_done and at == last.note.old):
            return None
        if not is_set_by_assay(self._host, last, at):
            put = target_value(last.note.action) if last.read is None else last.read.value
            reason = f"another process set it to {at}; assay had set {put}"
            return ActionOutcome(action, ActionStatus.DRIFTED, last.note.old, current, reason)
        same = last.note.action == action and last.read is not None and at == last.read.value
        if isinstance(action, ControlGroup | TaskAffinity):  # a failed step may succeed now
            same = last.note.action == action and equal_except_offline(
                self._host, action.path, at, target_value(action)
            )
        return self._current_outcome(last) if same else None

    def _undo_unrequested(self, actions: tuple[HostAction, ...]) -> None:
        """Undo actions that are not requested, and close entries of earlier boots."""
        boot_id = self._host.read(BOOT_ID)
        here = {e.note.action for e in self.entries if boot_id in (None, e.note.boot_id)}
        self.restore({action for action in actions if action in here or isinstance(action, HoldFd)})

    def _is_unchanged(self, entry: Entry) -> bool:
        """Return whether a target still has its recorded reading."""
        current = observe(self._host, entry.note.action)
        return entry.read is not None and current == entry.read.value

    def restore(self, keep: Iterable[HostAction] = ()) -> tuple[UndoOutcome, ...]:
        """Undo all actions except those to keep.

        Raises:
            NotPossibleError: the journal cannot be written; all possible restorations are done by
                then.
        """
        kept = set(keep)
        for action in [action for action in self._devices if action not in kept]:
            self._devices.pop(action).close()
        dropped = [entry for entry in self.entries if entry.note.action not in kept]
        return undo(self._host, self._journal, dropped) if dropped else ()

    def read_targets(self, actions: Iterable[HostAction]) -> dict[str, str]:
        """Return the readable target values of actions, by path."""
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
        self, actions: Sequence[HostAction], replaced_entries: Mapping[HostAction, Entry] = {}
    ) -> list[ActionOutcome]:
        """Perform actions.

        Args:
            actions: actions that are not in force.
            replaced_entries: entry that an action replaces, if any.
        """
        outcomes: dict[HostAction, ActionOutcome] = {}
        due: list[HostAction] = []
        for action in actions:
            old = observe(self._host, action)
            if old is None:
                reason = "it is missing or unreadable"
                outcomes[action] = ActionOutcome(action, ActionStatus.REFUSED, reason=reason)
            elif action in replaced_entries:
                due.append(action)
            elif old == target_value(action):
                outcomes[action] = ActionOutcome(action, ActionStatus.KEPT, old, old)
            elif (why_not := self._irreversibility(action)) is not None:
                outcomes[action] = ActionOutcome(action, ActionStatus.REFUSED, old, old, why_not)
            else:
                due.append(action)
        entries = self._journal.note(
            self._note(action, replaced_entries.get(action)) for action in due
        )
        replaced = [replaced_entries[action] for action in due if action in replaced_entries]
        try:
            outcomes |= {outcome.action: outcome for outcome in self._write(entries, outcomes)}
            self._conclude(entries)
            self._journal.end({entry.note.id: "replaced" for entry in replaced})
        except BaseException:
            # The disk may be full: performed actions are undone first, and recorded as far as
            # possible. Replacing actions remain in the journal, to be repeated or undone.
            applied = {
                entry.note.id for entry in entries if entry.note.action not in replaced_entries
            }
            again = [entry for entry in self.entries if entry.note.id in applied]
            with contextlib.suppress(NotPossibleError):
                undo(self._host, self._journal, again)
            raise
        return [outcomes[action] for action in actions]

    def _irreversibility(self, action: HostAction) -> str | None:
        """Return why a side effect of an action could not be undone, if that must be tried."""
        if not isinstance(action, WriteFile) or not action.tries:
            return None
        for path in action.resets:
            current = read_file(self._host, path)
            try:
                if current is not None:
                    write_file(self._host, path, current)
            except OSError as error:
                reason = explain_error(error, path)
                return f"{path} changes as well, and could not be restored: {reason}"
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
        """Perform actions; then repeat those that another write undid or had to precede."""
        errors: dict[HostAction, str] = {}
        due = [entry.note.action for entry in entries]
        kept = [action for action, outcome in others.items() if outcome.status is ActionStatus.KEPT]
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
        if equal_except_offline(self._host, action.path, read, target_value(action)) or (
            read is not None
            and action not in errors
            and is_balanced_within(self._host, action, read)
        ):
            return ActionOutcome(
                action, ActionStatus.KEPT if old == read else ActionStatus.GRANTED, old, read
            )
        status = ActionStatus.REFUSED if read in (None, old) else ActionStatus.DEGRADED
        offline = explain_offline(self._host, action, target_value(action))
        reason = (
            offline
            or errors.get(action)
            or f"it reads {read} after {target_value(action)} was written"
        )
        return ActionOutcome(action, status, old, read, reason)

    def _conclude(self, entries: tuple[Entry, ...]) -> None:
        """Record the readings, and close entries without an effect."""
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

    def _current_outcome(self, entry: Entry) -> ActionOutcome:
        """Return the current outcome of an earlier action."""
        return self._judged(entry.note.action, entry.note.old, {})
