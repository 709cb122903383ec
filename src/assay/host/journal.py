"""The undo journal: what is changed on this machine is written down before it is changed.

JSON lines in a folder of root's alone. A *note* is on the disk before its change is made; a
*read-back* tells what the change came to; a *close* ends an entry. Whoever holds the lock of the
folder may change the machine, one at a time. A line that was cut in half ends the file of one who
was stopped while writing: a half note tells of a change that was never begun.
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
"""Variable that names another folder than the usual one."""
DEFAULT_FOLDER = "/var/lib/assay"
_FOLDER = "journal"
_FILE = "changes.jsonl"
_LOCK = "lock"
_FLAGS = os.O_NOFOLLOW | os.O_CLOEXEC
_OTHERS = stat.S_IRWXG | stat.S_IRWXO

Ending = Literal["undone", "drifted", "gone", "replaced"]
"""``gone``: with the boot in which it was made, or with the thread or device that it was of;
``replaced``: by a later entry of the same owner's about the same target."""


class Note(Record, frozen=True, kw_only=True, tag_field="line", tag="note"):
    """A change that is about to be made.

    Attributes:
        id: counts up in one file.
        boot_id: of the kernel that runs.
        owner: who makes it; what ``APPLY_OWNER`` makes stays until it is asked back.
        action: what is done.
        old: what its target holds before, in one spelling; before the first of the changes that
            were replaced by this one.
        held: what the last of those had put there, where there was one.
        beside: the same of the files that change with it, by path.
        persists: whether it outlives the boot.
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
    """What was there once the change was made."""

    id: int
    value: str
    beside: dict[str, str] = {}


class Close(Record, frozen=True, kw_only=True, tag_field="line", tag="close"):
    """The end of an entry."""

    id: int
    outcome: Ending


GUARD_TIMEOUT_S = 10.0
"""How long the guard of one who was killed may take to put back what that changed."""
_LOOK_S = 0.02

APPLY_OWNER = "machine apply"
"""Owner of what stays until it is asked back."""

PARTITIONS_OWNER = "partitions"
"""Owner of what all partitions of this boot need, until they are deleted."""


_LINES = msgspec.json.Decoder(Note | ReadBack | Close)


class MachineBusyError(NotPossibleError):
    """Another assay is changing the machine."""


class Entry(msgspec.Struct, frozen=True):
    """A change that was not taken back yet.

    Attributes:
        note: as it was written down.
        read: what the change came to, where it was read back.
    """

    note: Note
    read: ReadBack | None = None


class _Content(msgspec.Struct):
    """What a file says."""

    entries: dict[int, Entry] = msgspec.field(default_factory=dict)
    last_id: int = 0
    whole_bytes: int = 0
    unreadable: int = 0


class Journal:
    """The journal of this machine, held for writing.

    Args:
        folder_fd: of the journal's folder; closed with it.
        lock_fd: of its lock file, which is held.
    """

    def __init__(self, folder_fd: int, lock_fd: int) -> None:
        self._folder_fd = folder_fd
        self.lock_fd = lock_fd
        self._fd = -1
        try:
            self._fd = os.open(
                _FILE, os.O_RDWR | os.O_CREAT | os.O_APPEND | _FLAGS, 0o600, dir_fd=folder_fd
            )
            content = _content(_whole(self._fd))
            # What one wrote who was stopped in the middle of a line must not begin ours.
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
        """What was not taken back yet, oldest first."""
        return tuple(self._entries[number] for number in sorted(self._entries))

    def note(self, notes: Iterable[Note]) -> tuple[Entry, ...]:
        """Write down what is about to be done; it is on the disk then.

        The identities of the notes are given here.

        Raises:
            NotPossibleError: it cannot be written.
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
        """Write down what changes came to.

        Raises:
            NotPossibleError: it cannot be written.
        """
        readings = tuple(readings)
        self._append(readings)
        for reading in readings:
            self._entries[reading.id] = Entry(self._entries[reading.id].note, reading)

    def end(self, endings: Mapping[int, Ending]) -> None:
        """Close entries. The file is emptied with the last of them.

        Raises:
            NotPossibleError: it cannot be written.
        """
        self._append(Close(id=number, outcome=outcome) for number, outcome in endings.items())
        for number in endings:
            self._entries.pop(number, None)
        if not self._entries:
            os.ftruncate(self._fd, 0)

    def close(self) -> None:
        """Let go of it; whoever shares the lock holds it on."""
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
                f"The undo journal cannot be written ({error.strerror}): nothing is changed that "
                "could not be put back.",
                f"Make room where {_place()} lies.",
            ) from error


