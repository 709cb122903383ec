"""Page cache of files: evict files, read files in, and count cached pages.

Interfaces: ``posix_fadvise(2)``; ``cachestat(2)`` (Linux 6.5, include/uapi/linux/mman.h), number
451 on every architecture; ``mincore(2)``, which since Linux 5.2 reports every page as resident to
users who neither own the file nor may write to it.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import mmap
import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from assay.launch.command import command_of
from assay.launch.file_arguments import file_words
from assay.records import Evidence, PageCache, Plan, Workload
from assay.records.facts import CachedFiles
from assay.units import show_bytes, show_count

_CACHESTAT = 451
_CHUNK_BYTES = 2**20
_PAGE_BYTES = mmap.PAGESIZE
_MAP_FAILED = ctypes.c_void_p(-1).value


class _Range(ctypes.Structure):
    _fields_ = (("off", ctypes.c_uint64), ("len", ctypes.c_uint64))


class _Stat(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_uint64)
        for name in ("cache", "dirty", "writeback", "evicted", "recently_evicted")
    )


def apply_cache_state(plan: Plan, workload: Workload, env: Mapping[str, str]) -> CachedFiles | None:
    """Apply the page-cache state of a plan; return ``None`` if the plan has none.

    Raises:
        InvalidInputError: a placeholder is missing from the command.
    """
    states = [action.state for action in plan.actions if isinstance(action, PageCache)]
    if not states:
        return None
    numbers: list[int | None] = [number for number, _ in plan.instances]
    commands = [command_of(plan, workload, number) for number in numbers or [None]]
    named = (path for argv in commands for path in command_files(argv, workload, env))
    files = tuple(dict.fromkeys(named))
    for path in files:
        with contextlib.suppress(OSError):
            (evict_file if states[0] == "cold" else load_file)(path)
    return count_cached(files)


def page_cache_evidence(cached: CachedFiles) -> Evidence:
    """Return which part of the files of a launch was in the page cache before it."""
    value = None if cached.cached_bytes is None else float(cached.cached_bytes)
    note = f"of {show_bytes(cached.size_bytes)} in {show_count(cached.files, 'file')}"
    return Evidence(kind="page_cache", value=value, unit="bytes", note=cached.unavailable or note)


def command_files(
    argv: tuple[str, ...], workload: Workload, env: Mapping[str, str]
) -> tuple[Path, ...]:
    """Return the non-empty regular files that a command names: program, arguments, input."""
    folder = Path(workload.cwd or ".")
    program = shutil.which(argv[0], path=env.get("PATH"))
    words = (*([program] if program else []), *file_words(argv, workload.stdin))
    paths = (Path(os.path.realpath(folder / word)) for word in words if "\0" not in word)
    return tuple(dict.fromkeys(path for path in paths if _is_file(path)))


def _is_file(path: Path) -> bool:
    try:
        found = path.stat()
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_size > 0


def evict_file(path: Path) -> None:
    """Evict a file from the page cache after its write-back.

    Mapped pages remain, and so do pages of a file system without a backing store.

    Raises:
        OSError: the file cannot be opened.
    """
    with _opened(path) as fd:
        with contextlib.suppress(OSError):  # dirty pages then remain, and are counted
            os.fdatasync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)


def load_file(path: Path) -> None:
    """Read a file into the page cache.

    Raises:
        OSError: the file cannot be read.
    """
    with _opened(path) as fd:
        while os.read(fd, _CHUNK_BYTES):
            pass


def count_cached(files: Iterable[Path]) -> CachedFiles:
    """Return how many bytes of these files are in the page cache."""
    count = size_bytes = cached_bytes = 0
    absent = None
    for path in files:
        try:
            with _opened(path) as fd:
                size = os.fstat(fd).st_size
                count, size_bytes = count + 1, size_bytes + size
                cached_bytes += cached_bytes_of(fd)
        except OSError as error:
            absent = absent or f"{path.name}: {error.strerror}"
    known = None if absent else cached_bytes
    return CachedFiles(files=count, size_bytes=size_bytes, cached_bytes=known, unavailable=absent)


def cached_bytes_of(fd: int) -> int:
    """Return the bytes of an open file that are in the page cache.

    Raises:
        OSError: the kernel does not report it, or not to this user.
    """
    size = os.fstat(fd).st_size
    try:
        pages = _by_cachestat(fd)
    except OSError as error:
        if error.errno not in (errno.ENOSYS, errno.EPERM, errno.EOPNOTSUPP):
            raise
        pages = _by_mincore(fd, size)
    return min(pages * _PAGE_BYTES, size)


def _by_cachestat(fd: int) -> int:
    whole, found = _Range(0, 0), _Stat()
    libc = ctypes.CDLL(None, use_errno=True)
    arguments = (ctypes.c_int(fd), ctypes.byref(whole), ctypes.byref(found), ctypes.c_uint(0))
    if libc.syscall(ctypes.c_long(_CACHESTAT), *arguments):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return int(found.cache)


def _by_mincore(fd: int, size: int) -> int:
    owner = os.fstat(fd).st_uid
    if os.geteuid() not in (0, owner) and not os.access(f"/proc/self/fd/{fd}", os.W_OK):
        raise OSError(errno.EPERM, "only users with write access may see the cached part of a file")
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    length = ctypes.c_size_t(size)
    at = libc.mmap(
        None, length, mmap.PROT_READ, mmap.MAP_SHARED, ctypes.c_int(fd), ctypes.c_long(0)
    )
    if at == _MAP_FAILED:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    try:
        pages = (ctypes.c_ubyte * (-(-size // _PAGE_BYTES)))()
        if libc.mincore(ctypes.c_void_p(at), length, pages):
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
    finally:
        libc.munmap(ctypes.c_void_p(at), length)
    return sum(page & 1 for page in pages)


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[int]:
    # A pipe in place of the file must not block.
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        yield fd
    finally:
        os.close(fd)
