"""Groups: control groups that assay makes, fills, and takes away again.

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
from assay.machine.value_formats import is_writable_value, normalized
from assay.records.action import ControlGroup, DelegateController, FileFormat, TaskAffinity

ABSENT, PRESENT = "absent", "present"
GATHERED, LEFT = "; programs=gathered", "; programs=left"
"""Whether any is left in the group above."""
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
"""Files of a group that are written, and how they read back; beside ``cgroup.subtree_control``."""
_PLACE = re.compile(r"/sys/fs/cgroup(/[A-Za-z0-9_.,=@:-]+)*", re.ASCII)
_OWN = re.compile(r"assay[.-][a-z0-9_-]{1,40}", re.ASCII)
_CONTROLLERS = re.compile(r"\+[a-z_]+( \+[a-z_]+)*", re.ASCII)
_POSSIBLE = "/sys/devices/system/cpu/possible"
_TRIES = 200
_PAUSE_S = 0.005
_PASSES = 5
"""A program may start another one while its threads are moved."""


def is_valid_group(action: ControlGroup) -> bool:
    """Whether it is a group of assay's own, with files and values that are known."""
    place, _, name = action.path.rpartition("/")
    return _in_tree(place) and _OWN.fullmatch(name) is not None and all(map(_sound, action.files))


def is_valid_delegation(action: DelegateController) -> bool:
    """Whether it is a controller of a group of this host."""
    return _in_tree(action.group) and _sound((CONTROLLERS, f"+{action.controller}"))


def _in_tree(path: str) -> bool:
    return _PLACE.fullmatch(path) is not None and ".." not in path.split("/")


def _sound(file: tuple[str, str]) -> bool:
    name, value = file
    if name == CONTROLLERS:
        return _CONTROLLERS.fullmatch(value) is not None
    return name in FORMS and is_writable_value(FORMS[name], value)


def observe_group(host: Host, action: ControlGroup) -> str:
    """What is in the files of a group that are written, in one spelling; ``absent`` without it."""
    if not host.listdir(action.path):
        return ABSENT
    found = [(name, host.read(f"{action.path}/{name}") or "") for name, _ in action.files]
    if not action.gathers:
        return _spelled(found)
    left = any(_is_program(host, tid) for tid in members(host, _above(action)))
    return _spelled(found) + (LEFT if left else GATHERED)


def target_group(action: ControlGroup) -> str:
    """The same of a group as it is to be."""
    return _spelled(action.files) + (GATHERED if action.gathers else "")


def _spelled(files: Iterable[tuple[str, str]]) -> str:
    return "; ".join(f"{name}={_reading(name, text)}" for name, text in files) or PRESENT


def _above(action: ControlGroup) -> str:
    return action.path.rpartition("/")[0]


def _reading(name: str, text: str) -> str:
    if name == CONTROLLERS:
        return " ".join(sorted(word.lstrip("+") for word in text.split()))
    return normalized(FORMS.get(name, "text"), text)


def make_group(host: Host, action: ControlGroup) -> None:
    """Make it as it is to be, as far as it is not so already.

    Raises:
        OSError: the kernel says no.
    """
    with contextlib.suppress(FileExistsError):
        host.mkdir(action.path)
    for name, value in action.files:
        path = f"{action.path}/{name}"
        before = host.read(path) or ""
        if _reading(name, before) == _reading(name, value):
            continue
        if name == PARTITION and before.startswith(f"{value} "):
            # "isolated invalid (...)": Linux 6.1 takes the same word again only after another.
            host.write(path, MEMBER)
        host.write(path, value)
    if action.gathers:
        _gather(host, action)


def remove_group(host: Host, path: str) -> None:
    """Take a group away, and all that others made below it; who runs there goes on above it.

    A partition of version 2 gives its CPUs back before: by its removal alone they come back a
    moment later, and who goes on above would not have them.

    Raises:
        OSError: it is still in use.
    """
    above = path.rpartition("/")[0]
    state = f"{path}/{PARTITION}"
    if host.read(state) not in (None, MEMBER):
        with contextlib.suppress(OSError):
            host.write(state, MEMBER)
    for left in reversed(range(_TRIES)):
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
            time.sleep(_PAUSE_S)  # who ends leaves a moment later
        else:
            return


