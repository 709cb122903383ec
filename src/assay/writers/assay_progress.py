"""Reports of the progress of a program to assay.

Copy this file beside a program, or use ``assay.progress`` where assay is installed; both are the
same code. Example::

    from assay_progress import progress

    for step in range(steps):
        loss = train(batch)
        progress(step=step, loss=loss, samples_per_s=rate)

Without assay the call does nothing. ``docs/reference/progress-records.md`` defines the records.
This file needs Linux, Python 3.8 or newer, and the standard library only.
"""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False  # that of ``typing``, which takes long to load

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import SupportsFloat

MAX_RECORD_BYTES = 4096
"""Longest record: the kernel writes up to this size to a pipe in one piece (``PIPE_BUF``)."""
INTERVAL_S = 0.005
"""Mean interval between records of one process, in seconds; more frequent ones are left out."""
BURST_RECORDS = 500
"""Number of records that may exceed this rate before any is left out."""
RETRY_S = 1.0
"""Time between two attempts to open the FIFO, in seconds."""
RANK_VARIABLES = (
    "RANK",
    "OMPI_COMM_WORLD_RANK",
    "PMI_RANK",
    "SLURM_PROCID",
    "ASSAY_INSTANCE",
)
"""Variables with the number of a process among those of a launch; the first number counts."""
MAX_KEYS = 256
"""Number of names whose JSON form is kept."""
RESERVED = frozenset({"time_s", "rank", "dropped"})
"""Keys that the writer adds."""


def progress(step: SupportsFloat | None = None, **values: SupportsFloat) -> None:
    """Report the progress of this program to assay. Without assay, do nothing.

    The call never blocks. If assay reads too slowly, the record is dropped and counted.

    Args:
        step: number of the step; the number of calls in this process if absent.
        values: numbers by name: int, float, and scalars of NumPy or PyTorch. The conversion of a
            scalar on a GPU waits for the GPU.

    Raises:
        TypeError: a value is not a number.
        ValueError: a name is reserved, or the record is longer than 4,096 bytes.

    Examples:
        >>> from assay import progress
        >>> for step in range(3):
        ...     progress(step, sps=310.2)
    """
    if _REPORTER is not None:
        _REPORTER.report(step, values)


