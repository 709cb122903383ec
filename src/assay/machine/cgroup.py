"""Control groups of the host, and their limits for this process.

Interfaces: ``cgroups(7)``, ``cpuset(7)``, ``proc_pid_mountinfo(5)``,
``Documentation/admin-guide/cgroup-v2.rst`` and ``cgroup-v1/{cpusets,memory}.rst``.
"""

from __future__ import annotations

import os.path
from collections.abc import Iterator

import msgspec

from assay.machine.cpulist import read_list
from assay.machine.escapes import unescaped
from assay.machine.root import Root


class Cgroups(msgspec.Struct, frozen=True):
    """Limits of this process.

    Attributes:
        mode: ``v2``, ``hybrid``, ``v1`` or ``none``, by the mounted hierarchies.
        cpus: effective cpuset; ``None`` without a cpuset.
        memory_limit_bytes: lowest limit of its group and all visible ancestors.
        cpu_limit: the same for CPU time: CPU seconds per second.
    """

    mode: str
    cpus: tuple[int, ...] | None = None
    memory_limit_bytes: int | None = None
    cpu_limit: float | None = None


class _Mount(msgspec.Struct, frozen=True):
    """A mounted hierarchy; ``top`` is the group at its mount point."""

    kind: str
    point: str
    top: str
    options: frozenset[str]


class OwnGroup(msgspec.Struct, frozen=True):
    """The group of this process in one hierarchy.

    Attributes:
        version: 1 or 2.
        controllers: controllers of the hierarchy (version 1).
        name: name of the group, as in ``/proc/self/cgroup``.
        folder: its directory, if it is visible from the mount point.
        above: directories of its ancestors, up to the mount point.
    """

    version: int
    controllers: tuple[str, ...]
    name: str
    folder: str
    above: tuple[str, ...] = ()


class Hierarchy(msgspec.Struct, frozen=True):
    """A mounted hierarchy of groups.

    Attributes:
        version: 1 or 2.
        point: mount point: the directory of the topmost visible group.
        is_host_root: true if that is the root group of the host, and not of a container.
        controllers: its controllers.
    """

    version: int
    point: str
    is_host_root: bool
    controllers: frozenset[str]


def hierarchies(root: Root) -> tuple[Hierarchy, ...]:
    """Return the mounted hierarchies, v2 first, each once."""
    found: dict[str, Hierarchy] = {}
    for mount in sorted(_mounts(root), key=lambda mount: (mount.kind != "cgroup2", mount.point)):
        if mount.kind == "cgroup2":
            text = root.read_text(f"{mount.point}/cgroup.controllers") or ""
            own = Hierarchy(2, mount.point, mount.top == "/", frozenset(text.split()))
        else:
            own = Hierarchy(1, mount.point, mount.top == "/", mount.options)
        found.setdefault(mount.point, own)
    return tuple(found.values())


def own_groups(root: Root) -> tuple[OwnGroup, ...]:
    """Return the groups of this process, v2 first, in the order of their mount points."""
    mounts, groups = _mounts(root), _groups(root)
    found: dict[tuple[int, tuple[str, ...]], OwnGroup] = {}
    for mount in sorted(mounts, key=lambda mount: (mount.kind != "cgroup2", mount.point)):
        version = 2 if mount.kind == "cgroup2" else 1
        names = () if version == 2 else _controllers(mount, groups)
        if groups:
            group = groups.get("" if version == 2 else (*names, "cpuset")[0])
        else:
            group = _group(root, mount, groups, "cpuset")
        if group is not None:
            folder, *above = _ascending(mount, group)
            own = OwnGroup(version, names, group, folder, tuple(above))
            found.setdefault((version, names), own)
    return tuple(found.values())


def _controllers(mount: _Mount, groups: dict[str, str]) -> tuple[str, ...]:
    return tuple(sorted(mount.options & groups.keys() - {""}))


def read_cgroups(root: Root) -> Cgroups:
    """Return the limits of this process; missing files mean no limit."""
    mounts = _mounts(root)
    groups = _groups(root)
    return Cgroups(
        mode=_mode(mounts),
        cpus=_cpuset(root, mounts, groups),
        memory_limit_bytes=_memory_limit(root, mounts, groups),
        cpu_limit=_cpu_limit(root, mounts, groups),
    )


def _mode(mounts: list[_Mount]) -> str:
    kinds = {mount.kind for mount in mounts}
    if "cgroup2" in kinds:
        return "v2" if len(kinds) == 1 else "hybrid"
    return "v1" if kinds else "none"


