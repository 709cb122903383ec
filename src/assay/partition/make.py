"""Make: partitions made, started again, and deleted.

A partition stands from the moment that its document is in its folder until it is taken away;
before that and after it, whoever does not get to the end leaves a folder that is settled by a guard
process, or by the next one who looks after partitions.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from assay.errors import InvalidInputError, NotPossibleError, nearest
from assay.host.changes import Outcome, Turned
from assay.host.groups import processes_below
from assay.host.guard import Guard
from assay.host.hold import put_back_others
from assay.host.host import Host, LiveHost
from assay.host.journal import PARTITIONS, STATE, Busy, Journal, open_journal
from assay.machine.boot import BOOT_ID
from assay.machine.cpulist import format_list
from assay.machine.document import Machine
from assay.machine.reader import read_machine
from assay.machine.root import LIVE, Root
from assay.partition.cpus import CpuWish, designated, nodes_of
from assay.partition.daemon import answer_of, end_brokers, find_broker, start_broker
from assay.partition.demands import (
    demand_alike,
    demand_apart,
    demand_memory,
    demand_no_rivals,
    demand_no_strangers,
    demand_root,
    demanded_gpus,
    unused,
)
from assay.partition.designate import (
    delegated,
    find_tree,
    groups_of,
    told_of,
)
from assay.partition.folder import VARIABLE, partition_folder, partitions_folder
from assay.partition.made import (
    Idle,
    Made,
    begin,
    fall,
    made_in,
    names,
    remove,
    stand,
    standing,
    tell_broker,
    tell_steered,
)
from assay.partition.memory import MemoryWish, as_got, kept_bytes, planned
from assay.partition.quiet import demand_quiet
from assay.partition.settle import needed, settle
from assay.records.action import WriteFile

USUAL_NAME = "main"
WAIT_S = 30.0
"""For one who changes the machine at the same time."""
_LOOK_S = 0.05
_GUARD = "assay.partition.guard"


@dataclass(frozen=True)
class Request:
    """A partition as it is asked for.

    Attributes:
        name: of it.
        cpus: that it is to have.
        memory: of its own; none where it is ``None``.
        gpus: a list of numbers.
        idle: how deep its CPUs may sleep.
        checks_machine: whether corrected errors of the machine are polled for; all CPUs share that.
        broker: whether runs can have shares of it.
        precise: less memory than was asked for is not enough.
    """

    name: str
    cpus: CpuWish
    memory: MemoryWish | None = None
    gpus: str = ""
    idle: Idle = "default"
    checks_machine: bool = True
    broker: bool = True
    precise: bool = False


@dataclass(frozen=True)
class Place:
    """Where partitions are made.

    Attributes:
        env: may name other folders and another broker than the usual ones.
        wait_s: how long to wait for one who changes the machine at the same time.
        host: that is changed.
        root: where the same host is read.
        guarded: whether a guard process settles what is left half done; one on this host can.
    """

    env: Mapping[str, str]
    wait_s: float = WAIT_S
    host: Host = field(default_factory=LiveHost)
    root: Root = LIVE
    guarded: bool = True


class _Unguarded:
    """In the place of a guard."""

    def __enter__(self) -> _Unguarded:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def dismiss(self) -> None:
        """Nobody is there."""


@dataclass(frozen=True)
class Created:
    """A partition that was made, and what became of all that partitions need."""

    made: Made
    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True)
class Started:
    """A partition whose broker runs where it has one, and what became of all that partitions need.

    Attributes:
        began: whether the broker was started again.
        ended: processes that ran in shares which the broker before had given: nobody has them any
            more, and the CPUs are for others.
    """

    made: Made
    turned: Turned
    began: bool
    ended: int = 0


def planned_partition(request: Request, machine: Machine, place: Place) -> Made:
    """The partition that a request comes to; nothing is changed.

    Raises:
        InvalidInputError: there can be no such one.
        NotPossibleError: others have what it asks for, or this machine cannot have it.
    """
    host, root, env = place.host, place.root, place.env
    boot_id = host.read(BOOT_ID) or ""
    others = standing(env, boot_id)
    if made_in(partition_folder(request.name, env)) in others:
        raise NotPossibleError(
            f"There is a partition {request.name} already.",
            f"`assay partition delete {request.name}` removes it; or give this one another name.",
        )
    tree = find_tree(root)
    demand_alike(tree, others)
    cpus = designated(request.cpus, machine, {one.name: one.cpu_set for one in others})
    demand_quiet(request.idle, request.checks_machine, machine, cpus)
    gpus = demanded_gpus(request.gpus, root, others)
    nodes = nodes_of(cpus, machine)
    memory = None
    if request.memory is not None:
        memory = planned(request.memory, machine, cpus, nodes, host, tree, others)
    groups = groups_of(tree, request.name, cpus, nodes, kept_bytes(memory))
    return Made(
        name=request.name,
        boot_id=boot_id,
        version=tree.version,
        top=tree.top,
        cpus=format_list(cpus),
        nodes=format_list(nodes),
        groups=groups,
        delegated=delegated(tree, with_memory=memory is not None),
        hierarchies=told_of(tree, groups),
        memory=memory,
        gpus=format_list(gpus),
        idle=request.idle,
        checks_machine=request.checks_machine,
        broker=request.broker,
        made_s=round(time.time(), 3),
    )


def create(request: Request, place: Place) -> Created:
    """Make a partition, with its broker.

    Raises:
        InvalidInputError: there can be no such one.
        NotPossibleError: not as this user, not on this machine, or not while others have what it asks
            for; everything is as it was then.
    """
    program = find_broker(place.env) if request.broker else None
    host, machine = place.host, read_machine(place.root)
    demand_root(machine)
    with _changing(place.wait_s) as journal:
        put_back_others(host, journal)
        settle(host, journal, machine, place.env)
        made = planned_partition(request, machine, place)
        demand_no_strangers(made, journal, host)
        if made.version == 1:
            demand_no_rivals(made, host)
        with _guard(place, journal) as guard:
            folder = begin(request.name, place.env)
            try:
                created = _made(made, request, folder, program, journal, machine, place)
            except BaseException:
                fall(folder)
                settle(host, journal, machine, place.env)
                guard.dismiss()
                raise
            guard.dismiss()
    return created


def _made(
    planned: Made,
    request: Request,
    folder: Path,
    program: Path | None,
    journal: Journal,
    machine: Machine,
    place: Place,
) -> Created:
    settled = settle(place.host, journal, machine, place.env, (planned,))
    made = _as_got(planned, settled, place.host)
    entries = [entry for entry in journal.entries if entry.note.owner == PARTITIONS]
    own = {action.path for action in needed(place.host, (made,), entries, machine)}
    demand_apart(made, [one for one in settled.outcomes if one.action.path in own], place.host)
    demand_memory(made, precise=request.precise)
    tell_broker(made, folder)
    if program is not None:
        start_broker(program, folder)
    stand(made, folder)
    return Created(made, settled.outcomes)


def _guard(place: Place, journal: Journal) -> Guard | _Unguarded:
    if not place.guarded:
        return _Unguarded()
    return Guard(journal, PARTITIONS, _GUARD, (STATE, VARIABLE))


def delete(name: str, place: Place, *, force: bool = False) -> Turned:
    """Take a partition away, and put everything back that was changed for it.

    Args:
        name: of it.
        place: where it is.
        force: also while it is used; what runs there goes on elsewhere.

    Raises:
        InvalidInputError: there is no such one.
        NotPossibleError: it is used, or this user may not.
    """
    folder = _folder_of(name, place.env)
    host, machine = place.host, read_machine(place.root)
    demand_root(machine)
    with _changing(place.wait_s) as journal:
        _folder_of(name, place.env)  # another may have deleted it meanwhile
        put_back_others(host, journal)
        kept_unused = contextlib.nullcontext() if force else unused(name, folder, host)
        with kept_unused, _guard(place, journal) as guard:
            fall(folder)
            turned = settle(host, journal, machine, place.env)
            guard.dismiss()
    return turned


def start(name: str, place: Place) -> Started:
    """Have all that partitions need hold again, and start the broker of one where it has ended.

    One that was made without a broker stays without.

    Raises:
        InvalidInputError: there is no such one.
        NotPossibleError: it does not stand, or this user may not.
    """
    folder = _folder_of(name, place.env)
    machine = read_machine(place.root)
    demand_root(machine)
    with _changing(place.wait_s) as journal:
        put_back_others(place.host, journal)
        turned = settle(place.host, journal, machine, place.env)
        made = made_in(folder)
        if made is None:
            raise NotPossibleError(
                f"The partition {name} was not finished, and is removed by now.",
                "`assay partition create` makes it anew.",
            )
        if not made.broker or answer_of(folder) is not None:
            return Started(made, turned, began=False)
        program = find_broker(place.env)
        end_brokers(folder)
        tell_broker(made, folder)
        paths = (group.path for group in made.groups)
        ended = {pid for path in paths for pid in processes_below(place.host, path)}
        start_broker(program, folder)
    return Started(made, turned, began=True, ended=len(ended))


def end_partitions(env: Mapping[str, str]) -> None:
    """Let no partition stand, and end their brokers; for who holds the undo journal.

    What they changed is written down there, and put back from there.
    """
    for name in names(env):
        folder = partitions_folder(env) / name
        fall(folder)
        end_brokers(folder)


def remove_partitions(env: Mapping[str, str]) -> None:
    """Remove what is left of partitions that do not stand; for who holds the undo journal."""
    for name in names(env):
        folder = partitions_folder(env) / name
        if made_in(folder) is None:
            remove(folder)
    tell_steered((), "", env)


def _changing(wait_s: float) -> Journal:
    """The undo journal, once nobody else changes the machine.

    Raises:
        NotPossibleError: somebody still does, or it cannot be had.
    """
    end = time.monotonic() + wait_s
    while True:
        try:
            return open_journal()
        except Busy:
            if time.monotonic() > end:
                raise
        time.sleep(_LOOK_S)


def _folder_of(name: str, env: Mapping[str, str]) -> Path:
    known = names(env)
    if name not in known:
        near = nearest(name, known)
        raise InvalidInputError(
            f"There is no partition {name}.",
            f"Did you mean {near}?" if near else "`assay partition list` shows those there are.",
        )
    return partitions_folder(env) / name


def _as_got(made: Made, settled: Turned, host: Host) -> Made:
    """With the memory that there is, where pools grew less than was asked for."""
    if made.memory is None:
        return made
    missing = {
        outcome.action.path: int(outcome.action.value) - int(outcome.read)
        for outcome in settled.outcomes
        if isinstance(outcome.action, WriteFile)
        and outcome.action.path.endswith("/nr_hugepages")
        and outcome.read is not None
        and outcome.read.isdecimal()
    }
    return msgspec.structs.replace(made, memory=as_got(made.memory, missing, host))
