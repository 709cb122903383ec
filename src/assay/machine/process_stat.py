"""Fields of ``/proc/PID/stat`` (proc_pid_stat(5))."""

from __future__ import annotations

from dataclasses import dataclass

_FIRST_FIELD = 3
"""Number of the first field after the name, in the count of the manual page."""
_REQUIRED_FIELDS = 22
"""Fields up to the start time."""
_CPU_FIELD = 39


@dataclass(frozen=True)
class ProcessStat:
    """State of a process or a thread.

    Attributes:
        name: name of the thread, at most 15 bytes.
        state: letter of the state, such as ``R``, ``S``, ``T``, ``Z`` or ``X``.
        parent: process id of the parent.
        session: id of the session.
        flags: flags of the kernel, such as ``PF_KTHREAD``.
        user_ticks: CPU time in user mode, in clock ticks.
        sys_ticks: CPU time in kernel mode, in clock ticks.
        children_ticks: CPU time of ended children that were waited for, in clock ticks.
        nice: nice value.
        started_ticks: start time since boot, in clock ticks.
        cpu: CPU on which it ran last; ``None`` if the field is missing, as in short recordings.
    """

    name: str
    state: str
    parent: int
    session: int
    flags: int
    user_ticks: int
    sys_ticks: int
    children_ticks: int
    nice: int
    started_ticks: int
    cpu: int | None


def parse_process_stat(text: str | bytes | None) -> ProcessStat | None:
    """Parse the content of ``/proc/PID/stat``.

    The name is in parentheses, and may itself contain parentheses, spaces and line ends.

    Args:
        text: content of the file; ``None`` if it cannot be read.

    Returns:
        The fields; ``None`` if the content is missing or incomplete, for instance because the
        process ends.
    """
    if isinstance(text, bytes):
        text = text.decode(errors="replace")
    name, parenthesis, rest = (text or "").partition("(")[2].rpartition(")")
    fields = rest.split()
    if not parenthesis or len(fields) <= _REQUIRED_FIELDS - _FIRST_FIELD:
        return None

    def field(number: int) -> int:
        return int(fields[number - _FIRST_FIELD])

    try:
        return ProcessStat(
            name=name,
            state=fields[0],
            parent=field(4),
            session=field(6),
            flags=field(9),
            user_ticks=field(14),
            sys_ticks=field(15),
            children_ticks=field(16) + field(17),
            nice=field(19),
            started_ticks=field(22),
            cpu=field(_CPU_FIELD) if len(fields) > _CPU_FIELD - _FIRST_FIELD else None,
        )
    except ValueError:
        return None
