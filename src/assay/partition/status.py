"""Status of partitions; reading it needs no rights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from assay.host.actions import observe, target_value
from assay.host.changes import ActionStatus
from assay.host.control_groups import ABSENT, observe_group, target_group
from assay.host.host import Host
from assay.host.online import describe_offline, equal_except_offline, online_cpus
from assay.host.undo import is_balanced_within
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
    """Status of one partition.

    Attributes:
        name: name of the partition.
        partition: its document; ``None`` if its creation or deletion was interrupted.
        fault: reason why it is not in force; ``None`` if it is.
        state: state from its broker; ``None`` without an answer.
    """

    name: str
    partition: Partition | None
    fault: str | None
    state: PartitionState | None


@dataclass(frozen=True)
class KernelWorkStatus:
    """Status of one kind of kernel work that is kept off the CPUs of all partitions.

    Attributes:
        kind: ``interrupts``, ``workqueues``, ``threads``, or ``settings`` for all other files.
        moved: number of moved targets.
        refused: targets that could not be moved, with the reason.
        drifted: targets that another process changed since, with their values.
        lapsed: number of targets that the kernel reset to all CPUs, as after a CPU came online.
    """

    kind: str
    moved: int
    refused: dict[str, str]
    drifted: dict[str, str]
    lapsed: int = 0


def read_partitions(host: Host, env: Mapping[str, str]) -> tuple[PartitionStatus, ...]:
    """Return the status of all partitions, by name."""
    found = []
    for name in partition_names(env):
        folder = partitions_folder(env) / name
        partition = read_partition(folder)
        fault = fault_of(partition, host) if partition is not None else "it is incomplete"
        found.append(
            PartitionStatus(
                name, partition, fault, broker_state(folder) if partition is not None else None
            )
        )
    return tuple(found)


def fault_of(partition: Partition, host: Host) -> str | None:
    """Return why the CPUs of a partition are no longer isolated; ``None`` if they are.

    A sibling group with the same CPUs invalidates a partition of version 2; only
    ``cpuset.cpus.partition`` shows it (observed with Linux 6.1).
    """
    if partition.boot_id != (host.read(BOOT_ID) or partition.boot_id):
        return "it was created before the last boot"
    if (offline := describe_offline(host, partition.cpu_set)) is not None:
        return offline
    for group in partition.groups:
        if (fault := _fault_of_group(group, host)) is not None:
            return fault
    for name, text in ROOT_FILES[partition.version].items():
        if host.read(f"{partition.root_group}/{name}") != text:
            return f"load is balanced over all CPUs again ({partition.root_group}/{name})"
    return None


def read_kernel_work(host: Host, env: Mapping[str, str]) -> tuple[KernelWorkStatus, ...]:
    """Return the status of kernel work that is kept off the CPUs of partitions, by kind."""
    kinds: dict[str, list[RecordedOutcome]] = {kind: [] for kind in _KINDS}
    for outcome in recorded_outcomes(env, host.read(BOOT_ID)):
        kind = _kind(outcome.action)
        if kind is not None:
            kinds[kind].append(outcome)
    return tuple(_of_kind(kind, found, host) for kind, found in kinds.items())


def _fault_of_group(group: ControlGroup, host: Host) -> str | None:
    found, wanted = observe_group(host, group), target_group(group)
    if found == ABSENT:
        return f"its control group {group.path} is missing"
    if found == wanted:
        return None
    differs = [
        part
        for part, target in zip(found.split("; "), wanted.split("; "), strict=False)
        if part != target
    ]
    name, _, text = differs[0].partition("=")
    return f"{group.path}/{name} reads {text or 'nothing'}"


def _kind(action: HostAction) -> str | None:
    """Return one of ``_KINDS``; ``None`` for control groups, which are checked separately."""
    kind = kernel_work_kind(action)
    if kind is None:
        return "settings" if isinstance(action, WriteFile) else None
    return "interrupts" if kind == "balancer" else kind


def _of_kind(kind: str, found: list[RecordedOutcome], host: Host) -> KernelWorkStatus:
    refused, drifted, moved, lapsed = {}, {}, 0, 0
    for outcome in found:
        name = target_of(outcome)
        now = observe(host, outcome.action)
        drift = outcome.status == ActionStatus.DRIFTED
        if not drift and outcome.status not in (ActionStatus.GRANTED, ActionStatus.KEPT):
            refused[name] = outcome.reason or f"it reads {outcome.read}"
        elif now is not None and not drift and _is_unrestricted(host, outcome, now):
            lapsed += 1
        elif now is not None and not _has_expected_value(host, outcome, now):
            drifted[name] = now
        elif now is not None:
            moved += 1
    return KernelWorkStatus(kind, moved, refused, drifted, lapsed)


def _has_expected_value(host: Host, outcome: RecordedOutcome, now: str) -> bool:
    """Return whether a target still has its recorded or its intended value."""
    put = target_value(outcome.action) if outcome.status == ActionStatus.DRIFTED else outcome.read
    same = (put, target_value(outcome.action))
    return (
        now == put
        or any(equal_except_offline(host, outcome.action.path, now, text) for text in same)
        or is_balanced_within(host, outcome.action, now)
    )


def _is_unrestricted(host: Host, outcome: RecordedOutcome, now: str) -> bool:
    """Return whether a thread may use all CPUs again, as after a CPU came online.

    A thread that a user confined has fewer CPUs.
    """
    here = online_cpus(host)
    if not isinstance(outcome.action, TaskAffinity) or here is None:
        return False
    return here <= frozenset(parse_list(now)) and not _has_expected_value(host, outcome, now)


def target_of(outcome: RecordedOutcome) -> str:
    """Return a short name of a target: number of an interrupt, queue, thread, or a path."""
    match outcome.action:
        case TaskAffinity(tid=tid):
            return str(tid)
        case WriteFile(path=path):
            words = path.split("/")
            if kernel_work_kind(outcome.action) is None:
                return path
            return words[-2] if words[-2].isdecimal() or words[-1] == "cpumask" else words[-1]
        case other:
            return other.path
