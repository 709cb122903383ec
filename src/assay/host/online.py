"""CPUs that are online, and comparison of masks with offline CPUs.

The kernel removes offline CPUs from some masks, refuses masks of offline CPUs only, and resets the
affinity of its own threads when a CPU comes online (``Documentation/core-api/cpu_hotplug.rst``;
``kernel/cgroup/cpuset.c``, observed with Linux 6.1).
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
    """Return the CPUs that are online; ``None`` if the kernel does not report them."""
    text = host.read(f"{_CPU}/online")
    try:
        return frozenset(parse_list(text)) if text else None
    except InvalidInputError:
        return None


def describe_offline(host: Host, cpus: frozenset[int]) -> str | None:
    """Name the offline ones of some CPUs, as ``CPU 1 is offline``; ``None`` without any."""
    here = online_cpus(host)
    offline = frozenset() if here is None else cpus - here
    if not offline:
        return None
    return f"{show_numbers('CPU', offline)} {'is' if len(offline) == 1 else 'are'} offline"


def explain_offline(host: Host, action: HostAction, value: str | None = None) -> str | None:
    """Return that an action is impossible since its CPUs are offline; else ``None``.

    Args:
        host: host of the action.
        action: action. A control group needs all of its CPUs; a mask or a CPU setting needs one of
            them.
        value: value that the target shall have.
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
    """Return whether two readings are equal; offline CPUs of masks are ignored.

    Args:
        host: host of the readings.
        path: path of a file, or name of a thread.
        one, other: normalised readings.
    """
    if one == other:
        return True
    first, second, here = _cpus(path, one), _cpus(path, other), online_cpus(host)
    return bool(first and second) and here is not None and first & here == second & here


def describe_offline_in(host: Host, path: str, value: str) -> str | None:
    """Name the offline CPUs of a mask; ``None`` without any, or for other values."""
    return describe_offline(host, _cpus(path, value))


def is_submask(path: str, one: str, other: str) -> bool:
    """Return whether a mask is a proper subset of another one."""
    first = _cpus(path, one)
    return bool(first) and first < _cpus(path, other)


def _cpus(path: str, text: str | None) -> frozenset[int]:
    """Return the CPUs of a mask; empty for other values."""
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
