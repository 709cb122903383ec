"""Settle: the host made to hold what its partitions need, and nothing else of theirs.

What all partitions together need follows from those that stand. So whatever was begun and not
ended, by whomever, is settled in the same way: by making exactly that hold.
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
    coming: Sequence[Partition] = (),
) -> UpdateResult:
    """Make exactly what partitions need hold; folders of those that do not stand are removed.

    Args:
        host: that is changed.
        journal: held.
        machine: of the host.
        env: may name other folders than the usual ones.
        coming: partitions that do not stand yet.

    Raises:
        NotPossibleError: the journal cannot be written.
    """
    boot_id = host.read(BOOT_ID) or ""
    made = (*active_partitions(env, boot_id), *coming)
    fallen = [
        partitions_folder(env) / name
        for name in partition_names(env)
        if name not in {m.name for m in made}
    ]
    for folder in fallen:
        end_brokers(folder)
    changes = HostChanges(host, journal, PARTITIONS_OWNER)
    actions = required_actions(host, made, changes.entries, machine)
    turned = changes.update(actions)
    if made or fallen:
        record_outcomes(turned.outcomes, boot_id, env)
    for folder in fallen:
        remove_folder(folder)
    return turned


def additional_actions(
    host: Host,
    coming: Partition,
    made: Sequence[Partition],
    entries: Sequence[Entry],
    machine: Machine,
) -> tuple[HostAction, ...]:
    """What is to be done for another partition, beside what those that stand need already.

    Args:
        host, machine: that it comes to.
        coming: the partition.
        made: those that stand.
        entries: of them, in the undo journal.
    """
    already = set(required_actions(host, made, entries, machine))
    everything = required_actions(host, (*made, coming), entries, machine)
    return tuple(action for action in everything if action not in already)


def required_actions(
    host: Host, made: Sequence[Partition], entries: Iterable[Entry], machine: Machine
) -> tuple[HostAction, ...]:
    """All that partitions need, in the order in which it is done."""
    before = InitialState(host, entries)
    apart = frozenset[int]().union(*(one.cpu_set for one in made))
    return (
        *isolation_actions(made, machine),
        *pool_actions(made, before, host),
        *idle_actions(made, machine),
        *kernel_work_actions(host, before, apart, machine),
    )
