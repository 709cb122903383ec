"""Host: the interface through which a machine is changed.

The running host, a recorded tree and a guest have one contract, so that all actions work on each.
The permission to write a file is checked elsewhere: see ``assay.host.actions``.
"""

from __future__ import annotations

import ctypes
import errno
import os
import select
import stat
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Protocol

_FLAGS = os.O_NOFOLLOW | os.O_CLOEXEC
_SWAP_FLAG_PREFER = 0x8000
_SWAP_FLAG_PRIORITY = 0x7FFF
"""Flags of ``swapon(2)``."""


class HeldRequest(Protocol):
    """Request that lasts while a device is open."""

    def read(self) -> str | None:
        """Return the value in force for all requests together; ``None`` if it is unreadable."""
        ...

    def close(self) -> None:
        """Withdraw the request."""
        ...


class Host(Protocol):
    """Machine that can be changed.

    All methods except ``read`` and ``listdir`` raise ``OSError`` if the kernel refuses.
    """

    def read(self, path: str) -> str | None:
        """Return the stripped text of a file; ``None`` if it cannot be read."""
        ...

    def write(self, path: str, text: str) -> None:
        """Write a text to an existing file in one call."""
        ...

    def listdir(self, path: str) -> tuple[str, ...]:
        """Return the sorted names in a folder; empty if it is missing."""
        ...

    def mkdir(self, path: str) -> None:
        """Create a folder (a control group)."""
        ...

    def rmdir(self, path: str) -> None:
        """Remove an empty folder."""
        ...

    def affinity(self, tid: int) -> tuple[int, ...]:
        """Return the CPUs that a thread may use."""
        ...

    def set_affinity(self, tid: int, cpus: tuple[int, ...]) -> None:
        """Restrict a thread to these CPUs."""
        ...

    def hold(self, path: str, value: int) -> HeldRequest:
        """Write a number of 32 bits to a device, and keep it open."""
        ...

    def swap(self, path: str, priority: int | None) -> None:
        """Enable a swap area."""
        ...

    def swap_off(self, path: str) -> None:
        """Disable a swap area."""
        ...

    def ask(self, path: str, question: str, timeout_s: float) -> str:
        """Return the answer of a daemon at a stream socket; empty without an answer in time.

        The name of an abstract socket begins with ``@`` (unix(7)).
        """
        ...


class HeldDevice:
    """Open device with a request, such as ``/dev/cpu_dma_latency``."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def read(self) -> str | None:
        """Return the value in force; see ``HeldRequest.read``."""
        try:
            return str(struct.unpack("=i", os.pread(self._fd, 4, 0))[0])
        except (OSError, struct.error):
            return None

    def close(self) -> None:
        """Withdraw the request; see ``HeldRequest.close``."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


