"""Opening of files below a directory that stands for ``/``, without leaving it.

The kernel resolves the whole path in one call: ``openat2(2)`` with ``RESOLVE_IN_ROOT``, Linux 5.6
and later. Elsewhere, or where a filter of system calls forbids it, each component is resolved
here.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
from collections.abc import Callable

from assay.machine.links import link_target, resolved

_OPENAT2 = 437
"""Number of the system call, the same on all architectures since 5.1 except alpha."""
_RESOLVE_NO_MAGICLINKS = 0x02
_RESOLVE_IN_ROOT = 0x10
_FINAL = frozenset((errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.ENAMETOOLONG))
"""Errors of the path itself. Others, such as a missing system call, do not show that the file is
missing: a resolution by components decides then."""


class _OpenHow(ctypes.Structure):
    _fields_ = (
        ("flags", ctypes.c_uint64),
        ("mode", ctypes.c_uint64),
        ("resolve", ctypes.c_uint64),
    )


def open_base(base: str) -> int:
    """Open a directory that stands for ``/``, and return its descriptor.

    Raises:
        OSError: the directory is missing or cannot be searched.
    """
    return os.open(base, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)


def open_below(base: str, path: str, flags: int, base_fd: int | None = None) -> int:
    """Open a file below a directory as if it were ``/``, and return its descriptor.

    Args:
        base: the directory, on the host.
        path: path on the machine; links and ``..`` do not leave the directory.
        flags: flags of ``open(2)``, for reading only; ``O_CLOEXEC`` is added.
        base_fd: descriptor of the directory, if it is open.

    Raises:
        OSError: the file is missing or cannot be read, or its links are cyclic.
        ValueError: the path contains a NUL character.
    """
    flags |= os.O_CLOEXEC
    found, error = _openat2(base, path, flags, base_fd)
    if found >= 0:
        return found
    if error in _FINAL:
        raise OSError(error, os.strerror(error), path)
    return _open_by_components(base, path, flags)


def _openat2(base: str, path: str, flags: int, base_fd: int | None) -> tuple[int, int]:
    """Return a descriptor, or -1 and the error number."""
    encoded = os.fsencode(path) or b"."
    if b"\0" in encoded:
        raise ValueError("embedded null byte")
    folder = open_base(base) if base_fd is None else base_fd
    try:
        how = _how(flags)
        found = _system_call()(_OPENAT2, folder, encoded, how, ctypes.sizeof(_OpenHow))
        return found, 0 if found >= 0 else ctypes.get_errno()
    finally:
        if base_fd is None:
            os.close(folder)


@functools.cache
def _how(flags: int) -> _OpenHow:
    return _OpenHow(flags, 0, _RESOLVE_IN_ROOT | _RESOLVE_NO_MAGICLINKS)


@functools.cache
def _system_call() -> Callable[..., int]:
    function = ctypes.CDLL(None, use_errno=True).syscall
    function.restype = ctypes.c_long
    function.argtypes = (
        ctypes.c_long,
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.POINTER(_OpenHow),
        ctypes.c_size_t,
    )
    call: Callable[..., int] = function
    return call


def _open_by_components(base: str, path: str, flags: int) -> int:
    real_base = os.path.realpath(base)
    real = resolved(path, lambda place: link_target(real_base + place))
    if real is None:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
    return os.open(real_base + real, flags | os.O_NOFOLLOW)
