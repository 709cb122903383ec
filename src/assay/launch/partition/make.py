"""Make: partitions made, started again, and deleted.

A partition stands from the moment that its document is in its folder until it is taken away;
before that and after it, whoever does not get to the end leaves a folder that is settled by a guard
process, or by the next one who looks after partitions.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from assay.errors import AssayError, BadInput, NotPossible, nearest
from assay.launch.journal import PARTITIONS, STATE, Busy, Journal, open_journal
from assay.launch.partition.broker import Broker, State
from assay.launch.partition.cpus import CpuWish, designated, nodes_of
from assay.launch.partition.daemon import answer_of, end_brokers, find_broker, start_broker
from assay.launch.partition.designate import (
    Tree,
    delegated,
    find_tree,
    groups_of,
    rivals,
    told_of,
)
from assay.launch.partition.folder import VARIABLE, partition_folder, partitions_folder, socket_in
from assay.launch.partition.made import (
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
from assay.launch.partition.memory import MemoryWish, as_got, kept_bytes, planned
from assay.launch.partition.names import OTHERS
from assay.launch.partition.quiet import demand_quiet
from assay.launch.partition.settle import needed, settle
from assay.launch.partition.steer import kind_of
from assay.launch.system.act import wanted
from assay.launch.system.changes import Outcome, Turned, Word
from assay.launch.system.groups import GATHERED, LEFT, groups_below, members
from assay.launch.system.guard import Guard
from assay.launch.system.hold import put_back_others
from assay.launch.system.host import Host, LiveHost
from assay.machine.boot import BOOT_ID
from assay.machine.cpulist import format_list, parse_list
from assay.machine.document import Machine
from assay.machine.gpus import find_gpus, unlike
from assay.machine.reader import read_machine
from assay.machine.root import LIVE, Root
from assay.records.action import ControlGroup, WriteFile
from assay.units import show_bytes, show_count

USUAL_NAME = "main"
WAIT_S = 30.0
"""For one who changes the machine at the same time."""
_LOOK_S = 0.05
_GUARD = "assay.launch.partition.guard"


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
    """

    made: Made
    turned: Turned
    began: bool


def planned_partition(request: Request, machine: Machine, place: Place) -> Made:
    """The partition that a request comes to; nothing is changed.

    Raises:
        BadInput: there can be no such one.
        NotPossible: others have what it asks for, or this machine cannot have it.
    """
    host, root, env = place.host, place.root, place.env
    boot_id = host.read(BOOT_ID) or ""
    others = standing(env, boot_id)
    if made_in(partition_folder(request.name, env)) in others:
        raise NotPossible(
            f"There is a partition {request.name} already.",
            f"`assay partition delete {request.name}` removes it; or give this one another name.",
        )
    tree = find_tree(root)
    _demand_alike(tree, others)
    cpus = designated(request.cpus, machine, {one.name: one.cpu_set for one in others})
    demand_quiet(request.idle, request.checks_machine, machine)
    gpus = _gpus(request.gpus, root, others)
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
        BadInput: there can be no such one.
        NotPossible: not as this user, not on this machine, or not while others have what it asks
            for; everything is as it was then.
    """
    program = find_broker(place.env) if request.broker else None
    host, machine = place.host, read_machine(place.root)
    demand_root(machine)
    with _changing(place.wait_s) as journal:
        put_back_others(host, journal)
        settle(host, journal, machine, place.env)
        made = planned_partition(request, machine, place)
        _demand_no_strangers(made, journal, host)
        if made.version == 1:
            _demand_no_rivals(made, host)
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
    _demand_apart(made, [one for one in settled.outcomes if one.action.path in own], place.host)
    _demand_memory(made, request)
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
        BadInput: there is no such one.
        NotPossible: it is used, or this user may not.
    """
    folder = _folder_of(name, place.env)
    host, machine = place.host, read_machine(place.root)
    demand_root(machine)
    with _changing(place.wait_s) as journal:
        _folder_of(name, place.env)  # another may have deleted it meanwhile
        put_back_others(host, journal)
        unused = contextlib.nullcontext() if force else _unused(name, folder, host)
        with unused, _guard(place, journal) as guard:
            fall(folder)
            turned = settle(host, journal, machine, place.env)
            guard.dismiss()
    return turned


