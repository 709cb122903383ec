"""A recorded host with control groups and threads, for tests of partitions.

It enforces the invariants of the kernel (Linux 6.1):

- a group in use cannot be removed, and exclusive CPUs do not overlap;
- a group of version 1 has all CPUs of its descendants;
- a partition of version 2 that is not exclusive reports it, and partitions take their CPUs from the
  first group;
- a thread that changes its group of version 1 loses its previous affinity, and one that enters the
  first group of version 2 may run on all CPUs;
- CPUs that go offline and come back change groups and threads.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from assay.machine.cpulist import format_list, parse_list, parse_mask
from assay.machine.process_stat import parse_process_stat
from assay.testing.recorded_host import Effect, RecordedHost

FaultHook = Callable[[str, str], None]
"""Called before and after each change; may raise an error, or end the process."""

_LISTS = ("tasks", "cgroup.procs")
_POSSIBLE = "/sys/devices/system/cpu/possible"
_ONLINE = "/sys/devices/system/cpu/online"
_STATUS = re.compile(r"(/proc/[0-9]+)/status")
_KERNEL, _BOUND = 0x20_0000, 0x400_0000
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
    """Recorded files below a folder, with groups below ``top`` and threads below ``/proc``.

    The file ``affinity`` beside the ``stat`` of a thread holds its CPUs.

    Args:
        base: folder of the recorded files.
        top: path of the first group.
        fault_hook: called before and after each change.
        effects: see ``RecordedHost``.
    """

    def __init__(
        self,
        base: Path,
        top: str,
        fault_hook: FaultHook | None = None,
        effects: Mapping[str, Effect] | None = None,
    ) -> None:
        super().__init__(base, effects)
        self._top = top
        self._fault_hook = fault_hook or (lambda change, path: None)
        self.forgetting: set[str] = set()
        """Numbers of kernel threads that get all CPUs when a CPU comes back, as kcompactd does."""

    @property
    def _first(self) -> bool:
        """True if the groups are of version 1."""
        return (self._place(self._top) / "tasks").exists()

    def write(self, path: str, text: str) -> None:
        """See ``Host.write``."""
        self._fault_hook("write", path)
        folder, _, name = path.rpartition("/")
        if name in _LISTS:
            self._move(folder, text)
        elif name == "cgroup.subtree_control":
            self._give(path, text)
        elif name == "cpuset.cpus" and self._below(folder) - set(parse_list(text)):
            raise _refused(errno.EBUSY, path)
        elif (name == "cpuset.cpus" and self._first and set(parse_list(text)) - self._online) or (
            path.startswith("/proc/irq/") and not _listed(name, text) & self._online
        ):
            raise _refused(errno.EINVAL, path)
        elif name == "cpuset.cpus.partition" and text == "isolated" and not self._usable(folder):
            self.put(path, "isolated invalid (Invalid cpu list in cpuset.cpus)")
        elif (
            name == "cpuset.cpus.partition"
            and "invalid" in (self.read(path) or "")
            and (text == "isolated")
        ):
            pass  # observed with Linux 6.1: only another value is accepted
        elif name == "cpuset.cpu_exclusive" and text == "1" and self._is_used_by_siblings(folder):
            raise _refused(errno.EINVAL, path)
        elif (
            name == "cpuset.cpus.partition"
            and text == "isolated"
            and self._is_used_by_siblings(folder)
        ):
            self.put(path, "isolated invalid (Cpu list in cpuset.cpus not exclusive)")
        else:
            super().write(path, text)
        if name == "cpuset.cpus.partition":
            self._share_out()
        self._fault_hook("written", path)

    def mkdir(self, path: str) -> None:
        """See ``Host.mkdir``."""
        self._fault_hook("mkdir", path)
        super().mkdir(path)
        for name, text in (_V1 if self._first else _V2).items():
            (self._place(path) / name).write_text(text + "\n")
        self._fault_hook("made", path)

    def rmdir(self, path: str) -> None:
        """See ``Host.rmdir``."""
        self._fault_hook("rmdir", path)
        place = self._place(path)
        if not place.exists():
            raise _refused(errno.ENOENT, path)
        used = any((place / name).read_text().split() for name in _LISTS if (place / name).exists())
        if used or any(entry.is_dir() for entry in place.iterdir()):
            raise _refused(errno.EBUSY, path)
        shutil.rmtree(place)
        if not self._first:
            self._share_out()
        self._fault_hook("removed", path)

    def read(self, path: str) -> str | None:
        """See ``Host.read``; the status of a thread is made of the file with its CPUs."""
        match = _STATUS.fullmatch(path)
        cpus = super().read(f"{match[1]}/affinity") if match else None
        return super().read(path) if cpus is None else f"Cpus_allowed_list:\t{cpus}"

    def affinity(self, tid: int) -> tuple[int, ...]:
        """See ``Host.affinity``."""
        text = self.read(f"/proc/{tid}/affinity")
        if text is None:
            raise _refused(errno.ESRCH, str(tid))
        return tuple(sorted(set(parse_list(text)) & self._online))

    def take_offline(self, cpu: int) -> None:
        """Take a CPU offline as Linux 6.1 does: groups of version 1 lose it permanently."""
        self.put(_ONLINE, format_list(self._online - {cpu}))
        if self._first:
            for path in self._place(self._top).rglob("cpuset.cpus"):
                path.write_text(
                    format_list(set(parse_list(path.read_text().strip())) - {cpu}) + "\n"
                )
        for path in self._place(self._top).glob("*/cpuset.cpus.partition"):
            listed = set(parse_list((path.parent / "cpuset.cpus").read_text().strip()))
            if path.read_text().strip() == "isolated" and not listed & self._online:
                path.write_text("isolated invalid (Invalid cpu list in cpuset.cpus)\n")
        for path in self._place("/proc/irq").glob("*/smp_affinity_list"):
            if not set(parse_list(path.read_text().strip())) & self._online:
                path.write_text(format_list(self._online) + "\n")
        self._share_out()

    def bring_online(self, cpu: int) -> None:
        """Bring a CPU back as Linux 6.1 does: some of its threads may then run on all CPUs."""
        self.put(_ONLINE, format_list(self._online | {cpu}))
        if self._first:
            self.put(f"{self._top}/cpuset.cpus", format_list(self._online))
        for path in self._place("/proc").glob("[0-9]*/stat"):
            stat = parse_process_stat(path.read_text())
            movable = stat is not None and stat.flags & _KERNEL and not stat.flags & _BOUND
            if movable and path.parent.name in self.forgetting:
                self.put(f"/proc/{path.parent.name}/affinity", self.read(_POSSIBLE) or "")
        self._share_out()

    @property
    def _online(self) -> set[int]:
        return set(parse_list(super().read(_ONLINE) or ""))

    def set_affinity(self, tid: int, cpus: tuple[int, ...]) -> None:
        """See ``Host.set_affinity``."""
        self._fault_hook("affinity", str(tid))
        cpus = tuple(cpu for cpu in cpus if cpu in self._online)
        if not cpus:
            raise _refused(errno.EINVAL, str(tid))
        left = parse_list(self.read(f"{self._top}/cpuset.cpus.effective") or "")
        if str(tid) in (self.read(f"{self._top}/cgroup.procs") or "").split() and left:
            cpus = tuple(cpu for cpu in cpus if cpu in left)
        self.put(f"/proc/{tid}/affinity", format_list(cpus))
        self._fault_hook("set", str(tid))

    def _move(self, folder: str, tid: str) -> None:
        """Move a thread; processes have one thread here, so both lists of version 1 agree."""
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
            above = folder == self._top
            given = self.read(_POSSIBLE if above else f"{folder}/cpuset.cpus") or ""
            self.put(f"/proc/{tid}/affinity", given)
        elif folder == self._top:
            self.put(f"/proc/{tid}/affinity", self.read(_POSSIBLE) or "")

    def _share_out(self) -> None:
        """Assign CPUs of the first group to isolated partitions of version 2."""
        if self._first:
            return
        left = self._online
        for path in self._place(self._top).glob("*/cpuset.cpus.partition"):
            if path.read_text().strip() == "isolated":
                left -= set(parse_list((path.parent / "cpuset.cpus").read_text().strip()))
        self.put(f"{self._top}/cpuset.cpus.effective", format_list(left))

    def _give(self, path: str, text: str) -> None:
        words = set((self.read(path) or "").split())
        for word in text.split():
            (words.add if word[0] == "+" else words.discard)(word[1:])
        self.put(path, " ".join(sorted(words)))

    def _usable(self, folder: str) -> bool:
        return bool(set(parse_list(self.read(f"{folder}/cpuset.cpus") or "")) & self._online)

    def _is_used_by_siblings(self, folder: str) -> bool:
        mine = set(parse_list(self.read(f"{folder}/cpuset.cpus") or ""))
        beside = (path for path in self._place(folder).parent.iterdir() if path.is_dir())
        return any(
            mine & set(parse_list((path / "cpuset.cpus").read_text()))
            for path in beside
            if path != self._place(folder)
        )

    def _below(self, folder: str) -> set[int]:
        """Return the CPUs of the groups of version 1 below a group, which must have all of them."""
        inner = (path for path in self._place(folder).iterdir() if path.is_dir() and self._first)
        return {
            cpu for path in inner for cpu in parse_list((path / "cpuset.cpus").read_text().strip())
        }

    def _place(self, path: str) -> Path:
        return self.base / path.lstrip("/")


def _listed(name: str, text: str) -> set[int]:
    return set(parse_list(text) if name.endswith("_list") else parse_mask(text))


def _refused(number: int, path: str) -> OSError:
    return OSError(number, os.strerror(number), path)
