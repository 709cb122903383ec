"""Life cycle of partitions: creation, restart and deletion.

A partition is active while its document is in its folder. A process that is interrupted before or
after that leaves a folder for a guard process, or for the next command on partitions, to reconcile.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from assay.errors import InvalidInputError, NotPossibleError, nearest
from assay.host.changes import ActionOutcome, UpdateResult
from assay.host.control_groups import processes_below
from assay.host.guard import Guard
from assay.host.host import Host, LiveHost
from assay.host.journal import (
    PARTITIONS_OWNER,
    STATE_VARIABLE,
    Journal,
    MachineBusyError,
    open_journal,
)
from assay.host.system_hold import restore_ended_owners
from assay.machine.boot import BOOT_ID
from assay.machine.cpulist import format_list
from assay.machine.document import Machine
from assay.machine.reader import read_machine
from assay.machine.root import LIVE, Root
from assay.partition.broker_process import broker_state, end_brokers, find_broker, start_broker
from assay.partition.cpu_designation import CpuRequest, designate_cpus, nodes_of
from assay.partition.folders import RUN_VARIABLE, partition_folder, partitions_folder
from assay.partition.idle_limits import demand_idle_support
from assay.partition.isolation import (
    broker_hierarchies,
    find_tree,
    partition_groups,
    required_controllers,
)
from assay.partition.memory import MemoryRequest, granted_memory, plan_memory, protected_bytes
from assay.partition.reconciliation import reconcile, required_actions
from assay.partition.registry import (
    IdleLimit,
    Partition,
    activate,
    active_partitions,
    create_folder,
    deactivate,
    partition_names,
    read_partition,
    record_outcomes,
    remove_folder,
    write_broker_document,
)
from assay.partition.requirements import (
    demand_isolated,
    demand_memory,
    demand_no_foreign_groups,
    demand_no_overlap,
    demand_root,
    demand_same_tree,
    demand_unused,
    requested_gpus,
)
from assay.records.action import WriteFile

DEFAULT_NAME = "main"
WAIT_S = 30.0
"""Time in seconds to wait for another process that changes the machine."""
_POLL_INTERVAL_S = 0.05
_GUARD = "assay.partition.guard"


@dataclass(frozen=True)
class PartitionRequest:
    """Requested partition.

    Attributes:
        name: name of the partition.
        cpus: requested CPUs.
        memory: requested memory; ``None`` for none.
        gpus: a list of numbers.
        idle: limit on the idle states of its CPUs.
        checks_machine: whether the kernel polls for corrected machine errors; this applies to all
            CPUs.
        broker: whether runs can reserve shares of it.
        precise: whether to refuse less memory than requested.
    """

    name: str
    cpus: CpuRequest
    memory: MemoryRequest | None = None
    gpus: str = ""
    idle: IdleLimit = "default"
    checks_machine: bool = True
    broker: bool = True
    precise: bool = False


@dataclass(frozen=True)
class PartitionHost:
    """Host and environment of partitions.

    Attributes:
        env: environment, which may name other folders and another broker than the defaults.
        wait_s: time in seconds to wait for another process that changes the machine.
        host: host to change.
        root: file system of the same host, for reading.
        guarded: whether a guard process reconciles an interrupted operation; possible only for this
            host.
    """

    env: Mapping[str, str]
    wait_s: float = WAIT_S
    host: Host = field(default_factory=LiveHost)
    root: Root = LIVE
    guarded: bool = True


class _NoGuard:
    """Substitute for a guard."""

    def __enter__(self) -> _NoGuard:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def dismiss(self) -> None:
        """Do nothing."""


@dataclass(frozen=True)
class CreatedPartition:
    """New partition, with the outcomes of all actions that partitions require."""

    partition: Partition
    outcomes: tuple[ActionOutcome, ...]


@dataclass(frozen=True)
class StartedPartition:
    """Partition after a restart, with the outcomes of all actions that partitions require.

    Attributes:
        broker_started: whether the broker was restarted.
        ended: number of processes in shares of the previous broker; these shares have ended, and
            their CPUs are free for others.
    """

    partition: Partition
    update: UpdateResult
    broker_started: bool
    ended: int = 0


def plan_partition(request: PartitionRequest, machine: Machine, target: PartitionHost) -> Partition:
    """Return the partition for a request, without any change.

    Raises:
        InvalidInputError: the request is invalid.
        NotPossibleError: the resources are in use, or this machine does not support the request.
    """
    host, root, env = target.host, target.root, target.env
    boot_id = host.read(BOOT_ID) or ""
    others = active_partitions(env, boot_id)
    if read_partition(partition_folder(request.name, env)) in others:
        raise NotPossibleError(
            f"The partition {request.name} already exists.",
            f"Delete it with `assay partition delete {request.name}`, or choose another name.",
        )
    tree = find_tree(root)
    demand_same_tree(tree, others)
    cpus = designate_cpus(request.cpus, machine, {other.name: other.cpu_set for other in others})
    demand_idle_support(request.idle, request.checks_machine, machine, cpus)
    gpus = requested_gpus(request.gpus, root, others)
    nodes = nodes_of(cpus, machine)
    memory = None
    if request.memory is not None:
        memory = plan_memory(request.memory, machine, cpus, nodes, host, tree, others)
    groups = partition_groups(tree, request.name, cpus, nodes, protected_bytes(memory))
    return Partition(
        name=request.name,
        boot_id=boot_id,
        version=tree.version,
        root_group=tree.top,
        cpus=format_list(cpus),
        nodes=format_list(nodes),
        groups=groups,
        delegated=required_controllers(tree, with_memory=memory is not None),
        hierarchies=broker_hierarchies(tree, groups),
        memory=memory,
        gpus=format_list(gpus),
        idle_limit=request.idle,
        machine_checks=request.checks_machine,
        broker=request.broker,
        created_at=round(time.time(), 3),
    )


def create_partition(request: PartitionRequest, target: PartitionHost) -> CreatedPartition:
    """Create a partition and its broker.

    Raises:
        InvalidInputError: the request is invalid.
        NotPossibleError: this user or machine cannot create it, or the resources are in use; all
            changes are then undone.
    """
    program = find_broker(target.env) if request.broker else None
    host, machine = target.host, read_machine(target.root)
    demand_root(machine)
    with _changing(target.wait_s) as journal:
        restore_ended_owners(host, journal)
        reconcile(host, journal, machine, target.env)
        partition = plan_partition(request, machine, target)
        demand_no_foreign_groups(partition, journal, host)
        if partition.version == 1:
            demand_no_overlap(partition, host)
        with _guard(target, journal) as guard:
            folder = create_folder(request.name, target.env)
            try:
                created = _create(partition, request, folder, program, journal, machine, target)
            except BaseException:
                deactivate(folder)
                reconcile(host, journal, machine, target.env)
                guard.dismiss()
                raise
            guard.dismiss()
    return created


def _create(
    planned: Partition,
    request: PartitionRequest,
    folder: Path,
    program: Path | None,
    journal: Journal,
    machine: Machine,
    target: PartitionHost,
) -> CreatedPartition:
    settled = reconcile(target.host, journal, machine, target.env, (planned,))
    partition = _with_actual_memory(planned, settled, target.host)
    entries = [entry for entry in journal.entries if entry.note.owner == PARTITIONS_OWNER]
    own = {action.path for action in required_actions(target.host, (partition,), entries, machine)}
    demand_isolated(
        partition,
        [outcome for outcome in settled.outcomes if outcome.action.path in own],
        target.host,
    )
    demand_memory(partition, precise=request.precise)
    write_broker_document(partition, folder)
    if program is not None:
        start_broker(program, folder)
    activate(partition, folder)
    return CreatedPartition(partition, settled.outcomes)


def _guard(target: PartitionHost, journal: Journal) -> Guard | _NoGuard:
    if not target.guarded:
        return _NoGuard()
    return Guard(journal, PARTITIONS_OWNER, _GUARD, (STATE_VARIABLE, RUN_VARIABLE))


def delete_partition(name: str, target: PartitionHost, *, force: bool = False) -> UpdateResult:
    """Delete a partition, and restore all changes that it required.

    Args:
        name: name of the partition.
        target: host of the partition.
        force: whether to delete it while it is in use; its processes continue elsewhere.

    Raises:
        InvalidInputError: the partition is unknown.
        NotPossibleError: the partition is in use, or this user may not delete it.
    """
    folder = _folder_of(name, target.env)
    host, machine = target.host, read_machine(target.root)
    demand_root(machine)
    with _changing(target.wait_s) as journal:
        _folder_of(name, target.env)  # another process may have deleted it meanwhile
        restore_ended_owners(host, journal)
        kept_unused = contextlib.nullcontext() if force else demand_unused(name, folder, host)
        with kept_unused, _guard(target, journal) as guard:
            deactivate(folder)
            update = reconcile(host, journal, machine, target.env)
            guard.dismiss()
    return update


def start_partition(name: str, target: PartitionHost) -> StartedPartition:
    """Repeat all actions that partitions require, and restart a broker that has ended.

    A partition without a broker remains without one.

    Raises:
        InvalidInputError: the partition is unknown.
        NotPossibleError: the partition is not active, or this user may not change it.
    """
    folder = _folder_of(name, target.env)
    machine = read_machine(target.root)
    demand_root(machine)
    with _changing(target.wait_s) as journal:
        restore_ended_owners(target.host, journal)
        update = reconcile(target.host, journal, machine, target.env)
        partition = read_partition(folder)
        if partition is None:
            raise NotPossibleError(
                f"The partition {name} was incomplete and has been removed.",
                "Create it again with `assay partition create`.",
            )
        if not partition.broker or broker_state(folder) is not None:
            return StartedPartition(partition, update, broker_started=False)
        program = find_broker(target.env)
        end_brokers(folder)
        write_broker_document(partition, folder)
        paths = (group.path for group in partition.groups)
        ended = {pid for path in paths for pid in processes_below(target.host, path)}
        start_broker(program, folder)
    return StartedPartition(partition, update, broker_started=True, ended=len(ended))


def deactivate_partitions(env: Mapping[str, str]) -> None:
    """Deactivate all partitions and end their brokers; requires the lock of the undo journal.

    Their changes are recorded there, and are restored from there.
    """
    for name in partition_names(env):
        folder = partitions_folder(env) / name
        deactivate(folder)
        end_brokers(folder)


def remove_partitions(env: Mapping[str, str]) -> None:
    """Remove inactive partitions; requires the lock of the undo journal."""
    for name in partition_names(env):
        folder = partitions_folder(env) / name
        if read_partition(folder) is None:
            remove_folder(folder)
    record_outcomes((), "", env)


def _changing(wait_s: float) -> Journal:
    """Return the undo journal once no other process changes the machine.

    Raises:
        NotPossibleError: another process still does, or the journal cannot be opened.
    """
    end = time.monotonic() + wait_s
    while True:
        try:
            return open_journal()
        except MachineBusyError:
            if time.monotonic() > end:
                raise
        time.sleep(_POLL_INTERVAL_S)


def _folder_of(name: str, env: Mapping[str, str]) -> Path:
    known = partition_names(env)
    if name not in known:
        near = nearest(name, known)
        raise InvalidInputError(
            f"Unknown partition: {name}.",
            f"Did you mean {near}?" if near else "See `assay partition list`.",
        )
    return partitions_folder(env) / name


def _with_actual_memory(partition: Partition, settled: UpdateResult, host: Host) -> Partition:
    """Return the partition with its actual memory, if pools grew less than requested."""
    if partition.memory is None:
        return partition
    missing = {
        outcome.action.path: int(outcome.action.value) - int(outcome.read)
        for outcome in settled.outcomes
        if isinstance(outcome.action, WriteFile)
        and outcome.action.path.endswith("/nr_hugepages")
        and outcome.read is not None
        and outcome.read.isdecimal()
    }
    return msgspec.structs.replace(
        partition, memory=granted_memory(partition.memory, missing, host)
    )