def start(name: str, place: Place) -> Started:
    """Have all that partitions need hold again, and start the broker of one where it has ended.

    One that was made without a broker stays without.

    Raises:
        BadInput: there is no such one.
        NotPossible: it does not stand, or this user may not.
    """
    folder = _folder_of(name, place.env)
    machine = read_machine(place.root)
    demand_root(machine)
    with _changing(place.wait_s) as journal:
        put_back_others(place.host, journal)
        turned = settle(place.host, journal, machine, place.env)
        made = made_in(folder)
        if made is None:
            raise NotPossible(
                f"The partition {name} was not finished, and is removed by now.",
                "`assay partition create` makes it anew.",
            )
        began = made.broker and answer_of(folder) is None
        if began:
            program = find_broker(place.env)
            end_brokers(folder)
            tell_broker(made, folder)
            start_broker(program, folder)
    return Started(made, turned, began)


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


def demand_root(machine: Machine) -> None:
    """Refuse who may not change this host.

    Raises:
        NotPossible: it is not root, or root of a user namespace.
    """
    if machine.rights.uid != 0:
        raise NotPossible(
            "Partitions are made and deleted as root.",
            "Run this with sudo; shares of a partition need no root.",
        )
    if machine.rights.user_namespace:
        raise NotPossible(
            "Root of a user namespace may not set CPUs of the host apart.", "Run it on the host."
        )


