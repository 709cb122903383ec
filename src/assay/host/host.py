"""Host: the seam through which a machine is changed.

The running host, a recorded tree and a guest keep one contract, so that all that is applied works
on each. Nothing here decides what may be written: see ``assay.host.actions``.
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
"""Of ``swapon(2)``."""


class HeldRequest(Protocol):
    """A wish that lasts while something is open."""

    def read(self) -> str | None:
        """What is in force, of all wishes together; ``None`` where it cannot be read."""
        ...

    def close(self) -> None:
        """Take it back."""
        ...


class Host(Protocol):
    """A machine that can be changed.

    All methods but ``read`` and ``listdir`` raise ``OSError`` where the kernel says no.
    """

    def read(self, path: str) -> str | None:
        """The text of a file without white space at its ends; ``None`` where it cannot be read."""
        ...

    def write(self, path: str, text: str) -> None:
        """Write a text into a file that is there, by one call."""
        ...

    def listdir(self, path: str) -> tuple[str, ...]:
        """Names in a folder, sorted; none where it is absent."""
        ...

    def mkdir(self, path: str) -> None:
        """Make a folder (a control group)."""
        ...

    def rmdir(self, path: str) -> None:
        """Remove an empty folder."""
        ...

    def affinity(self, tid: int) -> tuple[int, ...]:
        """CPUs that a thread may use."""
        ...

    def set_affinity(self, tid: int, cpus: tuple[int, ...]) -> None:
        """Keep a thread to these CPUs."""
        ...

    def hold(self, path: str, value: int) -> HeldRequest:
        """Write a number of 32 bits into a device, and keep it open."""
        ...

    def swap(self, path: str, priority: int | None) -> None:
        """Take a swap area into use."""
        ...

    def swap_off(self, path: str) -> None:
        """Take a swap area out of use."""
        ...

    def ask(self, path: str, question: str, patience_s: float) -> str:
        """What a daemon answers at a stream socket; nothing where it does not within this time.

        ``@`` begins the name of an abstract socket (unix(7)).
        """
        ...


class HeldDevice:
    """An open device that holds a wish, such as ``/dev/cpu_dma_latency``."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def read(self) -> str | None:
        """See ``HeldRequest.read``."""
        try:
            return str(struct.unpack("=i", os.pread(self._fd, 4, 0))[0])
        except (OSError, struct.error):
            return None

    def close(self) -> None:
        """See ``HeldRequest.close``."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


class LiveHost:
    """The running host, or all that lies below a folder.

    Every part of a path is opened below the one before it without following links, so that nobody
    can lead a write elsewhere.
    """

    def __init__(self, base: Path = Path("/")) -> None:
        self._base = base

    def read(self, path: str) -> str | None:
        """See ``Host.read``."""
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
        """See ``Host.write``."""
        fd = self._open(path, os.O_WRONLY)
        try:
            data = text.encode() + b"\n"
            if os.write(fd, data) != len(data):
                raise OSError(errno.EIO, "the kernel took a part of it only", path)
        finally:
            os.close(fd)

    def listdir(self, path: str) -> tuple[str, ...]:
        """See ``Host.listdir``."""
        try:
            fd = self._open(path, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            return ()
        try:
            return tuple(sorted(os.listdir(fd)))  # noqa: PTH208 - of a descriptor
        finally:
            os.close(fd)

    def mkdir(self, path: str) -> None:
        """See ``Host.mkdir``."""
        folder, _, name = path.rstrip("/").rpartition("/")
        fd = self._open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.mkdir(_plain(name), 0o755, dir_fd=fd)
        finally:
            os.close(fd)

    def rmdir(self, path: str) -> None:
        """See ``Host.rmdir``."""
        folder, _, name = path.rstrip("/").rpartition("/")
        fd = self._open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.rmdir(_plain(name), dir_fd=fd)
        finally:
            os.close(fd)

    def affinity(self, tid: int) -> tuple[int, ...]:
        """See ``Host.affinity``."""
        return tuple(sorted(os.sched_getaffinity(tid)))

    def set_affinity(self, tid: int, cpus: tuple[int, ...]) -> None:
        """See ``Host.set_affinity``."""
        os.sched_setaffinity(tid, cpus)

    def hold(self, path: str, value: int) -> HeldRequest:
        """See ``Host.hold``."""
        fd = self._open(path, os.O_RDWR)
        try:
            os.write(fd, struct.pack("=i", value))
        except BaseException:
            os.close(fd)
            raise
        return HeldDevice(fd)

    def swap(self, path: str, priority: int | None) -> None:
        """See ``Host.swap``; the kernel's own negative priorities cannot be asked for."""
        wanted = priority is not None and priority >= 0
        flags = _SWAP_FLAG_PREFER | ((priority or 0) & _SWAP_FLAG_PRIORITY) if wanted else 0
        _call("swapon", path, ctypes.c_int(flags))

    def swap_off(self, path: str) -> None:
        """See ``Host.swap_off``."""
        _call("swapoff", path)

    def ask(self, path: str, question: str, patience_s: float) -> str:
        """See ``Host.ask``.

        A process of its own asks, and waits on where we do not: a daemon that answers somebody who
        has hung up may be killed by it (SIGPIPE; seen of irqbalance 1.9.2).
        """
        if path.startswith("@"):
            return _answer(path, question, patience_s)
        folder, _, name = path.rpartition("/")
        fd = self._open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            return _answer(f"/proc/self/fd/{fd}/{_plain(name)}", question, patience_s, fd)
        finally:
            os.close(fd)

    def _open(self, path: str, flags: int) -> int:
        words = [_plain(word) for word in path.split("/") if word]
        fd = os.open(self._base, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for place, word in enumerate(words, 1):
                last = place == len(words)
                how = flags if last else os.O_RDONLY | os.O_DIRECTORY
                # A pipe that took the place of a file must not hold us up.
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


def _answer(address: str, question: str, patience_s: float, *inherited: int) -> str:
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
    end_s = time.monotonic() + patience_s
    parts: list[bytes] = []
    with process.stdout as answer:
        while select.select([answer], [], [], max(end_s - time.monotonic(), 0.0))[0]:
            part = os.read(answer.fileno(), 1 << 16)
            if not part:
                process.wait()
                return b"".join(parts).decode(errors="replace")
            parts.append(part)
    return ""


def _plain(word: str) -> str:
    if word in ("", ".", "..") or "/" in word or "\0" in word:
        raise OSError(errno.EINVAL, "no plain name", word)
    return word


def _call(name: str, path: str, *more: ctypes.c_int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(ctypes.c_char_p(os.fsencode(path)), *more):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), path)
