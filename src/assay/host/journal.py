"""Undo journal: each change of this machine is recorded before it is made.

The journal has JSON lines in a folder that only root can access. A *note* is on the disk before its
change is made; a *read-back* records its result; a *close* ends an entry. Only the holder of the
folder's lock may change the machine. An incomplete last line is the note of a process that was
stopped while writing: its change was not begun.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Literal

import msgspec

from assay.errors import NotPossibleError
from assay.records.action import HostAction
from assay.records.codec import Record, encode

STATE_VARIABLE = "ASSAY_STATE"
"""Variable that names another folder than the default one."""
DEFAULT_FOLDER = "/var/lib/assay"
_FOLDER = "journal"
_FILE = "changes.jsonl"
_LOCK = "lock"
_FLAGS = os.O_NOFOLLOW | os.O_CLOEXEC
_GROUP_AND_OTHER_BITS = stat.S_IRWXG | stat.S_IRWXO

Ending = Literal["undone", "drifted", "gone", "replaced"]
"""Result of a closed entry. ``gone``: removed with the boot, thread or device of the change.
``replaced``: superseded by a later entry of the same owner and target."""


class Note(Record, frozen=True, kw_only=True, tag_field="line", tag="note"):
    """Record of an upcoming change.

    Attributes:
        id: number that increases within a file.
        boot_id: boot id of the running kernel.
        owner: owner of the change; changes of ``APPLY_OWNER`` last until they are undone
            explicitly.
        action: action to perform.
        old: normalised previous value of the target; before the first of the changes that this one
            replaces.
        held: value that the last replaced change had set, if any.
        beside: previous values of files that change as a side effect, by path.
        persists: whether the change survives a reboot.
    """

    id: int
    boot_id: str
    owner: str
    action: HostAction
    old: str
    held: str | None = None
    beside: dict[str, str] = {}
    persists: bool = False


class ReadBack(Record, frozen=True, kw_only=True, tag_field="line", tag="read"):
    """Record of the values after a change."""

    id: int
    value: str
    beside: dict[str, str] = {}


class Close(Record, frozen=True, kw_only=True, tag_field="line", tag="close"):
    """Record of the end of an entry."""

    id: int
    outcome: Ending


GUARD_TIMEOUT_S = 10.0
"""Time in seconds for the guard of a killed process to restore its changes."""
_POLL_INTERVAL_S = 0.02

APPLY_OWNER = "machine apply"
"""Owner of changes that last until they are undone explicitly."""

PARTITIONS_OWNER = "partitions"
"""Owner of the changes that all partitions of this boot require, until they are deleted."""


_LINES = msgspec.json.Decoder(Note | ReadBack | Close)


class MachineBusyError(NotPossibleError):
    """Refusal since another assay is changing the machine."""


class Entry(msgspec.Struct, frozen=True):
    """Change that is not undone.

    Attributes:
        note: record of the change.
        read: values after the change, if they were read back.
    """

    note: Note
    read: ReadBack | None = None


class _Content(msgspec.Struct):
    """Contents of a journal file."""

    entries: dict[int, Entry] = msgspec.field(default_factory=dict)
    last_id: int = 0
    whole_bytes: int = 0
    unreadable: int = 0


class Journal:
    """Journal of this machine, locked for writing.

    Args:
        folder_fd: descriptor of the journal's folder; closed with the journal.
        lock_fd: descriptor of its lock file, which is locked.
    """

    def __init__(self, folder_fd: int, lock_fd: int) -> None:
        self._folder_fd = folder_fd
        self.lock_fd = lock_fd
        self._fd = -1
        try:
            self._fd = os.open(
                _FILE, os.O_RDWR | os.O_CREAT | os.O_APPEND | _FLAGS, 0o600, dir_fd=folder_fd
            )
            content = _content(_read_all(self._fd))
            # The incomplete line of an interrupted process must not precede new lines.
            os.ftruncate(self._fd, content.whole_bytes)
            os.fsync(folder_fd)
        except BaseException:
            self.close()
            raise
        self._entries = content.entries
        self._last_id = content.last_id
        self.unreadable = content.unreadable

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Entries that are not undone, oldest first."""
        return tuple(self._entries[number] for number in sorted(self._entries))

    def note(self, notes: Iterable[Note]) -> tuple[Entry, ...]:
        """Record upcoming changes; they are on the disk afterwards.

        The notes are numbered here.

        Raises:
            NotPossibleError: the journal cannot be written.
        """
        numbered = []
        for note in notes:
            self._last_id += 1
            numbered.append(msgspec.structs.replace(note, id=self._last_id))
        self._append(numbered)
        for note in numbered:
            self._entries[note.id] = Entry(note)
        return tuple(self._entries[note.id] for note in numbered)

    def read_back(self, readings: Iterable[ReadBack]) -> None:
        """Record the values after changes.

        Raises:
            NotPossibleError: the journal cannot be written.
        """
        readings = tuple(readings)
        self._append(readings)
        for reading in readings:
            self._entries[reading.id] = Entry(self._entries[reading.id].note, reading)

    def end(self, endings: Mapping[int, Ending]) -> None:
        """Close entries. The file is emptied with the last of them.

        Raises:
            NotPossibleError: the journal cannot be written.
        """
        self._append(Close(id=number, outcome=outcome) for number, outcome in endings.items())
        for number in endings:
            self._entries.pop(number, None)
        if not self._entries:
            os.ftruncate(self._fd, 0)

    def close(self) -> None:
        """Close the journal; processes that share the lock keep it."""
        for fd in (self._fd, self.lock_fd, self._folder_fd):
            if fd >= 0:
                os.close(fd)
        self._fd = self.lock_fd = self._folder_fd = -1

    def _append(self, lines: Iterable[Record]) -> None:
        text = b"".join(encode(line) + b"\n" for line in lines)
        if not text:
            return
        size = os.fstat(self._fd).st_size
        try:
            while text:
                text = text[os.write(self._fd, text) :]
            os.fsync(self._fd)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._fd, size)
            raise NotPossibleError(
                f"The undo journal cannot be written ({error.strerror}), so that no change is "
                "made: it could not be undone.",
                f"Free space on the file system of {_journal_folder()}.",
            ) from error