def _changing(wait_s: float) -> Journal:
    """The undo journal, once nobody else changes the machine.

    Raises:
        NotPossible: somebody still does, or it cannot be had.
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
        raise BadInput(
            f"There is no partition {name}.",
            f"Did you mean {near}?" if near else "`assay partition list` shows those there are.",
        )
    return partitions_folder(env) / name


def _demand_alike(tree: Tree, others: Sequence[Made]) -> None:
    if any(one.top != tree.top for one in others):
        raise NotPossible(
            f"The partition {others[0].name} is made of the control groups at {others[0].top}, and "
            f"new ones are of those at {tree.top}.",
            "Delete it first.",
        )


def _demand_no_strangers(made: Made, journal: Journal, host: Host) -> None:
    """Refuse control groups of the same names that nobody wrote down: they may be in use.

    Raises:
        NotPossible: names the first.
    """
    known = {entry.note.action.path for entry in journal.entries}
    paths = [group.path for group in made.groups]
    paths += [f"{made.top}/{OTHERS}"] if made.version == 1 else []
    for path in paths:
        if path not in known and host.listdir(path):
            raise NotPossible(
                f"There is a control group {path}, and assay did not write down that it made it.",
                f"Remove it: rmdir {path}",
            )


def _gpus(text: str, root: Root, others: Sequence[Made]) -> tuple[int, ...]:
    asked = parse_list(text)
    if not asked:
        return ()
    gpus = find_gpus(root)
    ambiguous = unlike(gpus)
    if ambiguous is not None:
        raise NotPossible(
            f"--gpus {text}: {ambiguous}.",
            "Leave it out: a partition has GPUs only where all are of one vendor; the setting "
            f"gpus={gpus[0].vendor}:{text} says whose a program sees.",
        )
    there = {gpu.index for gpu in gpus}
    foreign = set(asked) - there
    if foreign:
        has = f"GPU {format_list(there)}" if there else "no GPU that can be seen"
        raise BadInput(
            f"--gpus {text}: this machine has {has}.", "Numbers are as the driver counts."
        )
    for one in others:
        both = set(parse_list(one.gpus)) & set(asked)
        if both:
            raise NotPossible(
                f"GPU {format_list(both)} is of the partition {one.name}.", "Name others."
            )
    return asked


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


def _demand_memory(made: Made, request: Request) -> None:
    memory = made.memory
    if memory is None or memory.bytes >= memory.asked_bytes:
        return
    if request.precise or memory.bytes == 0:
        raise NotPossible(
            f"{show_bytes(memory.asked_bytes)} of huge pages were asked for, and the kernel found "
            f"{show_bytes(memory.bytes)}.",
            "Ask for less, or right after a boot, when memory is not in pieces.",
        )


def _demand_no_rivals(made: Made, host: Host) -> None:
    """Refuse CPUs that a group beside names: with version 1 they cannot be exclusive then.

    Raises:
        NotPossible: names the first.
    """
    for path, cpus in _rivals(made, host).items():
        raise NotPossible(
            f"CPU {made.cpus} cannot be set apart: the control group {path} names CPU "
            f"{format_list(cpus)} too.",
            "Give that group other CPUs, or name others here.",
        )


def _rivals(made: Made, host: Host) -> dict[str, tuple[int, ...]]:
    """Groups of others that name CPUs of a partition: beside it, or in the group of all others."""
    others = f"{made.top}/{OTHERS}"
    own = {others, *(group.path for group in made.groups)}
    places = (made.top, others)
    found = {path: cpus for top in places for path, cpus in rivals(host, top, made.cpu_set).items()}
    return {path: cpus for path, cpus in found.items() if path not in own}


def _demand_apart(made: Made, outcomes: Sequence[Outcome], host: Host) -> None:
    """Refuse a partition that is not set apart, or lacks what was asked for.

    Args:
        made: the partition.
        outcomes: of what it needs itself.
        host: that it is on.

    Raises:
        NotPossible: why it is not.
    """
    for outcome in outcomes:
        if outcome.word in (Word.GRANTED, Word.KEPT) or kind_of(outcome.action) is not None:
            continue
        if outcome.word is Word.DEGRADED and _is_enough(outcome):
            continue
        if outcome.word is Word.DRIFTED:
            raise NotPossible(
                f"CPU {made.cpus} cannot be set apart: {outcome.action.path}: {outcome.reason}.",
                "Write that into it again, or delete the partitions that stand.",
            )
        others = _rivals(made, host)
        raise NotPossible(
            f"CPU {made.cpus} cannot be set apart: {outcome.action.path}: {outcome.reason}.",
            f"{min(others)} names these CPUs too: give it others, or name others here."
            if others
            else "What was changed is put back; `assay machine check` tells more of this host.",
        )


def _is_enough(outcome: Outcome) -> bool:
    """A part of the huge pages; all programs but those that come while others are moved."""
    read = outcome.read or ""
    if isinstance(outcome.action, ControlGroup):
        return read.endswith(LEFT) and read.removesuffix(LEFT) + GATHERED == wanted(outcome.action)
    return outcome.action.path.endswith("/nr_hugepages")


@contextlib.contextmanager
def _unused(name: str, folder: Path, host: Host) -> Iterator[None]:
    """A partition that nobody uses, and nobody is given a share of meanwhile.

    Raises:
        NotPossible: somebody uses it; says who.
    """
    with contextlib.ExitStack() as stack:
        state = None
        with contextlib.suppress(AssayError):  # no broker answers: it was killed, or there is none
            broker = stack.enter_context(Broker(socket_in(folder)))
            state = broker.state()
            state = broker.begin_deletion()  # which one of an earlier assay does not know
        _demand_unused(name, folder, host, state)
        yield


def _demand_unused(name: str, folder: Path, host: Host, state: State | None) -> None:
    """Refuse while somebody has a share, or something runs there.

    Raises:
        NotPossible: says who.
    """
    if state is not None and state.shares:
        who = "; ".join(
            f"user {share.uid} has CPU {share.cpus}"
            + (f" (process {share.pid})" if share.pid else "")
            for share in state.shares
        )
        raise NotPossible(
            f"The partition {name} is in use: {who}.",
            "Wait until they are done; --force ends their shares, and their programs go on on "
            "other CPUs.",
        )
    made = made_in(folder)
    groups = made.groups if made else ()
    running = {pid for group in groups for pid in running_in(host, group.path)}
    if running:
        raise NotPossible(
            f"In the control groups of the partition {name} "
            f"{show_count(len(running), 'process still runs', 'processes still run')}.",
            "Wait until they have ended; --force moves them to other CPUs.",
        )


def running_in(host: Host, group: str) -> tuple[int, ...]:
    """Who runs in a group, and in all those below it."""
    paths = (group, *groups_below(host, group))
    return tuple(one for path in paths for one in members(host, path))
