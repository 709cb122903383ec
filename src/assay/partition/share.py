"""Share of a partition: placement and supervision of launches.

Processes are placed before they run any code: the launcher is moved into the control groups of the
share, and its children inherit them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from assay.errors import ShareLostError
from assay.machine.cpulist import format_list, show_numbers
from assay.machine.document import Machine
from assay.machine.root import LIVE
from assay.partition.bounds import read_bounds
from assay.partition.broker import BrokerClient
from assay.partition.folders import partition_folder, socket_in
from assay.partition.isolation_files import expected_files
from assay.partition.names import PARTITION_KIND, SHARE_KIND, SHARE_MEMORY_KIND, UTILITY_VARIABLE
from assay.partition.registry import select_partition
from assay.partition.reservation import ShareLimits, ShareResources, preview_share, reserve_share
from assay.partition.share_request import ShareRequest
from assay.records import Evidence
from assay.settings.gpus import variables_for, visible_in
from assay.units import show_bytes

_CPUS = ("cpuset.cpus.effective", "cpuset.effective_cpus")
"""Files with the CPUs of a share, in version 2 and 1."""


@dataclass(frozen=True)
class Share:
    """Share of a partition; close it, or use it as a context manager.

    Attributes:
        partition: name of the partition.
        part: CPUs, memory and GPUs.
        lease: number of the lease; ``None`` for a preview.
        folders: control groups.
        broker: connection that holds the share; ``None`` for a preview.
    """

    partition: str
    part: ShareResources
    lease: int | None = None
    folders: tuple[str, ...] = ()
    broker: BrokerClient | None = None

    def __enter__(self) -> Share:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the share; its processes return to the control group of this process."""
        if self.broker is not None:
            self.broker.close()

    @property
    def cpus(self) -> tuple[int, ...]:
        """CPUs for the workload, ascending."""
        return self.part.choice.cpus

    @property
    def variables(self) -> dict[str, str]:
        """Environment variables that describe the share to a program."""
        utility = self.part.choice.utility
        utility_variables = {UTILITY_VARIABLE: format_list(utility)} if utility else {}
        return utility_variables | (variables_for(self.part.gpus) if self.part.gpus else {})

    def machine_within(self, machine: Machine) -> Machine:
        """Return the machine as programs in the share see it."""
        from msgspec.structs import replace

        limits = [machine.memory_limit_bytes, self.part.memory_bytes or None]
        memory = min((limit for limit in limits if limit is not None), default=None)
        return replace(
            machine, allowed_cpus=self.cpus, memory_limit_bytes=memory, cpu_restriction=None
        )

    def place(self, pid: int, cpus: tuple[int, ...] | None = None) -> None:
        """Move a launcher into the share before it starts any process.

        Args:
            pid: process id of the launcher.
            cpus: CPUs of a slot within the share; all of them if absent. Launchers use the utility
                CPUs, if there are any.

        Raises:
            NotPossibleError: the broker or the process has ended.
        """
        assert self.broker is not None
        self.broker.move(pid, self.part.choice.utility or cpus or self.cpus)

    def demand_reserved(self) -> None:
        """Refuse to launch after the share was lost.

        Raises:
            ShareLostError: the broker has ended, for instance with the partition.
        """
        if self.broker is not None and self.broker.has_ended:
            raise ShareLostError(
                f"The share of partition {self.partition} was lost: its broker has ended.",
                "See its state in `assay partition list`.",
            )

    def read_files(self) -> dict[str, str]:
        """Return the contents of the control-group files of share and partition, by path.

        Existing groups of the share are included with an empty text.
        """
        values = {folder: "" for folder in self.folders if Path(folder).is_dir()}
        own = [f"{folder}/{name}" for folder in self.folders for name in _CPUS]
        paths = (*self._demanded, *own)
        return values | {path: text for path in paths if (text := _read(path)) is not None}

    def violations(self, *readings: Mapping[str, str]) -> tuple[Evidence, ...]:
        """Return evidence of changes of the partition or the share during a launch.

        Args:
            readings: readings before and after a launch.
        """
        before, after = readings[0], readings[-1]
        changed = {
            path: f"{path}: {before[path]} became {after[path]}"
            for path in self._demanded
            if path in before and after.get(path, before[path]) != before[path]
        }
        wrong = [
            note for seen in readings for path, note in self._wrong(seen) if path not in changed
        ]
        notes = dict.fromkeys((*changed.values(), *wrong))
        return tuple(Evidence(kind=PARTITION_KIND, external=True, note=note) for note in notes)

    def _wrong(self, seen: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """Yield files with unexpected contents."""
        own = format_list((*self.cpus, *self.part.choice.utility))
        wanted = self._demanded
        for path, text in seen.items():
            if text != wanted.get(path, text):
                yield path, f"{path}: {text}; isolation requires {wanted[path]}"
            elif path.endswith(_CPUS) and text != own:
                yield path, f"{path}: {text or 'none'}; the share has {own}"
        for folder in self.folders:
            if folder not in seen:
                yield folder, f"{folder} is missing"

    @property
    def _demanded(self) -> dict[str, str]:
        """Expected contents of the files of its partition, by path."""
        groups = (folder.rpartition("/")[0] for folder in self.folders)
        return {path: text for group in groups for path, text in expected_files(group).items()}

    def memory_evidence(self, killed: int | None) -> tuple[Evidence, ...]:
        """Return evidence of a lack of memory in the share.

        Args:
            killed: number of processes that the kernel killed for lack of memory, if known.
        """
        if not killed or not self.part.memory_bytes:
            return ()
        note = f"the {show_bytes(self.part.memory_bytes)} of memory of the share were exhausted"
        return (Evidence(kind=SHARE_MEMORY_KIND, value=float(killed), unit="processes", note=note),)

    @property
    def evidence(self) -> Evidence:
        """Evidence of the resources of a launch."""
        return Evidence(kind=SHARE_KIND, note=str(self))

    def __str__(self) -> str:
        choice, part = self.part.choice, self.part
        words = [f"partition {self.partition}: {show_numbers('CPU', choice.cpus)}"]
        if choice.utility:
            words.append(show_numbers("utility CPU", choice.utility))
        if part.memory_bytes:
            words.append(f"{show_bytes(part.memory_bytes)} of memory")
        if part.gpus:
            words.append(show_numbers("GPU", part.gpus))
        lease = "" if self.lease is None else f" (lease {self.lease})"
        return ", ".join(words) + lease


def open_share(
    request: ShareRequest,
    name: str | None,
    machine: Machine,
    env: Mapping[str, str],
    *,
    seed: int = 0,
    take: bool = True,
) -> Share:
    """Open a share of a partition.

    Args:
        request: requested share.
        name: name of the partition; the only one if absent.
        machine: description of this host.
        env: environment of this process: folders of partitions, and GPUs visible to it.
        seed: seed of the algorithm ``random``.
        take: whether to reserve it; otherwise it is only a preview.

    Raises:
        InvalidInputError: the partition is unknown or too small.
        NotPossibleError: there is no partition, or its resources are in use or outside the limits
            of this process.
    """
    partition = select_partition(name, env)
    broker = BrokerClient(socket_in(partition_folder(partition, env)))
    try:
        online = [cpu.id for cpu in machine.cpus]
        bounds = read_bounds(LIVE, os.sched_getaffinity(0), online)
        within = ShareLimits(bounds, visible_in(env))
        if not take:
            part = preview_share(request, broker.state(), machine.cpus, seed, within)
            broker.close()
            return Share(partition, part)
        found = reserve_share(request, broker, machine.cpus, seed, within)
        return Share(partition, found, found.lease.lease, found.lease.folders, broker)
    except BaseException:
        broker.close()
        raise


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return None