def observe_delegated(host: Host, action: DelegateController) -> str | None:
    """Whether the groups below one have a controller; ``None`` where it is not said."""
    text = host.read(f"{action.group}/{CONTROLLERS}")
    return None if text is None else ON if action.controller in text.split() else OFF


def delegate(host: Host, action: DelegateController, value: str) -> None:
    """Give it to them, or take it from them.

    Raises:
        OSError: the kernel says no.
    """
    sign = "+" if value == ON else "-"
    host.write(f"{action.group}/{CONTROLLERS}", f"{sign}{action.controller}")


def own_affinities(host: Host, action: ControlGroup) -> tuple[str, ...]:
    """Names of the threads that a group gathers which may not use all CPUs of the group above it.

    Kernels before 6.2 forget where such a thread wanted to be when it changes its group.
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
    """Numbers of the threads in a group of version 1, of the processes in one of version 2."""
    return tuple(int(word) for word in (host.read(_list_of(host, group)) or "").split())


def processes_below(host: Host, group: str) -> tuple[int, ...]:
    """Numbers of the processes in all groups below one, ascending."""
    return _processes(host, groups_below(host, group))


def processes_within(host: Host, group: str) -> tuple[int, ...]:
    """Numbers of the processes in a group and in all those below it, ascending."""
    return _processes(host, (group, *groups_below(host, group)))


def _processes(host: Host, groups: Iterable[str]) -> tuple[int, ...]:
    texts = (host.read(f"{path}/cgroup.procs") or "" for path in groups)
    return tuple(sorted({int(word) for text in texts for word in text.split()}))


def groups_in(host: Host, group: str) -> tuple[str, ...]:
    """The groups right below one: all folders, for their names may hold dots as files' do."""
    paths = (f"{group}/{name}" for name in host.listdir(group))
    return tuple(path for path in paths if host.listdir(path))


def groups_below(host: Host, group: str) -> tuple[str, ...]:
    """The groups below one, however deep, the deepest first."""
    inner = groups_in(host, group)
    return tuple(found for path in inner for found in (*groups_below(host, path), path))


def cpus_in(host: Host, group: str) -> set[int]:
    """The CPUs of a group of version 1."""
    text = host.read(f"{group}/cpuset.effective_cpus") or host.read(f"{group}/cpuset.cpus") or ""
    return set(parse_list(text))


def _gather(host: Host, action: ControlGroup) -> None:
    for _ in range(_PASSES):
        found = [tid for tid in members(host, _above(action)) if _is_program(host, tid)]
        if not found:
            return
        _move(host, found, action.path)


def _is_program(host: Host, tid: int) -> bool:
    one = read_thread_state(host, tid)
    return one is not None and not one.kernel


def _move(host: Host, tids: Iterable[int], group: str) -> None:
    """Who has ended, or is ending, goes nowhere; who cannot go is seen in the group's list."""
    path = _list_of(host, group)
    for tid in tids:
        with contextlib.suppress(OSError):
            host.write(path, str(tid))


def _keep_from_partitions(host: Host, group: str, pids: Iterable[int]) -> None:
    """Keep who came into the first group of version 2 off the CPUs of partitions.

    Linux 6.1 lets it run on every CPU; asked anew, the scheduler keeps it to what is left.
    """
    left = host.read(f"{group}/cpuset.cpus.effective")
    if left is None or host.read(f"{group}/cgroup.type") is not None:
        return  # another version, or another group: only the first one has no type
    allowed, everything = set(parse_list(left)), parse_list(host.read(_POSSIBLE) or left)
    for pid in pids:
        for name in host.listdir(f"/proc/{pid}/task"):
            if not set(allowed_cpus(host, int(name))) <= allowed:
                with contextlib.suppress(OSError):
                    host.set_affinity(int(name), everything)


def _list_of(host: Host, group: str) -> str:
    name = "tasks" if "tasks" in host.listdir(group) else "cgroup.procs"
    return f"{group}/{name}"
