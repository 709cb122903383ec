"""Types of the documents of ``assay partition``."""

from __future__ import annotations

from typing import Literal

from assay.host.changes import ActionStatus
from assay.host.undo import Fate
from assay.partition.registry import IdleLimit, MemoryGuarantee
from assay.records.codec import SCHEMA, Record

CgroupVersion = Literal["v1", "v2"]
BrokerStatus = Literal["answers", "silent", "none"]


class PartitionMemory(Record, frozen=True, kw_only=True):
    """Memory of a partition.

    Attributes:
        bytes: reserved memory, in bytes.
        requested_bytes: requested memory, in bytes.
        guarantee: mechanism that keeps the memory free: ``pages`` (huge pages in pools),
            ``minimum`` (``memory.min`` of control groups of version 2), or ``admission`` (count of
            the broker, without a reservation by the kernel).
    """

    bytes: int
    requested_bytes: int
    guarantee: MemoryGuarantee


class MissingBootArgument(Record, frozen=True, kw_only=True):
    """Boot argument that would keep further kernel work away.

    Attributes:
        argument: argument of the kernel command line.
        reason: effect of the argument.
    """

    argument: str
    reason: str


class FreeResources(Record, frozen=True, kw_only=True):
    """Resources of a partition that no share holds.

    Attributes:
        cpus: list of CPUs; may be empty.
        memory_bytes: memory, in bytes.
        gpus: list of GPUs; may be empty.
    """

    cpus: str
    memory_bytes: int
    gpus: str


class PartitionShare(Record, frozen=True, kw_only=True):
    """Share of a user.

    Attributes:
        cpus: list of CPUs.
        memory_bytes: memory, in bytes.
        gpus: list of GPUs; may be empty.
        uid: user id of the user.
        pid: process id of the holder; absent if the caller may not see it.
    """

    cpus: str
    memory_bytes: int
    gpus: str
    uid: int
    pid: int | None = None


class PartitionDescription(Record, frozen=True, kw_only=True):
    """Resources of a partition.

    Attributes:
        name: name of the partition.
        cpus: list of CPUs.
        nodes: list of NUMA nodes.
        cgroup: version of the control groups.
        groups: paths of its control groups, that of the CPUs first.
        idle_limit: limit on the idle states of its CPUs.
        memory: reserved memory; absent without a reservation.
        gpus: list of GPUs; absent if there are none.
        boot: missing boot arguments.
    """

    name: str
    cpus: str
    nodes: str
    cgroup: CgroupVersion
    groups: tuple[str, ...]
    idle_limit: IdleLimit
    memory: PartitionMemory | None = None
    gpus: str | None = None
    boot: tuple[MissingBootArgument, ...]


class ListedPartition(Record, frozen=True, kw_only=True):
    """One partition of ``assay partition list``.

    If its creation did not finish, only ``name``, ``in_force`` and ``fault`` are present.

    Attributes:
        name: name of the partition.
        in_force: true if all properties of the partition hold.
        fault: property that does not hold.
        cpus: list of CPUs.
        nodes: list of NUMA nodes.
        cgroup: version of the control groups.
        groups: paths of its control groups, that of the CPUs first.
        idle_limit: limit on the idle states of its CPUs.
        memory: reserved memory; absent without a reservation.
        gpus: list of GPUs; absent if there are none.
        boot: missing boot arguments.
        broker: state of the broker: ``silent`` if it has ended, ``none`` if the partition was
            created without one.
        version: version of the broker, if it answers.
        free: free resources, if the broker answers.
        shares: shares of users, if the broker answers.
    """

    name: str
    in_force: bool
    fault: str | None = None
    cpus: str | None = None
    nodes: str | None = None
    cgroup: CgroupVersion | None = None
    groups: tuple[str, ...] | None = None
    idle_limit: IdleLimit | None = None
    memory: PartitionMemory | None = None
    gpus: str | None = None
    boot: tuple[MissingBootArgument, ...] | None = None
    broker: BrokerStatus | None = None
    version: str | None = None
    free: FreeResources | None = None
    shares: tuple[PartitionShare, ...] | None = None


class SteeredTargets(Record, frozen=True, kw_only=True):
    """Kernel work of one kind that is kept away from all partitions.

    Attributes:
        moved: number of moved targets.
        refused: targets that the kernel does not move, with the reason.
        drifted: targets that another program changed since, with their values.
        lapsed: number of targets that the kernel reset to all CPUs.
    """

    moved: int
    refused: dict[str, str]
    drifted: dict[str, str]
    lapsed: int = 0


class SteeredKernelWork(Record, frozen=True, kw_only=True):
    """Kernel work that is kept away from all partitions, by kind.

    Attributes:
        interrupts: affinities of interrupts.
        workqueues: CPU masks of workqueues.
        threads: affinities of kernel threads.
        settings: all other files.
    """

    interrupts: SteeredTargets
    workqueues: SteeredTargets
    threads: SteeredTargets
    settings: SteeredTargets


class PartitionListAnswer(Record, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Answer of ``assay partition list``.

    Attributes:
        partitions: one entry for each partition, by name.
        steered: kernel work that is kept away from all partitions.
    """

    partitions: tuple[ListedPartition, ...]
    steered: SteeredKernelWork


class PartitionCreateAnswer(Record, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Answer of ``assay partition create``.

    Attributes:
        partition: resources of the partition.
        steered: kernel work that is kept away from all partitions; absent in a dry run.
        would: in a dry run, paths that assay would write.
    """

    partition: PartitionDescription
    steered: SteeredKernelWork | None = None
    would: tuple[str, ...] | None = None


class UnrestoredValue(Record, frozen=True, kw_only=True):
    """Value that was not restored.

    Attributes:
        path: target of the change.
        original_value: value before the change.
        status: ``failed``, or ``drifted`` if another program changed the value since.
        reason: reason why it was not restored.
    """

    path: str
    original_value: str
    status: Fate
    reason: str | None = None


class UnmetRequirement(Record, frozen=True, kw_only=True):
    """Requirement of a partition that is not in force.

    Attributes:
        path: target of the requirement.
        status: ``refused``, ``degraded``, or ``drifted`` if another program changed the value.
        reason: reason for the result; null if it is unknown.
    """

    path: str
    status: ActionStatus
    reason: str | None


class PartitionStartAnswer(Record, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Answer of ``assay partition start``.

    Attributes:
        partition: resources of the partition.
        ended: number of processes in shares of the previous broker that assay ended.
        not_restored: values that were not restored.
        unmet: requirements of partitions that are not in force.
    """

    partition: PartitionDescription
    ended: int
    not_restored: tuple[UnrestoredValue, ...]
    unmet: tuple[UnmetRequirement, ...]


class PartitionDeleteAnswer(Record, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Answer of ``assay partition delete``.

    Attributes:
        deleted: name of the partition.
        not_restored: values that were not restored.
        unmet: requirements of the other partitions that are not in force.
    """

    deleted: str
    not_restored: tuple[UnrestoredValue, ...]
    unmet: tuple[UnmetRequirement, ...]