def _mounts(root: Root) -> list[_Mount]:
    found = list(_from_mountinfo(root.read_text("/proc/self/mountinfo") or ""))
    return found or list(_from_mounts(root.read_text("/proc/self/mounts") or _old_mounts(root)))


def _old_mounts(root: Root) -> str:
    # A recorded tree may contain /proc/mounts as a file instead of the link to self/mounts.
    return root.read_text("/proc/mounts") or ""


def _from_mountinfo(text: str) -> Iterator[_Mount]:
    for line in text.splitlines():
        head, dash, tail = line.partition(" - ")
        fields, rest = head.split(), tail.split()
        if dash and len(fields) >= 6 and len(rest) >= 3 and _is_cgroup(rest[0]):
            options = frozenset(rest[2].split(","))
            yield _Mount(rest[0], unescaped(fields[4]), unescaped(fields[3]), options)


def _from_mounts(text: str) -> Iterator[_Mount]:
    for line in text.splitlines():
        fields = line.split()
        if len(fields) >= 4 and _is_cgroup(fields[2]):
            yield _Mount(fields[2], unescaped(fields[1]), "/", frozenset(fields[3].split(",")))


def _is_cgroup(kind: str) -> bool:
    # "cpuset" is the separate file system from which control groups developed; it can still be
    # mounted.
    return kind in ("cgroup", "cgroup2", "cpuset")


def _groups(root: Root) -> dict[str, str]:
    """Return the group of this process by controller; the empty name is the v2 hierarchy."""
    found: dict[str, str] = {}
    for line in (root.read_text("/proc/self/cgroup") or "").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, group = rest.partition(":")
        for controller in controllers.split(","):
            found[controller] = group
    return found


def _folders(
    root: Root, mounts: list[_Mount], groups: dict[str, str], controller: str
) -> Iterator[tuple[_Mount, list[str]]]:
    """Yield hierarchies that may have a controller, with directories from this group upwards."""
    for mount in mounts:
        group = _group(root, mount, groups, controller)
        if group is not None:
            yield mount, _ascending(mount, group)


def _group(root: Root, mount: _Mount, groups: dict[str, str], controller: str) -> str | None:
    has_it = mount.kind != "cgroup" or controller in mount.options
    if not groups and controller == "cpuset" and has_it:
        # /proc/PID/cpuset names the group in any hierarchy that has the controller (cpuset(7)).
        return root.read_text("/proc/self/cpuset")
    if mount.kind == "cgroup2":
        return None if controller in groups else groups.get("")
    if mount.kind == "cpuset" and controller != "cpuset":
        return None
    return groups.get(controller) if has_it else None


def _ascending(mount: _Mount, group: str) -> list[str]:
    if mount.top != "/" and (group == mount.top or group.startswith(mount.top + "/")):
        below = group[len(mount.top) :]
    elif mount.top != "/" or ".." in group.split("/"):
        # This group is not visible from the mount: the top of the mount is an ancestor (or, in a
        # container without a namespace, the group itself).
        below = ""
    else:
        below = group
    here = os.path.normpath(mount.point + "/" + below)
    found = [here]
    while here != mount.point and here != "/":
        here = os.path.dirname(here)  # noqa: PTH120
        found.append(here)
    return found


def _cpuset(root: Root, mounts: list[_Mount], groups: dict[str, str]) -> tuple[int, ...] | None:
    found = (
        read_list(root, f"{folder}/{name}")
        for mount, folders in _folders(root, mounts, groups, "cpuset")
        for folder in folders
        for name in _cpuset_files(mount)
    )
    return next((cpus for cpus in found if cpus), None)


def _cpuset_files(mount: _Mount) -> tuple[str, ...]:
    if mount.kind == "cgroup2":
        return ("cpuset.cpus.effective",)
    if mount.kind == "cpuset" or "noprefix" in mount.options:
        return ("effective_cpus", "cpus")
    # effective_cpus was added in Linux 3.17.
    return ("cpuset.effective_cpus", "cpuset.cpus")


def _memory_limit(root: Root, mounts: list[_Mount], groups: dict[str, str]) -> int | None:
    limits = (
        root.read_int(f"{folder}/{_memory_file(mount)}")
        for mount, folders in _folders(root, mounts, groups, "memory")
        for folder in folders
    )
    # v2 writes "max" for no limit; v1 the highest page count, 2^63 less one page (of up to 64 KiB).
    return min((limit for limit in limits if limit is not None and limit < 2**62), default=None)


def _memory_file(mount: _Mount) -> str:
    return "memory.max" if mount.kind == "cgroup2" else "memory.limit_in_bytes"


def _cpu_limit(root: Root, mounts: list[_Mount], groups: dict[str, str]) -> float | None:
    return min((limit for limit, _ in _quotas(root, mounts, groups)), default=None)


