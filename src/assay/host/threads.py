"""Threads of a host, and their CPUs.

Interfaces: ``proc_pid_stat(5)``, ``sched_setaffinity(2)``. The flags are those of
``include/linux/sched.h``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from assay.errors import InvalidInputError
from assay.host.host import Host
from assay.machine.cpulist import format_list, parse_list
from assay.machine.process_stat import parse_process_stat

_PF_KTHREAD = 0x0020_0000
_PF_NO_SETAFFINITY = 0x0400_0000
"""Flags of a thread in ``include/linux/sched.h``, shown in proc_pid_stat(5)."""
_NAME = re.compile(r"/proc/([0-9]{1,9})@([0-9]{1,19})", re.ASCII)


@dataclass(frozen=True)
class Thread:
    """State of a thread.

    Attributes:
        tid: thread id.
        started: start time in clock ticks after boot; with the id it identifies a thread uniquely.
        name: name of the thread.
        kernel: whether it is a kernel thread.
        bound: whether the kernel forbids changes of its affinity.
    """

    tid: int
    started: int
    name: str
    kernel: bool
    bound: bool


def read_thread_state(host: Host, tid: int) -> Thread | None:
    """Return the state of a thread; ``None`` if it has ended."""
    stat = parse_process_stat(host.read(f"/proc/{tid}/stat"))
    if stat is None:
        return None
    return Thread(
        tid=tid,
        started=stat.started_ticks,
        name=stat.name,
        kernel=bool(stat.flags & _PF_KTHREAD),
        bound=bool(stat.flags & _PF_NO_SETAFFINITY),
    )


def kernel_threads(host: Host) -> tuple[Thread, ...]:
    """Return all kernel threads, by id."""
    numbers = sorted(int(name) for name in host.listdir("/proc") if name.isdecimal())
    found = (read_thread_state(host, number) for number in numbers)
    return tuple(thread for thread in found if thread is not None and thread.kernel)


def allowed_cpus(host: Host, tid: int) -> tuple[int, ...]:
    """Return the CPUs that a thread may use; empty if it has ended.

    ``sched_getaffinity`` omits offline CPUs, which the thread may use again once they are online.
    Its status file lists them, and also CPUs that do not exist on this machine.
    """
    try:
        usable = host.affinity(tid)
    except OSError:
        return ()
    text = host.read(f"/proc/{tid}/status") or ""
    listed = re.search(r"^Cpus_allowed_list:\s*(\S+)$", text, re.MULTILINE)
    present = host.read("/sys/devices/system/cpu/present")
    if listed is None or not present:
        return usable
    try:
        return tuple(sorted({*usable, *parse_list(listed[1])} & {*usable, *parse_list(present)}))
    except InvalidInputError:
        return usable


def is_thread_name(path: str) -> bool:
    """Return whether a path is the name of a thread, as in ``TaskAffinity.path``."""
    return _NAME.fullmatch(path) is not None


def read_affinity(host: Host, path: str) -> str | None:
    """Return the CPU list of a named thread; ``None`` if it has ended."""
    tid = _thread_id(host, path)
    return None if tid is None else format_list(allowed_cpus(host, tid)) or None


def write_affinity(host: Host, path: str, cpus: tuple[int, ...]) -> None:
    """Restrict a named thread to these CPUs; no effect if it has ended.

    Raises:
        OSError: the kernel refuses.
    """
    tid = _thread_id(host, path)
    if tid is not None:
        host.set_affinity(tid, cpus)


def _thread_id(host: Host, path: str) -> int | None:
    match = _NAME.fullmatch(path)
    if match is None:
        return None
    found = read_thread_state(host, int(match[1]))
    return found.tid if found is not None and found.started == int(match[2]) else None
