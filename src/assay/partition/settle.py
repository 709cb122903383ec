"""Settle: the host made to hold what its partitions need, and nothing else of theirs.

What all partitions together need follows from those that stand. So whatever was begun and not
ended, by whomever, is settled in the same way: by making exactly that hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from assay.host.changes import Changes, Turned
from assay.host.host import Host
from assay.host.journal import PARTITIONS, Entry, Journal
from assay.machine.boot import BOOT_ID
from assay.machine.document import Machine
from assay.partition.before import Before
from assay.partition.daemon import end_brokers
from assay.partition.designate import designation
from assay.partition.folder import partitions_folder
from assay.partition.made import Made, names, remove, standing, tell_steered
from assay.partition.memory import pools
from assay.partition.quiet import quiet
from assay.partition.steer import steering
from assay.records.action import HostAction


def settle(
    host: Host,
    journal: Journal,
    machine: Machine,
    env: Mapping[str, str],
    coming: Sequence[Made] = (),
) -> Turned:
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
    made = (*standing(env, boot_id), *coming)
    fallen = [
        partitions_folder(env) / name for name in names(env) if name not in {m.name for m in made}
    ]
    for folder in fallen:
        end_brokers(folder)
    changes = Changes(host, journal, PARTITIONS)
    actions = needed(host, made, changes.entries, machine)
    turned = changes.turn(actions)
    if made or fallen:
        tell_steered(turned.outcomes, boot_id, env)
    for folder in fallen:
        remove(folder)
    return turned


def changed(
    host: Host, coming: Made, made: Sequence[Made], entries: Sequence[Entry], machine: Machine
) -> tuple[HostAction, ...]:
    """What is to be done for another partition, beside what those that stand need already.

    Args:
        host, machine: that it comes to.
        coming: the partition.
        made: those that stand.
        entries: of them, in the undo journal.
    """
    already = set(needed(host, made, entries, machine))
    everything = needed(host, (*made, coming), entries, machine)
    return tuple(action for action in everything if action not in already)


def needed(
    host: Host, made: Sequence[Made], entries: Iterable[Entry], machine: Machine
) -> tuple[HostAction, ...]:
    """All that partitions need, in the order in which it is done."""
    before = Before(host, entries)
    apart = frozenset[int]().union(*(one.cpu_set for one in made))
    return (
        *designation(made, machine),
        *pools(made, before, host),
        *quiet(made, machine),
        *steering(host, before, apart, machine),
    )
