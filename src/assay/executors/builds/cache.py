"""Cache of builds: a folder for each key.

``KEY/files`` is the folder ``{build}``. A program is built at its final place, since programs
contain the paths of their libraries. ``KEY/build.json`` is written last: a folder without it is an
interrupted build, and is built again. ``KEY/output.txt`` is the output of the build.

File locks (flock(2)) protect the cache: a folder during its build, and the whole cache (shared)
during a session. Old builds are removed when a session begins and no other one is active.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from assay.errors import InvalidInputError, NotPossibleError
from assay.machine.user_cache import cache_folder
from assay.records.codec import Record, decode, encode

MAX_BYTES = 4 * 2**30
"""Size of the cache, in bytes, beyond which the least recently used builds are removed."""
MAX_UNUSED_S = 30 * 86400.0
"""Time in seconds after which an unused build is removed."""
MIN_UNUSED_S = 3600.0
"""Time in seconds for which a used build is kept at any size: a study has several sessions, one
after another."""
_POLL_INTERVAL_S = 0.05
"""Interval in seconds between attempts to lock a folder."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class BuildNote(Record, frozen=True, kw_only=True, tag_field="schema", tag=1):
    """Description of a finished build.

    Attributes:
        argv: command; ``{build}`` stands for the folder of its files.
        cwd: working folder.
        compiler: first line of the compiler's output for ``--version``.
        elapsed_s: duration, in seconds.
        size_bytes: size of its files.
        built_at: time of its end, in seconds since the epoch.
    """

    key: str
    argv: tuple[str, ...]
    cwd: str | None = None
    compiler: str | None = None
    elapsed_s: float
    size_bytes: int
    built_at: float


class BuildFolder(msgspec.Struct, frozen=True):
    """Folder of one key, locked by this process.

    Attributes:
        fd: descriptor of the lock, which lasts while any process has the descriptor open.
    """

    folder: Path
    fd: int

    @property
    def files(self) -> Path:
        """Folder of the built files."""
        return files_in(self.folder)

    @property
    def output(self) -> Path:
        """File for the output of the build."""
        return self.folder / "output.txt"

    def clear(self) -> None:
        """Remove earlier contents."""
        for entry in list(self.folder.iterdir()):
            _remove(entry)
        self.files.mkdir()

    def complete(self, note: BuildNote) -> None:
        """Record the complete build."""
        written = self.folder / "build.json.part"
        written.write_bytes(encode(note))
        written.replace(_note_in(self.folder))

    def remove(self) -> None:
        """Remove the folder."""
        _remove(self.folder)


class BuildCache:
    """Cache of builds, locked against cleanup until it is closed.

    Args:
        root: folder of the cache; created if missing.

    Raises:
        NotPossibleError: the folder cannot be created or read.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        with _usable(root):
            root.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._fd = os.open(root, _FOLDER)
        # A file system without locks grants none; there the cache is never cleaned up.
        with contextlib.suppress(OSError):
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _clean(root)
        with contextlib.suppress(OSError):
            fcntl.flock(self._fd, fcntl.LOCK_SH)

    def close(self) -> None:
        """Release the lock."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def files(self, key: str) -> Path:
        """Return the folder of the files of a key."""
        return files_in(self.root / key)

    def find(self, key: str) -> BuildNote | None:
        """Return the build of a key, and mark it as used."""
        folder = self.root / key
        note = _read(folder)
        if note is None or not files_in(folder).is_dir():
            return None
        with contextlib.suppress(OSError):
            os.utime(_note_in(folder))
        return note

    @contextlib.contextmanager
    def lock(self, key: str, wait_s: float) -> Iterator[BuildFolder]:
        """Lock the folder of a key for this process.

        Raises:
            NotPossibleError: another process has locked it for ``wait_s`` seconds, or it cannot be
                created.
        """
        folder = self.root / key
        end = time.monotonic() + wait_s
        with _usable(folder):
            fd = _locked(folder, end)
        try:
            yield BuildFolder(folder, fd)
        finally:
            # A surviving process of the build has the descriptor as well, and must not keep the
            # lock.
            with contextlib.suppress(OSError):
                fcntl.flock(fd, fcntl.LOCK_UN)
            os.close(fd)


def builds_folder(env: Mapping[str, str]) -> Path:
    """Return ``builds`` in the user's cache folder.

    Raises:
        NotPossibleError: the user has no home folder.
    """
    cache = cache_folder(env)
    if cache is None:
        raise NotPossibleError(
            "Builds are stored in the home folder, which is missing.",
            "Set XDG_CACHE_HOME to a folder.",
        )
    return cache / "builds"


def files_in(folder: Path) -> Path:
    """Return the folder of the built files within the folder of a key."""
    return folder / "files"


def _note_in(folder: Path) -> Path:
    return folder / "build.json"


def _read(folder: Path) -> BuildNote | None:
    try:
        return decode(_note_in(folder).read_bytes(), BuildNote)
    except (OSError, InvalidInputError):
        return None


@contextlib.contextmanager
def _usable(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise NotPossibleError(
            f"The folder for builds {folder} cannot be used: {error.strerror}.",
            "XDG_CACHE_HOME names another place for it.",
        ) from error


def _locked(folder: Path, end: float) -> int:
    """Return a descriptor that locks a folder, which is created if missing."""
    while True:
        folder.mkdir(exist_ok=True)
        fd = os.open(folder, _FOLDER)
        try:
            _lock(fd, folder, end)
            if _is_folder_at(folder, fd):
                return fd
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)


def _lock(fd: int, folder: Path, end: float) -> None:
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() > end:
                raise NotPossibleError(
                    f"Another process has used {folder} for a build for too long.",
                    "Check that process, or end it; then resume.",
                ) from error
            time.sleep(_POLL_INTERVAL_S)
        except OSError:  # no locks on this file system
            return
        else:
            return


def _is_folder_at(folder: Path, fd: int) -> bool:
    try:
        return os.path.samestat(folder.lstat(), os.fstat(fd))
    except FileNotFoundError:
        return False


def _clean(root: Path) -> None:
    """Remove builds that are old, and the least recently used ones beyond the size limit."""
    kept_bytes = 0
    for used_at, size_bytes, folder in sorted(_known(root), reverse=True):
        kept_bytes += size_bytes
        unused_s = time.time() - used_at
        if unused_s > MAX_UNUSED_S or (kept_bytes > MAX_BYTES and unused_s > MIN_UNUSED_S):
            _remove_free(folder)


def _known(root: Path) -> Iterator[tuple[float, int, Path]]:
    """Yield time of last use, size and folder of each build; an incomplete build counts as old."""
    for folder in root.iterdir():
        note = _read(folder)
        if note is None:
            yield 0.0, 0, folder
            continue
        with contextlib.suppress(OSError):
            yield _note_in(folder).stat().st_mtime, note.size_bytes, folder


def _remove_free(folder: Path) -> None:
    """Remove a folder unless a surviving process still builds in it."""
    try:
        fd = os.open(folder, _FOLDER)
    except OSError:
        return
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _remove(folder)
    except OSError:
        return
    finally:
        os.close(fd)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        for folder, _, _ in os.walk(path):  # a build may have removed permissions
            with contextlib.suppress(OSError):
                Path(folder).chmod(0o700)
        shutil.rmtree(path, ignore_errors=True)
        return
    with contextlib.suppress(OSError):
        path.unlink()
