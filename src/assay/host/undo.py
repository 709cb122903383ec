"""Undo: what was written down is put back, newest first.

Only what still holds what was put there is touched. What somebody changed meanwhile is told and
left alone; what was made in an earlier boot went with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from assay.errors import NotPossibleError
from assay.host.actions import explain_error, observe, perform, read_file, target_value, write_file
from assay.host.control_groups import cpus_in
from assay.host.host import Host
from assay.host.journal import Ending, Entry, Journal, Note
from assay.host.online import describe_offline_in, equal_except_offline, explain_offline, is_submask
from assay.host.threads import is_thread_name
from assay.machine.boot import BOOT_ID
from assay.machine.cpulist import format_list
from assay.machine.tunables import IRQS
from assay.records.action import ControlGroup, HostAction, IrqBalance, TaskAffinity, WriteFile

Fate = Literal["undone", "drifted", "gone", "failed"]


class UndoOutcome(msgspec.Struct, frozen=True):
    """What became of one entry.

    Attributes:
        note: as it was written down.
        fate: ``undone``, ``drifted`` (left alone), ``gone`` with its boot, or ``failed``: it stays
            written down.
        found: what was there, in one spelling.
        reason: why not.
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
    """Put back what entries changed, newest first.

    Args:
        host: that they were made on.
        journal: where they are written down.
        entries: of it.
        force: put back also what somebody changed meanwhile.
        keep_drifted: leave that written down, so that it can be forced later.

    Raises:
        NotPossibleError: the journal cannot be written; all that can be is put back by then.
    """
    newest_first = sorted(entries, key=lambda entry: -entry.note.id)
    foreseen = preview_undo(host, newest_first, force=force)
    due = [
        (entry, word)
        for entry, word in zip(newest_first, foreseen, strict=True)
        if word.fate == "undone"
    ]
    targets = {path: old for entry, _ in due for path, old in restore_targets(host, entry).items()}
    reasons: dict[str, str] = {}
    for entry, _ in due:
        for path, old in restore_targets(host, entry).items():
            _write(host, entry.note.action, path, old, reasons)
    for entry, _ in due:  # once more what another write undid, or what another had to come before
        for path, old in restore_targets(host, entry).items():
            _write(host, entry.note.action, path, targets.get(path, old), reasons)
    found = [
        _settled(host, entry, word, targets, reasons) if word.fate == "undone" else word
        for entry, word in zip(newest_first, foreseen, strict=True)
    ]
    endings: dict[int, Ending] = {}
    for word in found:
        if word.fate != "failed" and not (word.fate == "drifted" and keep_drifted):
            endings[word.note.id] = word.fate
    journal.end(endings)
    return tuple(found)


def preview_undo(host: Host, entries: Iterable[Entry], *, force: bool = False) -> list[UndoOutcome]:
    """What would become of entries, newest first, without touching anything."""
    boot_id = host.read(BOOT_ID)
    would_be: dict[str, str] = {}
    found = []
    for entry in sorted(entries, key=lambda entry: -entry.note.id):
        word = _foreseen(host, entry, boot_id, would_be, force=force)
        if word.fate == "undone":
            would_be[entry.note.action.path] = entry.note.old
        found.append(word)
    return found


def is_set_by_assay(host: Host, entry: Entry, current: str) -> bool:
    """Whether what is there now is what the entry put there.

    One who was killed in the middle of the change did not read it back; a pool of huge pages may
    have grown in part then. A control group has a name that only assay gives.
    """
    if isinstance(entry.note.action, ControlGroup):
        return True
    if entry.read is not None and current == entry.read.value:
        return True
    if entry.read is not None:
        # A CPU that was offline then is in the mask once it has come back.
        mask = isinstance(entry.note.action, TaskAffinity)
        return mask and equal_except_offline(
            host, entry.note.action.path, current, target_value(entry.note.action)
        )
    new, held = target_value(entry.note.action), entry.note.held
    begun = entry.note.old if held is None else held
    return current in (new, held) or _between(current, begun, new)


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
        reason = explain_offline(host, note.action) or "it is not there any more, or cannot be read"
        return UndoOutcome(note, "failed", None, reason)
    if current == note.old or is_set_by_assay(host, entry, current) or force:
        return UndoOutcome(note, "undone", current)
    return UndoOutcome(note, "drifted", current, "somebody changed it meanwhile")


def _has_ended(host: Host, action: HostAction) -> bool:
    """Whether what was changed is no more: a process, or an interrupt whose device went."""
    if isinstance(action, WriteFile):
        below, _, _ = action.path.removeprefix(f"{IRQS}/").partition("/")
        return action.path == f"{IRQS}/{below}/smp_affinity_list" and below not in host.listdir(
            IRQS
        )
    return isinstance(action, TaskAffinity | IrqBalance)


def restore_targets(host: Host, entry: Entry) -> dict[str, str]:
    """What is to hold what again, by path: the target of an entry, then what changed with it.

    What changed with it is left alone where somebody set it meanwhile.
    """
    note = entry.note
    after = entry.read.beside if entry.read is not None else {}
    found = {note.action.path: note.old}
    forgotten, tried = None, False
    if isinstance(note.action, ControlGroup) and note.beside:
        # What threads are given that went back to the group above, by kernels before 6.2.
        forgotten = format_list(cpus_in(host, note.action.path.rpartition("/")[0]))
        # A group that is gone was put back before, when a CPU of a thread was offline.
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
    """Put a value back where it is not there already; why it could not be is kept."""
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
    host: Host, entry: Entry, word: UndoOutcome, targets: dict[str, str], reasons: dict[str, str]
) -> UndoOutcome:
    """The same word where all holds again what it did; else what does not, and why."""
    action = entry.note.action
    for path, value in targets.items():
        own = path == action.path
        if not own and path not in entry.note.beside:
            continue
        current = observe(host, action) if own else read_file(host, path)
        if current is None and is_thread_name(path):
            continue  # it has ended
        if current != value:
            # Linux 6.1 takes a CPU that is offline out of a thread's mask for good: try later.
            reason = (
                describe_offline_in(host, path, value)
                or reasons.get(path)
                or f"it reads {current} after {value} was written"
            )
            at = "" if own else f"{path}, which changed with it, reads {current}: "
            return UndoOutcome(word.note, "failed", current if own else word.found, at + reason)
    return word