def quota_folder(root: Root) -> str | None:
    """Return the group with the lowest quota of CPU time: this one, or an ancestor."""
    found = _quotas(root, _mounts(root), _groups(root))
    return min(found, key=lambda pair: pair[0], default=(0.0, None))[1]


def _quotas(
    root: Root, mounts: list[_Mount], groups: dict[str, str]
) -> Iterator[tuple[float, str]]:
    """Yield the quotas of this group and all visible ancestors, with their directories."""
    for mount, folders in _folders(root, mounts, groups, "cpu"):
        for folder in folders:
            limit = _bandwidth(root, mount, folder)
            if limit is not None:
                yield limit, folder


def _bandwidth(root: Root, mount: _Mount, folder: str) -> float | None:
    """Return quota over period: ``max 100000`` (v2) and ``-1`` (v1) are no limit."""
    if mount.kind == "cgroup2":
        words = (root.read_text(f"{folder}/cpu.max") or "").split()
    else:
        names = ("cpu.cfs_quota_us", "cpu.cfs_period_us")
        words = [root.read_text(f"{folder}/{name}") or "" for name in names]
    if len(words) != 2 or not all(word.isdigit() for word in words) or int(words[1]) == 0:
        return None
    return int(words[0]) / int(words[1])


def unified_folders(root: Root) -> tuple[str, ...]:
    """Return the directories of this process's group in the version 2 hierarchy and its ancestors.

    The group itself comes first, the topmost visible ancestor last. The result is empty if no such
    hierarchy is mounted, or the process is in none of its groups.
    """
    groups = _groups(root)
    for mount in _mounts(root):
        if mount.kind == "cgroup2" and "" in groups:
            return tuple(_ascending(mount, groups[""]))
    return ()


def load_balance_files(root: Root) -> tuple[str, ...]:
    """Return the files that enable load balancing in this process's cpuset and its ancestors.

    Only hierarchies of version 1 have them (``Documentation/admin-guide/cgroup-v1/cpusets.rst``,
    section 1.7). The CPUs of a group are balanced if its file contains 1, or that of a group with
    more CPUs.

    Returns:
        the files, that of this process's group first; empty without a cpuset of version 1.
    """
    found: list[str] = []
    for mount, folders in _folders(root, _mounts(root), _groups(root), "cpuset"):
        if mount.kind != "cgroup2":
            prefix = "" if mount.kind == "cpuset" or "noprefix" in mount.options else "cpuset."
            found += [f"{folder}/{prefix}sched_load_balance" for folder in folders]
    return tuple(found)


def own_cpuset(root: Root) -> tuple[int, ...] | None:
    """Return the effective cpuset; ``None`` without a cpuset."""
    return _cpuset(root, _mounts(root), _groups(root))


def requested_cpuset(root: Root, skipped_name: str) -> tuple[str, tuple[int, ...]] | None:
    """Return the group and the CPUs to which a cpuset restricts this process by configuration.

    Unlike the effective cpuset, they include CPUs that an isolated partition beside it has taken:
    ``cpuset.cpus`` stays as it was written. The result is ``None`` without a cpuset.

    Args:
        root: root of the host.
        skipped_name: name of a group to skip.
    """
    mounts, groups = _mounts(root), _groups(root)
    for mount, folders in _folders(root, mounts, groups, "cpuset"):
        name = "cpus" if mount.kind == "cpuset" or "noprefix" in mount.options else "cpuset.cpus"
        counted = (f for f in folders if f.rpartition("/")[2] != skipped_name)
        found = [(folder, read_list(root, f"{folder}/{name}")) for folder in counted]
        requested = [(folder, set(cpus)) for folder, cpus in found if cpus]
        if requested:
            folder, cpus = requested[0]
            return folder, tuple(sorted(cpus.intersection(*(other for _, other in requested))))
    return None


def limit_files(root: Root, controller: str) -> tuple[str, ...]:
    """Return the files with the limits of this group and all visible ancestors.

    Args:
        root: root of the host.
        controller: ``cpu`` or ``memory``.
    """
    mounts, groups = _mounts(root), _groups(root)
    paths = (
        f"{folder}/{_limit_file(mount, controller)}"
        for mount, folders in _folders(root, mounts, groups, controller)
        for folder in folders
    )
    return tuple(path for path in paths if root.read_text(path) is not None)


def _limit_file(mount: _Mount, controller: str) -> str:
    if controller == "memory":
        return _memory_file(mount)
    return "cpu.max" if mount.kind == "cgroup2" else "cpu.cfs_quota_us"
