"""Builds: the cache of what was built, a folder for each key.

``KEY/files`` is what ``{build}`` stands for: a program is built where it stays, since programs hold
the paths of their libraries. ``KEY/build.json`` is written last; a folder without it is what an end
in the middle left, and is built anew. ``KEY/output.txt`` is what the build wrote.

The kernel's file locks (flock(2)) hold the cache: of a folder while it is built, of the whole,
shared, while a sitting lasts. What was not used for long is removed when a sitting begins and no
other is under way.
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
"""What is kept beyond it goes, the longest unused first."""
MAX_UNUSED_S = 30 * 86400.0
"""What was not used for so long goes as well."""
MIN_UNUSED_S = 3600.0
"""What was used since stays however much it is: a study has several sittings, one by one."""
_LOOK_S = 0.05
"""How often to see whether another process has let go of a folder."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class BuildNote(Record, frozen=True, kw_only=True, tag_field="schema", tag=1):
    """What a build was.

    Attributes:
        argv: its command; ``{build}`` stands for the folder of its files.
        cwd: where it ran.
        compiler: first line that its compiler gives for ``--version``.
        elapsed_s: how long it took.
        size_bytes: of its files.
        built_at: when it ended, in seconds since the epoch.
    """

    key: str
    argv: tuple[str, ...]
    cwd: str | None = None
    compiler: str | None = None
    elapsed_s: float
    size_bytes: int
    built_at: float


class BuildFolder(msgspec.Struct, frozen=True):
    """The folder of one key, held by this process alone.

    Attributes:
        fd: keeps it held, also where only a process that was started meanwhile has it open.
    """

    folder: Path
    fd: int

    @property
    def files(self) -> Path:
        """For what is built."""
        return files_in(self.folder)

    @property
    def output(self) -> Path:
        """For what the build writes on its way."""
        return self.folder / "output.txt"

    def clear(self) -> None:
        """Begin with nothing."""
        for entry in list(self.folder.iterdir()):
            _remove(entry)
        self.files.mkdir()

    def keep(self, note: BuildNote) -> None:
        """The build is whole from now on."""
        written = self.folder / "build.json.part"
        written.write_bytes(encode(note))
        written.replace(_note_in(self.folder))

    def remove(self) -> None:
        """Leave nothing of it."""
        _remove(self.folder)


class BuildCache:
    """The cache, held against being cleaned up until it is closed.

    Args:
        root: its folder; made where it is not there.

    Raises:
        NotPossibleError: it cannot be made or read.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        with _usable(root):
            root.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._fd = os.open(root, _FOLDER)
        # A file system without locks grants none, and nothing is cleaned up there.
        with contextlib.suppress(OSError):
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _clean(root)
        with contextlib.suppress(OSError):
            fcntl.flock(self._fd, fcntl.LOCK_SH)

    def close(self) -> None:
        """Let go of it."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def files(self, key: str) -> Path:
        """Where what was built under a key lies."""
        return files_in(self.root / key)

    def find(self, key: str) -> BuildNote | None:
        """What is kept under a key; it counts as used now."""
        folder = self.root / key
        note = _read(folder)
        if note is None or not files_in(folder).is_dir():
            return None
        with contextlib.suppress(OSError):
            os.utime(_note_in(folder))
        return note

    @contextlib.contextmanager
    def held(self, key: str, wait_s: float) -> Iterator[BuildFolder]:
        """The folder of a key for this process alone.

        Raises:
            NotPossibleError: another process has held it for ``wait_s`` seconds; or it cannot be made.
        """
        folder = self.root / key
        end = time.monotonic() + wait_s
        with _usable(folder):
            fd = _locked(folder, end)
        try:
            yield BuildFolder(folder, fd)
        finally:
            # What a build left running has the descriptor as well, and must not hold it for ever.
            with contextlib.suppress(OSError):
                fcntl.flock(fd, fcntl.LOCK_UN)
            os.close(fd)


def builds_folder(env: Mapping[str, str]) -> Path:
    """``builds`` in the user's cache.

    Raises:
        NotPossibleError: the user has no home.
    """
    cache = cache_folder(env)
    if cache is None:
        raise NotPossibleError(
            "There is no home folder to keep builds in.", "Set XDG_CACHE_HOME to a folder."
        )
    return cache / "builds"


def files_in(folder: Path) -> Path:
    """Where the files of a build lie in its folder."""
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
    """A descriptor whose lock holds a folder, which is made where it is not there."""
    while True:
        folder.mkdir(exist_ok=True)
        fd = os.open(folder, _FOLDER)
        try:
            _lock(fd, folder, end)
            if _lies_at(folder, fd):
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
                    f"Another process has been building in {folder} for too long.",
                    "See what it does, or end it; then go on.",
                ) from error
            time.sleep(_LOOK_S)
        except OSError:  # no locks on this file system
            return
        else:
            return


def _lies_at(folder: Path, fd: int) -> bool:
    try:
        return os.path.samestat(folder.lstat(), os.fstat(fd))
    except FileNotFoundError:
        return False


def _clean(root: Path) -> None:
    """Remove what was not used for long, and what is too much, the longest unused first."""
    kept_bytes = 0
    for used_at, size_bytes, folder in sorted(_known(root), reverse=True):
        kept_bytes += size_bytes
        unused_s = time.time() - used_at
        if unused_s > MAX_UNUSED_S or (kept_bytes > MAX_BYTES and unused_s > MIN_UNUSED_S):
            _remove_free(folder)


def _known(root: Path) -> Iterator[tuple[float, int, Path]]:
    """When each folder was last used, how large it is, and where; half a build counts as old."""
    for folder in root.iterdir():
        note = _read(folder)
        if note is None:
            yield 0.0, 0, folder
            continue
        with contextlib.suppress(OSError):
            yield _note_in(folder).stat().st_mtime, note.size_bytes, folder


def _remove_free(folder: Path) -> None:
    """Remove a folder unless what a killed process left still builds in it."""
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
        for folder, _, _ in os.walk(path):  # a build may have taken permissions away
            with contextlib.suppress(OSError):
                Path(folder).chmod(0o700)
        shutil.rmtree(path, ignore_errors=True)
        return
    with contextlib.suppress(OSError):
        path.unlink()
