"""Undo: recorded changes are restored, newest first.

Only targets that still have the value set by assay are written. Values that other processes have
changed are reported and left, except interrupts that irqbalance may have moved within their CPUs.
Changes of an earlier boot are gone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from assay.errors import NotPossibleError
from assay.host import irqbalance
from assay.host.actions import explain_error, observe, perform, read_file, target_value, write_file
from assay.host.control_groups import cpus_in
from assay.host.host import Host
from assay.host.journal import Ending, Entry, Journal, Note
from assay.host.online import describe_offline_in, equal_except_offline, explain_offline, is_submask
from assay.host.threads import is_thread_name
from assay.machine.boot import BOOT_ID
from assay.machine.cpulist import format_list
from assay.machine.tunables import INTERRUPT_CPUS, IRQS
from assay.records.action import ControlGroup, HostAction, IrqBalance, TaskAffinity, WriteFile

Fate = Literal["undone", "drifted", "gone", "failed"]


class UndoOutcome(msgspec.Struct, frozen=True):
    """Outcome of one entry.

    Attributes:
        note: record of the change.
        fate: ``undone``, ``drifted`` (left unchanged), ``gone`` with its boot, or ``failed``
            (remains in the journal).
        found: normalised value before the restoration.
        reason: reason for a failure.
    """

    note: Note
    fate: Fate
    found: str | None = None
    reason: str | None = None


def undo(
    host: Host,
    journal: Journal,
    entries: Iterable[Entry],
    *,
    force: bool = False,
    keep_drifted: bool = False,
) -> tuple[UndoOutcome, ...]:
    """Restore the changes of entries, newest first.

    Args:
        host: host of the changes.
        journal: journal of the entries.
        entries: entries to undo.
        force: whether to restore also values that other processes have changed.
        keep_drifted: whether to keep these entries in the journal, so that they can be forced
            later.

    Raises:
        NotPossibleError: the journal cannot be written; all possible restorations are done by then.
    """
    newest_first = sorted(entries, key=lambda entry: -entry.note.id)
    foreseen = preview_undo(host, newest_first, force=force)
    due = [
        (entry, outcome)
        for entry, outcome in zip(newest_first, foreseen, strict=True)
        if outcome.fate == "undone"
    ]
    targets = {path: old for entry, _ in due for path, old in restore_targets(host, entry).items()}
    reasons: dict[str, str] = {}
    for entry, _ in due:
        for path, old in restore_targets(host, entry).items():
            _write(host, entry.note.action, path, old, reasons)
    for entry, _ in due:  # repeat values that another write undid or had to precede
        for path, old in restore_targets(host, entry).items():
            _write(host, entry.note.action, path, targets.get(path, old), reasons)
    found = [
        _settled(host, entry, outcome, targets, reasons) if outcome.fate == "undone" else outcome
        for entry, outcome in zip(newest_first, foreseen, strict=True)
    ]
    endings: dict[int, Ending] = {}
    for outcome in found:
        if outcome.fate != "failed" and not (outcome.fate == "drifted" and keep_drifted):
            endings[outcome.note.id] = outcome.fate
    journal.end(endings)
    return tuple(found)


def preview_undo(host: Host, entries: Iterable[Entry], *, force: bool = False) -> list[UndoOutcome]:
    """Return the outcomes that ``undo`` would have, newest first, without any change."""
    boot_id = host.read(BOOT_ID)
    would_be: dict[str, str] = {}
    found = []
    for entry in sorted(entries, key=lambda entry: -entry.note.id):
        outcome = _foreseen(host, entry, boot_id, would_be, force=force)
        if outcome.fate == "undone":
            would_be[entry.note.action.path] = entry.note.old
        found.append(outcome)
    return found


def is_set_by_assay(host: Host, entry: Entry, current: str) -> bool:
    """Return whether the current value is the one that the entry set.

    A process that was killed during the change has no read-back; a pool of huge pages may then have
    grown partially. The name of a control group is unique to assay.
    """
    if isinstance(entry.note.action, ControlGroup):
        return True
    if entry.read is not None and current == entry.read.value:
        return True
    if is_balanced_within(host, entry.note.action, current):
        return True
    if entry.read is not None:
        # A CPU that was offline reappears in the mask once it is online.
        mask = isinstance(entry.note.action, TaskAffinity)
        return mask and equal_except_offline(
            host, entry.note.action.path, current, target_value(entry.note.action)
        )
    new, held = target_value(entry.note.action), entry.note.held
    begun = entry.note.old if held is None else held
    return current in (new, held) or _between(current, begun, new)


def is_balanced_within(host: Host, action: HostAction, current: str) -> bool:
    """Return whether irqbalance may have chosen some of the CPUs that an interrupt may use.

    The kernel itself keeps the list as it was written (``smp_affinity`` in
    ``Documentation/core-api/irq/irq-affinity.rst``).
    """
    within = is_submask(action.path, current, target_value(action))
    return within and irqbalance.balances(host, action.path)


def _between(current: str, one: str, other: str) -> bool:
    try:
        low, high = sorted((int(one), int(other)))
        return low <= int(current) <= high
    except ValueError:
        return False


def _foreseen(
    host: Host, entry: Entry, boot_id: str | None, would_be: dict[str, str], *, force: bool
) -> UndoOutcome:
    note = entry.note
    if note.boot_id != boot_id and not note.persists:
        return UndoOutcome(note, "gone")
    current = would_be.get(note.action.path) or observe(host, note.action)
    if current is None and _has_ended(host, note.action):
        return UndoOutcome(note, "gone")
    if current is None:
        reason = explain_offline(host, note.action) or "it is missing or unreadable"
        return UndoOutcome(note, "failed", None, reason)
    if current == note.old or is_set_by_assay(host, entry, current) or force:
        return UndoOutcome(note, "undone", current)
    return UndoOutcome(note, "drifted", current, "another process has changed it")


def _has_ended(host: Host, action: HostAction) -> bool:
    """Return whether the target (a process, or a device's interrupt) has disappeared."""
    if isinstance(action, WriteFile):
        interrupt = INTERRUPT_CPUS.fullmatch(action.path)
        return interrupt is not None and interrupt[1] not in host.listdir(IRQS)
    return isinstance(action, TaskAffinity | IrqBalance)


def restore_targets(host: Host, entry: Entry) -> dict[str, str]:
    """Return the values to restore, by path: of the target, then of its side effects.

    Side effects that other processes have changed since are omitted.
    """
    note = entry.note
    after = entry.read.beside if entry.read is not None else {}
    found = {note.action.path: note.old}
    forgotten, tried = None, False
    if isinstance(note.action, ControlGroup) and note.beside:
        # Affinity of threads that returned to the parent group, in kernels before 6.2.
        forgotten = format_list(cpus_in(host, note.action.path.rpartition("/")[0]))
        # A missing group was restored before, while a CPU of a thread was offline.
        tried = observe(host, note.action) == note.old
    for path, old in note.beside.items():
        current = read_file(host, path)
        if current is None:
            continue
        ours = current in (after.get(path, current), old, forgotten)
        if ours or (tried and is_submask(path, current, old)):
            found[path] = old
    return found


def _write(host: Host, action: HostAction, path: str, value: str, reasons: dict[str, str]) -> None:
    """Restore a value that differs; keep the reason of a failure."""
    own = path == action.path
    if (observe(host, action) if own else read_file(host, path)) == value:
        return
    reasons.pop(path, None)
    try:
        if own:
            perform(host, action, value)
        else:
            write_file(host, path, value)
    except OSError as error:
        reasons[path] = explain_error(error, path)
    except NotPossibleError as error:
        reasons[path] = error.cause


def _settled(
    host: Host, entry: Entry, outcome: UndoOutcome, targets: dict[str, str], reasons: dict[str, str]
) -> UndoOutcome:
    """Return the outcome after the restoration: unchanged, or failed with its reason."""
    action = entry.note.action
    for path, value in targets.items():
        own = path == action.path
        if not own and path not in entry.note.beside:
            continue
        current = observe(host, action) if own else read_file(host, path)
        if current is None and is_thread_name(path):
            continue  # it has ended
        if current == value or (path not in reasons and irqbalance.balances(host, path)):
            continue  # restored, and possibly assigned again since
        # Linux 6.1 removes an offline CPU from a thread's mask permanently: try again later.
        reason = (
            describe_offline_in(host, path, value)
            or reasons.get(path)
            or f"it reads {current} after {value} was written"
        )
        at = "" if own else f"{path}, a side effect, reads {current}: "
        return UndoOutcome(outcome.note, "failed", current if own else outcome.found, at + reason)
    return outcome
