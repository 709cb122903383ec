"""Look: how partitions stand now, for whoever asks; needs no rights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from assay.host.actions import observe, target_value
from assay.host.changes import ActionStatus
from assay.host.control_groups import ABSENT, observe_group, target_group
from assay.host.host import Host
from assay.host.online import describe_offline, equal_except_offline, online_cpus
from assay.machine.boot import BOOT_ID
from assay.machine.cpulist import parse_list
from assay.partition.broker import PartitionState
from assay.partition.broker_process import broker_state
from assay.partition.folders import partitions_folder
from assay.partition.isolation_files import ROOT_FILES
from assay.partition.kernel_work import kernel_work_kind
from assay.partition.registry import (
    Partition,
    RecordedOutcome,
    partition_names,
    read_partition,
    recorded_outcomes,
)
from assay.records.action import ControlGroup, HostAction, TaskAffinity, WriteFile

_KINDS = ("interrupts", "workqueues", "threads", "settings")


@dataclass(frozen=True)
class PartitionStatus:
    """One partition.

    Attributes:
        name: of it.
        made: as it was made; ``None`` where whoever made or deleted it did not get to the end.
        fault: why it is not in force; ``None`` where it is.
        state: what its broker tells; ``None`` where none answers.
    """

    name: str
    made: Partition | None
    fault: str | None
    state: PartitionState | None


@dataclass(frozen=True)
class KernelWorkStatus:
    """What of one kind was kept away from the CPUs of all partitions.

    Attributes:
        kind: ``interrupts``, ``workqueues``, ``threads``, or ``settings`` for all other files.
        moved: how many go elsewhere.
        refused: what could not be, and why.
        drifted: what somebody set otherwise meanwhile, and to what.
        lapsed: how many the kernel lets run everywhere again, as after a CPU came online.
    """

    kind: str
    moved: int
    refused: dict[str, str]
    drifted: dict[str, str]
    lapsed: int = 0


def read_partitions(host: Host, env: Mapping[str, str]) -> tuple[PartitionStatus, ...]:
    """All partitions, by name."""
    found = []
    for name in partition_names(env):
        folder = partitions_folder(env) / name
        made = read_partition(folder)
        fault = fault_of(made, host) if made is not None else "it was not finished"
        found.append(
            PartitionStatus(name, made, fault, broker_state(folder) if made is not None else None)
        )
    return tuple(found)


def fault_of(made: Partition, host: Host) -> str | None:
    """Why the CPUs of a partition are not set apart any more; ``None`` where they are.

    A group beside that names the same CPUs ends a partition of version 2 without a word to anybody
    but who reads ``cpuset.cpus.partition`` (seen with Linux 6.1).
    """
    if made.boot_id != (host.read(BOOT_ID) or made.boot_id):
        return "it was made before the last boot"
    if (offline := describe_offline(host, made.cpu_set)) is not None:
        return offline
    for group in made.groups:
        if (fault := _amiss(group, host)) is not None:
            return fault
    for name, text in ROOT_FILES[made.version].items():
        if host.read(f"{made.top}/{name}") != text:
            return f"load is balanced over all CPUs again ({made.top}/{name})"
    return None


def read_kernel_work(host: Host, env: Mapping[str, str]) -> tuple[KernelWorkStatus, ...]:
    """What keeps the kernel away from the CPUs of all partitions, by kind."""
    kinds: dict[str, list[RecordedOutcome]] = {kind: [] for kind in _KINDS}
    for one in recorded_outcomes(env, host.read(BOOT_ID)):
        kind = _kind(one.action)
        if kind is not None:
            kinds[kind].append(one)
    return tuple(_of_kind(kind, found, host) for kind, found in kinds.items())


def _amiss(group: ControlGroup, host: Host) -> str | None:
    found, target_value = observe_group(host, group), target_group(group)
    if found == ABSENT:
        return f"its control group {group.path} is gone"
    if found == target_value:
        return None
    differs = [
        part
        for part, asked in zip(found.split("; "), target_value.split("; "), strict=False)
        if part != asked
    ]
    name, _, text = differs[0].partition("=")
    return f"{group.path}/{name} reads {text or 'nothing'}"


def _kind(action: HostAction) -> str | None:
    """One of ``_KINDS``; ``None`` for control groups, which are looked at by themselves."""
    kind = kernel_work_kind(action)
    if kind is None:
        return "settings" if isinstance(action, WriteFile) else None
    return "interrupts" if kind == "balancer" else kind


def _of_kind(kind: str, found: list[RecordedOutcome], host: Host) -> KernelWorkStatus:
    refused, drifted, moved, lapsed = {}, {}, 0, 0
    for one in found:
        name = target_of(one)
        now = observe(host, one.action)
        drift = one.word == ActionStatus.DRIFTED
        if not drift and one.word not in (ActionStatus.GRANTED, ActionStatus.KEPT):
            refused[name] = one.reason or f"it reads {one.read}"
        elif now is not None and not drift and _is_open(host, one, now):
            lapsed += 1
        elif now is not None and not _is_so(host, one, now):
            drifted[name] = now
        elif now is not None:
            moved += 1
    return KernelWorkStatus(kind, moved, refused, drifted, lapsed)


def _is_so(host: Host, one: RecordedOutcome, now: str) -> bool:
    """Return whether it still is as it was put, or again as it is to be."""
    put = target_value(one.action) if one.word == ActionStatus.DRIFTED else one.read
    same = (put, target_value(one.action))
    return now == put or any(
        equal_except_offline(host, one.action.path, now, text) for text in same
    )


def _is_open(host: Host, one: RecordedOutcome, now: str) -> bool:
    """Return whether a thread may run on all CPUs again, as the kernel has it when one comes back.

    A thread that a user placed is on fewer.
    """
    here = online_cpus(host)
    if not isinstance(one.action, TaskAffinity) or here is None:
        return False
    return here <= frozenset(parse_list(now)) and not _is_so(host, one, now)


def target_of(one: RecordedOutcome) -> str:
    """What was steered, in a word: a number of an interrupt, a queue, a thread, else a path."""
    match one.action:
        case TaskAffinity(tid=tid):
            return str(tid)
        case WriteFile(path=path):
            words = path.split("/")
            if kernel_work_kind(one.action) is None:
                return path
            return words[-2] if words[-2].isdecimal() or words[-1] == "cpumask" else words[-1]
        case other:
            return other.path