def open_journal(*, lock_fd: int | None = None) -> Journal:
    """The journal of this machine, for writing.

    Where one who changed the machine was killed, its guard is waited for, which puts it back.

    Args:
        lock_fd: of its lock, which somebody holds who shares it with us.

    Raises:
        Busy: another process changes the machine now.
        NotPossibleError: its folder cannot be had, or others could write there.
    """
    folder_fd = _folder()
    try:
        held = _locked(folder_fd) if lock_fd is None else lock_fd
    except BaseException:
        os.close(folder_fd)
        raise
    return Journal(folder_fd, held)


def has_entries() -> bool:
    """Whether anything is written down that was not taken back; asks without the lock."""
    try:
        return (_place() / _FILE).stat().st_size > 0
    except OSError:
        return False


def read_entries() -> tuple[Entry, ...]:
    """What was not taken back yet, oldest first; read without the lock, while others may write.

    None where there is no journal, or this user may not read it.
    """
    try:
        fd = os.open(_place() / _FILE, os.O_RDONLY | os.O_NONBLOCK | _FLAGS)
    except OSError:
        return ()
    try:
        entries = _content(_whole(fd)).entries
    finally:
        os.close(fd)
    return tuple(entries[number] for number in sorted(entries))


def _place() -> Path:
    return Path(os.environ.get(STATE_VARIABLE) or DEFAULT_FOLDER) / _FOLDER


def _folder() -> int:
    """The folder, made where it is absent, opened step by step without following links.

    Raises:
        NotPossibleError: it cannot be, or others could put something else in its place.
    """
    place = _place()
    if not place.is_absolute():
        raise NotPossibleError(
            f"{STATE_VARIABLE} is no whole path: {place.parent}.", "Write it from / on."
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
            f"The folder of the undo journal, {place}, cannot be had: {error.strerror}.",
            f"System settings are changed as root; {STATE_VARIABLE} names another folder.",
        ) from error
    except BaseException:
        os.close(fd)
        raise
    return fd


def _demand_ours(fd: int, place: Path, *, whole: bool) -> None:
    """Refuse a folder in which others could put something in the place of what we wrote.

    Raises:
        NotPossibleError: they could.
    """
    found = os.fstat(fd)
    shared = stat.S_IWGRP | stat.S_IWOTH
    sticky = bool(found.st_mode & stat.S_ISVTX)
    foreign = found.st_uid not in (0, os.geteuid())
    if foreign or (found.st_mode & shared and not sticky) or (whole and found.st_mode & _OTHERS):
        raise NotPossibleError(
            f"Others may write where the undo journal lies, {place}, or read it.",
            f"Make its folders root's (chown root, chmod 700), or name others by {STATE_VARIABLE}.",
        )


def _locked(folder_fd: int) -> int:
    """The lock, held.

    Raises:
        Busy: another process holds it.
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
                        f"{f' (process {holder})' if holder else ''}: one at a time.",
                        "Wait until it has ended.",
                    ) from error
                time.sleep(_LOOK_S)
        os.ftruncate(fd, 0)
        os.pwrite(fd, str(os.getpid()).encode(), 0)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _holder(fd: int) -> int | None:
    """The process that took the lock; its guard may hold it on."""
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


def _whole(fd: int) -> bytes:
    size = os.fstat(fd).st_size
    parts = []
    at = 0
    while at < size and (part := os.pread(fd, size - at, at)):
        parts.append(part)
        at += len(part)
    return b"".join(parts)


def _content(text: bytes) -> _Content:
    """What the lines say; what cannot be read is counted, and changes nothing."""
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
        case _:  # a reading of what was closed
            pass
