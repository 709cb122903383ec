"""A recorded host with control groups and threads, for tests of what partitions do.

It keeps what the kernel keeps: groups that are in use stay, exclusive CPUs do not overlap, a group
of version 1 has all CPUs of those below it, a partition of version 2 that is not exclusive says so
and others take their CPUs from the first group, a thread that changes its group (of version 1)
forgets where it wanted to be, and one that comes into the first group of version 2 may run
everywhere (Linux 6.1).
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from assay.launch.system.testing import Effect, RecordedHost
from assay.machine.cpulist import format_list, parse_list

Strike = Callable[[str, str], None]
"""Told of each change before it is made, and after it; may raise, or end the process."""

_LISTS = ("tasks", "cgroup.procs")
_POSSIBLE = "/sys/devices/system/cpu/possible"
_V1 = {
    "cpuset.cpus": "",
    "cpuset.mems": "",
    "cpuset.cpu_exclusive": "0",
    "cpuset.sched_load_balance": "1",
    "tasks": "",
    "cgroup.procs": "",
}
_V2 = {
    "cpuset.cpus": "",
    "cpuset.mems": "",
    "cpuset.cpus.partition": "member",
    "memory.min": "0",
    "cgroup.subtree_control": "",
    "cgroup.procs": "",
    "cgroup.type": "domain",
}


class RecordedGroups(RecordedHost):
    """All that lies below a folder, with groups below ``top`` and threads below ``/proc``.

    A thread's CPUs are in a file ``affinity`` beside its ``stat``.

    Args:
        base: the folder.
        top: the first group.
        strike: told of each change.
        effects: as of ``RecordedHost``.
    """

    def __init__(
        self,
        base: Path,
        top: str,
        strike: Strike | None = None,
        effects: Mapping[str, Effect] | None = None,
    ) -> None:
        super().__init__(base, effects)
        self._top = top
        self._strike = strike or (lambda what, path: None)

    @property
    def _first(self) -> bool:
        """Whether the groups are of version 1."""
        return (self._place(self._top) / "tasks").exists()

    def write(self, path: str, text: str) -> None:
        """See ``Host.write``."""
        self._strike("write", path)
        folder, _, name = path.rpartition("/")
        if name in _LISTS:
            self._move(folder, text)
        elif name == "cgroup.subtree_control":
            self._give(path, text)
        elif name == "cpuset.cpus" and self._below(folder) - set(parse_list(text)):
            raise _refused(errno.EBUSY, path)
        elif name == "cpuset.cpu_exclusive" and text == "1" and self._rivals(folder):
            raise _refused(errno.EINVAL, path)
        elif name == "cpuset.cpus.partition" and text == "isolated" and self._rivals(folder):
            self.put(path, "isolated invalid (Cpu list in cpuset.cpus not exclusive)")
        else:
            super().write(path, text)
        if name == "cpuset.cpus.partition":
            self._share_out()
        self._strike("written", path)

    def mkdir(self, path: str) -> None:
        """See ``Host.mkdir``."""
        self._strike("mkdir", path)
        super().mkdir(path)
        for name, text in (_V1 if self._first else _V2).items():
            (self._place(path) / name).write_text(text + "\n")
        self._strike("made", path)

    def rmdir(self, path: str) -> None:
        """See ``Host.rmdir``."""
        self._strike("rmdir", path)
        place = self._place(path)
        if not place.exists():
            raise _refused(errno.ENOENT, path)
        used = any((place / name).read_text().split() for name in _LISTS if (place / name).exists())
        if used or any(entry.is_dir() for entry in place.iterdir()):
            raise _refused(errno.EBUSY, path)
        shutil.rmtree(place)
        if not self._first:
            self._share_out()
        self._strike("removed", path)

    def affinity(self, tid: int) -> tuple[int, ...]:
        """See ``Host.affinity``."""
        text = self.read(f"/proc/{tid}/affinity")
        if text is None:
            raise _refused(errno.ESRCH, str(tid))
        return parse_list(text)

    def set_affinity(self, tid: int, cpus: tuple[int, ...]) -> None:
        """See ``Host.set_affinity``."""
        self._strike("affinity", str(tid))
        left = parse_list(self.read(f"{self._top}/cpuset.cpus.effective") or "")
        if str(tid) in (self.read(f"{self._top}/cgroup.procs") or "").split() and left:
            cpus = tuple(cpu for cpu in cpus if cpu in left)
        self.put(f"/proc/{tid}/affinity", format_list(cpus))
        self._strike("set", str(tid))

    def _move(self, folder: str, tid: str) -> None:
        """Every process has one thread here, so both lists of version 1 say the same."""
        if not self._place(f"/proc/{tid}").exists():
            raise _refused(errno.ESRCH, folder)
        for name in _LISTS if self._first else _LISTS[1:]:
            for path in self._place(self._top).rglob(name):
                words = path.read_text().split()
                if tid in words:
                    path.write_text(" ".join(word for word in words if word != tid) + "\n")
            mine = self._place(folder) / name
            words = sorted({*mine.read_text().split(), tid}, key=int)
            mine.write_text(" ".join(words) + "\n")
        if self._first:
            self.put(f"/proc/{tid}/affinity", self.read(f"{folder}/cpuset.cpus") or "")
        elif folder == self._top:
            self.put(f"/proc/{tid}/affinity", self.read(_POSSIBLE) or "")

    def _share_out(self) -> None:
        """Isolated partitions of version 2 take their CPUs from what the first group has."""
        left = set(parse_list(self.read(_POSSIBLE) or ""))
        for path in self._place(self._top).glob("*/cpuset.cpus.partition"):
            if path.read_text().strip() == "isolated":
                left -= set(parse_list((path.parent / "cpuset.cpus").read_text().strip()))
        self.put(f"{self._top}/cpuset.cpus.effective", format_list(left))

    def _give(self, path: str, text: str) -> None:
        words = set((self.read(path) or "").split())
        for word in text.split():
            (words.add if word[0] == "+" else words.discard)(word[1:])
        self.put(path, " ".join(sorted(words)))

    def _rivals(self, folder: str) -> bool:
        mine = set(parse_list(self.read(f"{folder}/cpuset.cpus") or ""))
        beside = (path for path in self._place(folder).parent.iterdir() if path.is_dir())
        return any(
            mine & set(parse_list((path / "cpuset.cpus").read_text()))
            for path in beside
            if path != self._place(folder)
        )

    def _below(self, folder: str) -> set[int]:
        """CPUs that groups of version 1 below one name: it has to have them all."""
        inner = (path for path in self._place(folder).iterdir() if path.is_dir() and self._first)
        return {
            cpu for path in inner for cpu in parse_list((path / "cpuset.cpus").read_text().strip())
        }

    def _place(self, path: str) -> Path:
        return self.base / path.lstrip("/")


def _refused(number: int, path: str) -> OSError:
    return OSError(number, os.strerror(number), path)
