"""Control groups that assay creates, fills and removes.

Interfaces: ``cgroups(7)``, ``cpuset(7)``, ``Documentation/admin-guide/cgroup-v2.rst``.
"""

from __future__ import annotations

import contextlib
import errno
import re
import time
from collections.abc import Iterable

from assay.host.host import Host
from assay.host.threads import allowed_cpus, read_thread_state
from assay.machine.cpulist import parse_list
from assay.machine.value_formats import is_writable_value, normalised
from assay.records.action import ControlGroup, DelegateController, FileFormat, TaskAffinity

ABSENT, PRESENT = "absent", "present"
GATHERED, LEFT = "; programs=gathered", "; programs=left"
"""Suffixes of a journal entry: programs were moved out of the parent group, or remain in it."""
ON, OFF = "on", "off"
CONTROLLERS = "cgroup.subtree_control"
PARTITION, MEMBER = "cpuset.cpus.partition", "member"
FORMS: dict[str, FileFormat] = {
    "cpuset.cpus": "cpulist",
    "cpuset.mems": "cpulist",
    "cpuset.cpu_exclusive": "number",
    "cpuset.sched_load_balance": "number",
    PARTITION: "text",
    "memory.min": "number",
}
"""Forms of the group files that are written, in addition to ``cgroup.subtree_control``."""
_GROUP_FOLDER = re.compile(r"/sys/fs/cgroup(/[A-Za-z0-9_.,=@:-]+)*", re.ASCII)
_OWN_GROUP = re.compile(r"assay[.-][a-z0-9_-]{1,40}", re.ASCII)
_CONTROLLERS = re.compile(r"\+[a-z_]+( \+[a-z_]+)*", re.ASCII)
_POSSIBLE = "/sys/devices/system/cpu/possible"
_MAX_TRIES = 200
_PAUSE_S = 0.005
_MAX_PASSES = 5
"""Largest number of passes: a program may start another one while its threads are moved."""


def is_valid_group(action: ControlGroup) -> bool:
    """Return whether an action names a group of assay with known files and values."""
    place, _, name = action.path.rpartition("/")
    return (
        _in_tree(place)
        and _OWN_GROUP.fullmatch(name) is not None
        and all(map(_is_valid, action.files))
    )


def is_valid_delegation(action: DelegateController) -> bool:
    """Return whether an action names a controller of a group of this host."""
    return _in_tree(action.group) and _is_valid((CONTROLLERS, f"+{action.controller}"))


def _in_tree(path: str) -> bool:
    return _GROUP_FOLDER.fullmatch(path) is not None and ".." not in path.split("/")


def _is_valid(file: tuple[str, str]) -> bool:
    name, value = file
    if name == CONTROLLERS:
        return _CONTROLLERS.fullmatch(value) is not None
    return name in FORMS and is_writable_value(FORMS[name], value)


def observe_group(host: Host, action: ControlGroup) -> str:
    """Return the normalised files of a group; ``absent`` without the group."""
    if not host.listdir(action.path):
        return ABSENT
    found = [(name, host.read(f"{action.path}/{name}") or "") for name, _ in action.files]
    if not action.gathers:
        return _spelled(found)
    left = any(_is_program(host, tid) for tid in members(host, _above(action)))
    return _spelled(found) + (LEFT if left else GATHERED)


def target_group(action: ControlGroup) -> str:
    """Return the normalised files that a group shall have."""
    return _spelled(action.files) + (GATHERED if action.gathers else "")


def _spelled(files: Iterable[tuple[str, str]]) -> str:
    return "; ".join(f"{name}={_reading(name, text)}" for name, text in files) or PRESENT


def _above(action: ControlGroup) -> str:
    return action.path.rpartition("/")[0]


def _reading(name: str, text: str) -> str:
    if name == CONTROLLERS:
        return " ".join(sorted(word.lstrip("+") for word in text.split()))
    return normalised(FORMS.get(name, "text"), text)


def make_group(host: Host, action: ControlGroup) -> None:
    """Create a group, or complete its missing parts.

    Raises:
        OSError: the kernel refuses.
    """
    with contextlib.suppress(FileExistsError):
        host.mkdir(action.path)
    for name, value in action.files:
        path = f"{action.path}/{name}"
        before = host.read(path) or ""
        if _reading(name, before) == _reading(name, value):
            continue
        if name == PARTITION and before.startswith(f"{value} "):
            # "isolated invalid (...)": Linux 6.1 accepts the same value again only after another
            # one.
            host.write(path, MEMBER)
        host.write(path, value)
    if action.gathers:
        _gather(host, action)


