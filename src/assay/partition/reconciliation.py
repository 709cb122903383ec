"""Reconciliation of the host with the requirements of its partitions.

The requirements follow from the active partitions alone. An interrupted operation of any process is
therefore reconciled in one way: by applying exactly these requirements.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from assay.host.changes import HostChanges, UpdateResult
from assay.host.host import Host
from assay.host.journal import PARTITIONS_OWNER, Entry, Journal
from assay.machine.boot import BOOT_ID
from assay.machine.document import Machine
from assay.partition.broker_process import end_brokers
from assay.partition.folders import partitions_folder
from assay.partition.idle_limits import idle_actions
from assay.partition.initial_state import InitialState
from assay.partition.isolation import isolation_actions
from assay.partition.kernel_work import kernel_work_actions
from assay.partition.memory import pool_actions
from assay.partition.registry import (
    Partition,
    active_partitions,
    partition_names,
    record_outcomes,
    remove_folder,
)
from assay.records.action import HostAction


def reconcile(
    host: Host,
    journal: Journal,
    machine: Machine,
    env: Mapping[str, str],
    planned: Sequence[Partition] = (),
) -> UpdateResult:
    """Apply exactly the requirements of partitions; remove the folders of inactive ones.

    Args:
        host: host to change.
        journal: locked undo journal.
        machine: description of the host.
        env: environment, which may name other folders than the defaults.
        planned: partitions that are not active yet.

    Raises:
        NotPossibleError: the journal cannot be written.
    """
    boot_id = host.read(BOOT_ID) or ""
    partitions = (*active_partitions(env, boot_id), *planned)
    inactive = [
        partitions_folder(env) / name
        for name in partition_names(env)
        if name not in {m.name for m in partitions}
    ]
    for folder in inactive:
        end_brokers(folder)
    changes = HostChanges(host, journal, PARTITIONS_OWNER)
    actions = required_actions(host, partitions, changes.entries, machine)
    result = changes.update(actions)
    if partitions or inactive:
        record_outcomes(result.outcomes, boot_id, env)
    for folder in inactive:
        remove_folder(folder)
    return result


def additional_actions(
    host: Host,
    planned: Partition,
    partitions: Sequence[Partition],
    entries: Sequence[Entry],
    machine: Machine,
) -> tuple[HostAction, ...]:
    """Return the actions for another partition that the active ones do not require yet.

    Args:
        host, machine: host and its description.
        planned: new partition.
        partitions: active partitions.
        entries: entries of partitions in the undo journal.
    """
    already = set(required_actions(host, partitions, entries, machine))
    everything = required_actions(host, (*partitions, planned), entries, machine)
    return tuple(action for action in everything if action not in already)


def required_actions(
    host: Host, partitions: Sequence[Partition], entries: Iterable[Entry], machine: Machine
) -> tuple[HostAction, ...]:
    """Return all actions that partitions require, in order."""
    before = InitialState(host, entries)
    reserved = frozenset[int]().union(*(partition.cpu_set for partition in partitions))
    return (
        *isolation_actions(partitions, machine),
        *pool_actions(partitions, before, host),
        *idle_actions(partitions, machine),
        *kernel_work_actions(host, before, reserved, machine),
    )