def open_journal(*, lock_fd: int | None = None) -> Journal:
    """Open the journal of this machine for writing.

    If a process that changed the machine was killed, the call waits for its guard to restore the
    changes.

    Args:
        lock_fd: descriptor of its lock, if another process shares it with this one.

    Raises:
        MachineBusyError: another process is changing the machine.
        NotPossibleError: its folder cannot be opened, or other users may write there.
    """
    folder_fd = _folder()
    try:
        held = _locked(folder_fd) if lock_fd is None else lock_fd
    except BaseException:
        os.close(folder_fd)
        raise
    return Journal(folder_fd, held)


def has_entries() -> bool:
    """Return whether any change is not undone, without the lock."""
    try:
        return (_journal_folder() / _FILE).stat().st_size > 0
    except OSError:
        return False


def read_entries() -> tuple[Entry, ...]:
    """Return the entries that are not undone, oldest first; read without the lock.

    The result is empty without a journal, or if this user may not read it.
    """
    try:
        fd = os.open(_journal_folder() / _FILE, os.O_RDONLY | os.O_NONBLOCK | _FLAGS)
    except OSError:
        return ()
    try:
        entries = _content(_read_all(fd)).entries
    finally:
        os.close(fd)
    return tuple(entries[number] for number in sorted(entries))


def _journal_folder() -> Path:
    return Path(os.environ.get(STATE_VARIABLE) or DEFAULT_FOLDER) / _FOLDER