def remove_group(host: Host, path: str) -> None:
    """Remove a group and its subgroups; its processes continue in the parent group.

    A partition of version 2 returns its CPUs first: after the removal alone they return with a
    delay, so that the moved processes would lack them.

    Raises:
        OSError: the group is still in use.
    """
    above = path.rpartition("/")[0]
    state = f"{path}/{PARTITION}"
    if host.read(state) not in (None, MEMBER):
        with contextlib.suppress(OSError):
            host.write(state, MEMBER)
    for left in reversed(range(_MAX_TRIES)):
        for group in (*groups_below(host, path), path):
            pids = members(host, group)
            _move(host, pids, above)
            _keep_from_partitions(host, above, pids)
            with contextlib.suppress(OSError):
                if group != path:
                    host.rmdir(group)
        try:
            host.rmdir(path)
        except FileNotFoundError:
            return
        except OSError as error:
            if error.errno != errno.EBUSY or not left:
                raise
            time.sleep(_PAUSE_S)  # an ending process leaves with a delay
        else:
            return


def observe_delegated(host: Host, action: DelegateController) -> str | None:
    """Return whether subgroups have a controller; ``None`` if it is unknown."""
    text = host.read(f"{action.group}/{CONTROLLERS}")
    return None if text is None else ON if action.controller in text.split() else OFF


def delegate(host: Host, action: DelegateController, value: str) -> None:
    """Enable or disable a controller for subgroups.

    Raises:
        OSError: the kernel refuses.
    """
    sign = "+" if value == ON else "-"
    host.write(f"{action.group}/{CONTROLLERS}", f"{sign}{action.controller}")


def own_affinities(host: Host, action: ControlGroup) -> tuple[str, ...]:
    """Return the names of the gathered threads that may not use all CPUs of the parent group.

    Kernels before 6.2 lose the affinity of such a thread when it changes its group.
    """
    if not action.gathers:
        return ()
    above = _above(action)
    everything = cpus_in(host, above)
    found = []
    for tid in members(host, above):
        one = read_thread_state(host, tid)
        if one is not None and not one.kernel and not everything <= set(allowed_cpus(host, tid)):
            found.append(TaskAffinity(tid=tid, started=one.started, cpus=()).path)
    return tuple(found)


def members(host: Host, group: str) -> tuple[int, ...]:
    """Return the thread ids of a group of version 1, or the process ids of one of version 2."""
    return tuple(int(word) for word in (host.read(_list_of(host, group)) or "").split())


def processes_below(host: Host, group: str) -> tuple[int, ...]:
    """Return the process ids in all subgroups of a group, ascending."""
    return _processes(host, groups_below(host, group))


def processes_within(host: Host, group: str) -> tuple[int, ...]:
    """Return the process ids in a group and all its subgroups, ascending."""
    return _processes(host, (group, *groups_below(host, group)))


def _processes(host: Host, groups: Iterable[str]) -> tuple[int, ...]:
    texts = (host.read(f"{path}/cgroup.procs") or "" for path in groups)
    return tuple(sorted({int(word) for text in texts for word in text.split()}))


def groups_in(host: Host, group: str) -> tuple[str, ...]:
    """Return the direct subgroups of a group: all folders, since their names may contain dots."""
    paths = (f"{group}/{name}" for name in host.listdir(group))
    return tuple(path for path in paths if host.listdir(path))


def groups_below(host: Host, group: str) -> tuple[str, ...]:
    """Return all subgroups of a group, the deepest first."""
    inner = groups_in(host, group)
    return tuple(found for path in inner for found in (*groups_below(host, path), path))


def cpus_in(host: Host, group: str) -> set[int]:
    """Return the CPUs of a group of version 1."""
    text = host.read(f"{group}/cpuset.effective_cpus") or host.read(f"{group}/cpuset.cpus") or ""
    return set(parse_list(text))


def _gather(host: Host, action: ControlGroup) -> None:
    for _ in range(_MAX_PASSES):
        found = [tid for tid in members(host, _above(action)) if _is_program(host, tid)]
        if not found:
            return
        _move(host, found, action.path)


def _is_program(host: Host, tid: int) -> bool:
    one = read_thread_state(host, tid)
    return one is not None and not one.kernel


def _move(host: Host, tids: Iterable[int], group: str) -> None:
    """Move threads; a thread that cannot move remains in the list of its group."""
    path = _list_of(host, group)
    for tid in tids:
        with contextlib.suppress(OSError):
            host.write(path, str(tid))


def _keep_from_partitions(host: Host, group: str, pids: Iterable[int]) -> None:
    """Keep processes that entered the root group of version 2 off the CPUs of partitions.

    Linux 6.1 lets such a process run on every CPU. A new affinity call restricts it to the
    remaining CPUs.
    """
    left = host.read(f"{group}/cpuset.cpus.effective")
    if left is None or host.read(f"{group}/cgroup.type") is not None:
        return  # another version or group: only the root group has no type
    allowed, everything = set(parse_list(left)), parse_list(host.read(_POSSIBLE) or left)
    for pid in pids:
        for name in host.listdir(f"/proc/{pid}/task"):
            if not set(allowed_cpus(host, int(name))) <= allowed:
                with contextlib.suppress(OSError):
                    host.set_affinity(int(name), everything)


def _list_of(host: Host, group: str) -> str:
    name = "tasks" if "tasks" in host.listdir(group) else "cgroup.procs"
    return f"{group}/{name}"
