"""Online: which CPUs are in use now, and which masks are the same but for the others.

The kernel takes CPUs that go offline out of some masks, refuses to write masks of such CPUs alone,
and gives its own threads all CPUs once one comes back (``Documentation/core-api/cpu_hotplug.rst``;
``kernel/cgroup/cpuset.c``, seen with Linux 6.1).
"""

from __future__ import annotations

import re

from assay.errors import InvalidInputError
from assay.host.host import Host
from assay.host.threads import is_thread_name
from assay.machine.cpulist import parse_list, parse_mask, show_numbers
from assay.machine.tunables import find_tunable
from assay.records.action import ControlGroup, HostAction

_CPU = "/sys/devices/system/cpu"
_OF_CPU = re.compile(rf"{_CPU}/cpu([0-9]+)/.*", re.ASCII)
_CPUS = "cpuset.cpus"


def online_cpus(host: Host) -> frozenset[int] | None:
    """Return the CPUs that are online; ``None`` where the kernel does not tell."""
    text = host.read(f"{_CPU}/online")
    try:
        return frozenset(parse_list(text)) if text else None
    except InvalidInputError:
        return None


def describe_offline(host: Host, cpus: frozenset[int]) -> str | None:
    """Say which of some CPUs are offline, as in ``CPU 1 is offline``; ``None`` where none is."""
    here = online_cpus(host)
    gone = frozenset() if here is None else cpus - here
    if not gone:
        return None
    return f"{show_numbers('CPU', gone)} {'is' if len(gone) == 1 else 'are'} offline"


def explain_offline(host: Host, action: HostAction, value: str | None = None) -> str | None:
    """Say that an action cannot be done, or taken back, for its CPUs are offline; else ``None``.

    Args:
        host: that it is for.
        action: the action; a control group lacks any of its CPUs that is offline, masks and
            settings of a CPU only where no other is left.
        value: that its target is to hold.
    """
    if isinstance(action, ControlGroup):
        listed = dict(action.files).get(_CPUS, "")
        return describe_offline(host, frozenset(parse_list(listed)))
    match = _OF_CPU.fullmatch(action.path)
    cpus = frozenset({int(match[1])}) if match else _cpus(action.path, value)
    here = online_cpus(host)
    if not cpus or here is None or cpus & here:
        return None
    return describe_offline(host, cpus)


def equal_except_offline(host: Host, path: str, one: str | None, other: str | None) -> bool:
    """Return whether two readings are the same, of masks but for CPUs that are offline.

    Args:
        host: that they are of.
        path: of a file, or the name of a thread.
        one, other: readings in one spelling.
    """
    if one == other:
        return True
    first, second, here = _cpus(path, one), _cpus(path, other), online_cpus(host)
    return bool(first and second) and here is not None and first & here == second & here


def describe_offline_in(host: Host, path: str, value: str) -> str | None:
    """Say which CPUs of a mask are offline; ``None`` where none is, or it is no mask."""
    return describe_offline(host, _cpus(path, value))


def is_submask(path: str, one: str, other: str) -> bool:
    """Return whether a mask has only CPUs of another one."""
    first = _cpus(path, one)
    return bool(first) and first < _cpus(path, other)


def _cpus(path: str, text: str | None) -> frozenset[int]:
    """Return the CPUs of a mask; none where it is no mask."""
    tunable = None if is_thread_name(path) else find_tunable(path)
    if text is None or not (is_thread_name(path) or tunable):
        return frozenset()
    try:
        if tunable is not None and tunable.form == "mask":
            return frozenset(parse_mask(text))
        if tunable is None or tunable.form == "cpulist":
            return frozenset(parse_list(text))
    except InvalidInputError:
        pass
    return frozenset()