def _folder() -> int:
    """Return the folder, created if missing, and opened step by step without following links.

    Raises:
        NotPossibleError: the folder cannot be opened, or other users could replace it.
    """
    place = _journal_folder()
    if not place.is_absolute():
        raise NotPossibleError(
            f"{STATE_VARIABLE} is not an absolute path: {place.parent}.", "Begin it with /."
        )
    fd = os.open("/", os.O_RDONLY | os.O_DIRECTORY | _FLAGS)
    try:
        for word in place.parts[1:]:
            with contextlib.suppress(FileExistsError):
                os.mkdir(word, 0o700, dir_fd=fd)
            inner = os.open(word, os.O_RDONLY | os.O_DIRECTORY | _FLAGS, dir_fd=fd)
            os.close(fd)
            fd = inner
            _demand_ours(fd, place, whole=word == _FOLDER)
    except OSError as error:
        os.close(fd)
        raise NotPossibleError(
            f"The folder of the undo journal, {place}, cannot be opened: {error.strerror}.",
            f"Change system settings as root; {STATE_VARIABLE} may name another folder.",
        ) from error
    except BaseException:
        os.close(fd)
        raise
    return fd


def _demand_ours(fd: int, place: Path, *, whole: bool) -> None:
    """Refuse a folder in which other users could replace the journal.

    Raises:
        NotPossibleError: other users could do so.
    """
    found = os.fstat(fd)
    shared = stat.S_IWGRP | stat.S_IWOTH
    sticky = bool(found.st_mode & stat.S_ISVTX)
    foreign = found.st_uid not in (0, os.geteuid())
    if (
        foreign
        or (found.st_mode & shared and not sticky)
        or (whole and found.st_mode & _GROUP_AND_OTHER_BITS)
    ):
        raise NotPossibleError(
            f"Other users may write or read the folder of the undo journal, {place}.",
            "Restrict its folders to root (chown root, chmod 700), or name another folder by "
            f"{STATE_VARIABLE}.",
        )


def _locked(folder_fd: int) -> int:
    """Lock the folder; return the descriptor of the lock.

    Raises:
        MachineBusyError: another process holds the lock.
    """
    fd = os.open(_LOCK, os.O_RDWR | os.O_CREAT | _FLAGS, 0o600, dir_fd=folder_fd)
    end_s = time.monotonic() + GUARD_TIMEOUT_S
    try:
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError as error:
                holder = _holder(fd)
                if time.monotonic() > end_s or _lives(holder):
                    raise MachineBusyError(
                        "Another assay is changing system settings"
                        f"{f' (process {holder})' if holder else ''}; only one may do so at a "
                        "time.",
                        "Wait until it has ended.",
                    ) from error
                time.sleep(_POLL_INTERVAL_S)
        os.ftruncate(fd, 0)
        os.pwrite(fd, str(os.getpid()).encode(), 0)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _holder(fd: int) -> int | None:
    """Return the process that took the lock; its guard may still hold it."""
    text = os.pread(fd, 20, 0).decode(errors="replace").strip()
    return int(text) if text.isascii() and text.isdigit() else None


def _lives(pid: int | None) -> bool:
    if pid is None:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _read_all(fd: int) -> bytes:
    size = os.fstat(fd).st_size
    parts = []
    at = 0
    while at < size and (part := os.pread(fd, size - at, at)):
        parts.append(part)
        at += len(part)
    return b"".join(parts)


def _content(text: bytes) -> _Content:
    """Return the entries of journal lines; unreadable lines are only counted."""
    found = _Content()
    whole, _, _ = text.rpartition(b"\n")
    found.whole_bytes = len(whole) + 1 if whole or text.startswith(b"\n") else 0
    for line in whole.splitlines():
        try:
            record = _LINES.decode(line)
        except msgspec.MsgspecError:
            found.unreadable += 1
            continue
        _take(found, record)
    return found


def _take(found: _Content, record: Note | ReadBack | Close) -> None:
    match record:
        case Note():
            found.entries[record.id] = Entry(record)
            found.last_id = max(found.last_id, record.id)
        case ReadBack() if record.id in found.entries:
            found.entries[record.id] = Entry(found.entries[record.id].note, record)
        case Close():
            found.entries.pop(record.id, None)
        case _:  # a reading of a closed entry
            pass