class _Fifo:
    """FIFO of assay. A descriptor is used only if it refers to the FIFO.

    The program may close a descriptor, and its number may then belong to another file.

    Args:
        identity: device and inode of the FIFO.
        inherited: number of the inherited descriptor.
        path: path of the FIFO, for processes whose parent closed the descriptor.
    """

    def __init__(self, identity: tuple[int, int], inherited: int, path: str) -> None:
        self._device, self._inode = identity
        self._fd = inherited
        self._path = path
        self._retry_at_s = 0.0

    def write(self, record: bytes, now_s: float) -> bool:
        """Write a record, and return whether it was accepted.

        Args:
            record: at most 4,096 bytes, which the kernel accepts as a whole or not at all.
            now_s: monotonic time, in seconds.
        """
        if not self._is_fifo(self._fd) and not self._reopen(now_s):
            return False
        try:
            os.write(self._fd, record)
        except OSError:  # full (EAGAIN), or closed by another thread
            return False
        return True

    def _is_fifo(self, fd: int) -> bool:
        try:
            status = os.fstat(fd)
        except OSError:
            return False
        if status.st_ino != self._inode or status.st_dev != self._device:
            return False
        return not os.get_blocking(fd)

    def _reopen(self, now_s: float) -> bool:
        if now_s < self._retry_at_s:
            return False
        self._retry_at_s = now_s + RETRY_S
        try:
            # The right to read prevents SIGPIPE if assay ends first (fifo(7)).
            fd = os.open(self._path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return False
        if not self._is_fifo(fd):
            os.close(fd)
            return False
        self._fd = fd
        return True


class _Reporter:
    """Writer of records, for all threads of a process and for the processes that it forks.

    Args:
        fifo: FIFO of assay.
    """

    def __init__(self, fifo: _Fifo) -> None:
        import atexit

        self._fifo = fifo
        self._keys: dict[str, str] = {}
        self._begin()
        atexit.register(self._flush)
        os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        """Begin the account of this process."""
        import threading

        # Reentrant: a signal handler may report while its own thread reports.
        self._lock = threading.RLock()
        self._calls = 0
        self._dropped = 0
        self._due_s = 0.0
        self._held: tuple[float, float, Mapping[str, float]] | None = None
        self._rank: str | None = None

    def report(self, step: SupportsFloat | None, values: Mapping[str, SupportsFloat]) -> None:
        """Write a record, or hold it if the program reports more often than the records may be.

        The latest held record is written if the program then pauses or ends. Times and steps of the
        records are therefore complete: the next one contains the steps of those left out.
        """
        now_s = time.monotonic()
        numbers = _numbers(values)
        with self._lock:
            self._calls += 1
            number = self._calls if step is None else _number(step)
            held, self._held = self._held, None
            if held is not None and now_s - held[0] > INTERVAL_S:
                self._write(*held)
            self._due_s = max(self._due_s, now_s)
            if self._due_s - now_s > BURST_RECORDS * INTERVAL_S:
                self._held = (now_s, number, numbers)
            else:
                self._write(now_s, number, numbers)

    def _write(self, now_s: float, step: float, values: Mapping[str, float]) -> None:
        self._due_s += INTERVAL_S
        if self._rank is None:
            self._rank = _rank_of(os.environ)
        text = f'{{"step": {_json(step)}'
        for name, value in values.items():
            text += (self._keys.get(name) or self._key(name)) + _json(value)
        dropped = f', "dropped": {self._dropped}' if self._dropped else ""
        record = f'{text}, "time_s": {now_s:.6f}{self._rank}{dropped}}}\n'.encode()
        if len(record) > MAX_RECORD_BYTES:
            raise ValueError(
                f"The record has {len(record)} bytes, the limit is {MAX_RECORD_BYTES}: "
                "report fewer values or shorter names."
            )
        if self._fifo.write(record, now_s):
            self._dropped = 0
        else:
            self._dropped += 1

    def _key(self, name: str) -> str:
        """Return the part of a record before a value, and keep it for later records."""
        if name in RESERVED:
            raise ValueError(f"The name {name!r} is reserved: choose another one.")
        if name.isidentifier() and name.isascii():
            key = f', "{name}": '
        else:
            import json

            key = f", {json.dumps(name)}: "
        if len(self._keys) < MAX_KEYS:
            self._keys[name] = key
        return key

    def _flush(self) -> None:
        """Write the held record at the end of the process."""
        if self._held is not None:
            held, self._held = self._held, None
            self._write(*held)


def _numbers(values: Mapping[str, SupportsFloat]) -> Mapping[str, float]:
    """Return values as numbers of Python, which no later assignment changes."""
    for value in values.values():
        if type(value) is not float and type(value) is not int:
            return {name: _number(one) for name, one in values.items()}
    return values  # type: ignore[return-value]


def _number(value: SupportsFloat) -> float:
    return value if type(value) is int else float(value)


def _json(number: float) -> str:
    """Return a number in JSON, which has none for NaN and infinity: ``null``."""
    return repr(number) if number - number == 0 else "null"


def _rank_of(environment: Mapping[str, str]) -> str:
    """Return the field with the rank of this process; empty without one."""
    for variable in RANK_VARIABLES:
        text = environment.get(variable, "")
        if text.isascii() and text.isdigit():
            return f', "rank": {int(text)}'
    return ""


def _reporter(environment: Mapping[str, str]) -> _Reporter | None:
    """Return the writer to the FIFO that assay has published; ``None`` without one."""
    try:
        device, inode = environment["ASSAY_PROGRESS_INODE"].split(":")
        identity = int(device), int(inode)
        inherited = int(environment["ASSAY_PROGRESS_FD"])
        path = environment["ASSAY_PROGRESS_PATH"]
    except (KeyError, ValueError):
        return None
    return _Reporter(_Fifo(identity, inherited, path))


_REPORTER = _reporter(os.environ)