class LiveHost:
    """Running host, or the file tree below a folder.

    Each part of a path is opened relative to the previous one without following links, so that no
    other user can redirect a write.
    """

    def __init__(self, base: Path = Path("/")) -> None:
        self._base = base

    def read(self, path: str) -> str | None:
        """Read a file; see ``Host.read``."""
        try:
            fd = self._open(path, os.O_RDONLY)
        except OSError:
            return None
        try:
            parts = []
            while part := os.read(fd, 1 << 16):
                parts.append(part)
        except OSError:
            return None
        finally:
            os.close(fd)
        return b"".join(parts).decode(errors="replace").strip(" \t\r\n\0")

    def write(self, path: str, text: str) -> None:
        """Write a file; see ``Host.write``."""
        fd = self._open(path, os.O_WRONLY)
        try:
            data = text.encode() + b"\n"
            if os.write(fd, data) != len(data):
                raise OSError(errno.EIO, "the kernel accepted only part of the text", path)
        finally:
            os.close(fd)

    def listdir(self, path: str) -> tuple[str, ...]:
        """List a folder; see ``Host.listdir``."""
        try:
            fd = self._open(path, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            return ()
        try:
            return tuple(sorted(os.listdir(fd)))  # noqa: PTH208 - of a descriptor
        finally:
            os.close(fd)

    def mkdir(self, path: str) -> None:
        """Create a folder; see ``Host.mkdir``."""
        folder, _, name = path.rstrip("/").rpartition("/")
        fd = self._open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.mkdir(_plain_name(name), 0o755, dir_fd=fd)
        finally:
            os.close(fd)

    def rmdir(self, path: str) -> None:
        """Remove a folder; see ``Host.rmdir``."""
        folder, _, name = path.rstrip("/").rpartition("/")
        fd = self._open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.rmdir(_plain_name(name), dir_fd=fd)
        finally:
            os.close(fd)

    def affinity(self, tid: int) -> tuple[int, ...]:
        """Return the CPUs of a thread; see ``Host.affinity``."""
        return tuple(sorted(os.sched_getaffinity(tid)))

    def set_affinity(self, tid: int, cpus: tuple[int, ...]) -> None:
        """Restrict a thread; see ``Host.set_affinity``."""
        os.sched_setaffinity(tid, cpus)

    def hold(self, path: str, value: int) -> HeldRequest:
        """Keep a device open; see ``Host.hold``."""
        fd = self._open(path, os.O_RDWR)
        try:
            os.write(fd, struct.pack("=i", value))
        except BaseException:
            os.close(fd)
            raise
        return HeldDevice(fd)

    def swap(self, path: str, priority: int | None) -> None:
        """Enable a swap area; see ``Host.swap``. Negative priorities cannot be requested."""
        wanted = priority is not None and priority >= 0
        flags = _SWAP_FLAG_PREFER | ((priority or 0) & _SWAP_FLAG_PRIORITY) if wanted else 0
        _call("swapon", path, ctypes.c_int(flags))

    def swap_off(self, path: str) -> None:
        """Disable a swap area; see ``Host.swap_off``."""
        _call("swapoff", path)

    def ask(self, path: str, question: str, timeout_s: float) -> str:
        """Ask a daemon; see ``Host.ask``.

        A separate process asks, and continues to wait after a timeout: a late answer to a closed
        connection may kill the daemon (SIGPIPE; observed with irqbalance 1.9.2).
        """
        if path.startswith("@"):
            return _answer(path, question, timeout_s)
        folder, _, name = path.rpartition("/")
        fd = self._open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            return _answer(f"/proc/self/fd/{fd}/{_plain_name(name)}", question, timeout_s, fd)
        finally:
            os.close(fd)

    def _open(self, path: str, flags: int) -> int:
        words = [_plain_name(word) for word in path.split("/") if word]
        fd = os.open(self._base, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for place, word in enumerate(words, 1):
                last = place == len(words)
                how = flags if last else os.O_RDONLY | os.O_DIRECTORY
                # A pipe in place of the file must not block.
                inner = os.open(word, how | os.O_NONBLOCK | _FLAGS, dir_fd=fd)
                os.close(fd)
                fd = inner
            kind = os.fstat(fd).st_mode
            if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind) or stat.S_ISCHR(kind)):
                raise OSError(errno.EINVAL, "neither a file nor a folder", path)
        except BaseException:
            os.close(fd)
            raise
        return fd


def _answer(address: str, question: str, timeout_s: float, *inherited: int) -> str:
    program = Path(__file__).with_name("socket_client.py")
    process = subprocess.Popen(
        [sys.executable, "-X", "utf8", "-I", program, address, question],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        pass_fds=inherited,
        start_new_session=True,
    )
    assert process.stdout is not None
    end_s = time.monotonic() + timeout_s
    parts: list[bytes] = []
    with process.stdout as answer:
        while select.select([answer], [], [], max(end_s - time.monotonic(), 0.0))[0]:
            part = os.read(answer.fileno(), 1 << 16)
            if not part:
                process.wait()
                return b"".join(parts).decode(errors="replace")
            parts.append(part)
    return ""


def _plain_name(word: str) -> str:
    if word in ("", ".", "..") or "/" in word or "\0" in word:
        raise OSError(errno.EINVAL, "not a plain name", word)
    return word


def _call(name: str, path: str, *more: ctypes.c_int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(ctypes.c_char_p(os.fsencode(path)), *more):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), path)
