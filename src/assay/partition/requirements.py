"""Demands: what has to be so for a partition to be made, or deleted; nothing is changed here."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from assay.errors import AssayError, InvalidInputError, NotPossibleError
from assay.host.actions import target_value
from assay.host.changes import ActionOutcome, ActionStatus
from assay.host.control_groups import GATHERED, LEFT, processes_within
from assay.host.host import Host
from assay.host.journal import Journal
from assay.machine.cpulist import format_list, parse_list
from assay.machine.document import Machine
from assay.machine.gpus import ambiguity, find_gpus
from assay.machine.root import Root
from assay.partition.broker import BrokerClient, PartitionState
from assay.partition.folders import socket_in
from assay.partition.isolation import CgroupTree, overlapping_groups
from assay.partition.kernel_work import kernel_work_kind
from assay.partition.names import OTHERS_GROUP
from assay.partition.registry import Partition, read_partition
from assay.records.action import ControlGroup
from assay.units import show_bytes, show_count


def demand_root(machine: Machine) -> None:
    """Refuse who may not change this host.

    Raises:
        NotPossibleError: it is not root, or root of a user namespace.
    """
    if machine.rights.uid != 0:
        raise NotPossibleError(
            "Partitions are made and deleted as root.",
            "Run this with sudo; shares of a partition need no root.",
        )
    if machine.rights.user_namespace:
        raise NotPossibleError(
            "Root of a user namespace may not set CPUs of the host apart.", "Run it on the host."
        )


def demand_same_tree(tree: CgroupTree, others: Sequence[Partition]) -> None:
    """Refuse control groups of another tree than those of partitions that stand.

    Raises:
        NotPossibleError: names one of these.
    """
    if any(one.top != tree.top for one in others):
        raise NotPossibleError(
            f"The partition {others[0].name} is made of the control groups at {others[0].top}, and "
            f"new ones are of those at {tree.top}.",
            "Delete it first.",
        )


def demand_no_foreign_groups(made: Partition, journal: Journal, host: Host) -> None:
    """Refuse control groups of the same names that nobody wrote down: they may be in use.

    Raises:
        NotPossibleError: names the first.
    """
    known = {entry.note.action.path for entry in journal.entries}
    paths = [group.path for group in made.groups]
    paths += [f"{made.top}/{OTHERS_GROUP}"] if made.version == 1 else []
    for path in paths:
        if path not in known and host.listdir(path):
            raise NotPossibleError(
                f"There is a control group {path}, and assay did not write down that it made it.",
                f"Remove it: rmdir {path}",
            )


def requested_gpus(text: str, root: Root, others: Sequence[Partition]) -> tuple[int, ...]:
    """The GPUs of a list that a new partition can have.

    Raises:
        InvalidInputError: there are no such ones.
        NotPossibleError: another partition has one, or their numbers do not say which are meant.
    """
    try:
        asked = parse_list(text)
    except InvalidInputError as error:
        raise InvalidInputError(
            f"--gpus {text}: this is no list of GPUs.", "Write as in --gpus 0,2-3."
        ) from error
    if not asked:
        return ()
    gpus = find_gpus(root)
    ambiguous = ambiguity(gpus)
    if ambiguous is not None:
        raise NotPossibleError(
            f"--gpus {text}: {ambiguous}.",
            "Leave it out: a partition has GPUs only where all are of one vendor; the setting "
            f"gpus={gpus[0].vendor}:{text} says whose a program sees.",
        )
    there = {gpu.index for gpu in gpus}
    foreign = set(asked) - there
    if foreign:
        has = f"GPU {format_list(there)}" if there else "no GPU that can be seen"
        raise InvalidInputError(
            f"--gpus {text}: this machine has {has}.", "Numbers are as the driver counts."
        )
    for one in others:
        both = set(parse_list(one.gpus)) & set(asked)
        if both:
            raise NotPossibleError(
                f"GPU {format_list(both)} is of the partition {one.name}.", "Name others."
            )
    return asked


def demand_memory(made: Partition, *, precise: bool) -> None:
    """Refuse less memory than was asked for, where it is none or is to be precise.

    Raises:
        NotPossibleError: says how much there is.
    """
    memory = made.memory
    if memory is None or memory.bytes >= memory.asked_bytes:
        return
    if precise or memory.bytes == 0:
        raise NotPossibleError(
            f"{show_bytes(memory.asked_bytes)} of huge pages were asked for, and the kernel found "
            f"{show_bytes(memory.bytes)}.",
            "Ask for less, or right after a boot, when memory is not in pieces.",
        )


def demand_no_overlap(made: Partition, host: Host) -> None:
    """Refuse CPUs that a group beside names: with version 1 they cannot be exclusive then.

    Raises:
        NotPossibleError: names the first.
    """
    for path, cpus in _rivals(made, host).items():
        raise NotPossibleError(
            f"CPU {made.cpus} cannot be set apart: the control group {path} names CPU "
            f"{format_list(cpus)} too.",
            _way_round(path, host),
        )


def _way_round(path: str, host: Host) -> str:
    """What to do about a group that names CPUs of a partition."""
    if not processes_within(host, path):
        return f"Nothing runs in it: remove it (rmdir {path}), or name other CPUs here."
    return "Give that group other CPUs, or name others here."


def _rivals(made: Partition, host: Host) -> dict[str, tuple[int, ...]]:
    """Groups of others that name CPUs of a partition: beside it, or in the group of all others."""
    others = f"{made.top}/{OTHERS_GROUP}"
    own = {others, *(group.path for group in made.groups)}
    places = (made.top, others)
    found = {
        path: cpus
        for top in places
        for path, cpus in overlapping_groups(host, top, made.cpu_set).items()
    }
    return {path: cpus for path, cpus in found.items() if path not in own}


def demand_isolated(made: Partition, outcomes: Sequence[ActionOutcome], host: Host) -> None:
    """Refuse a partition that is not set apart, or lacks what was asked for.

    Args:
        made: the partition.
        outcomes: of what it needs itself.
        host: that it is on.

    Raises:
        NotPossibleError: why it is not.
    """
    for outcome in outcomes:
        if (
            outcome.word in (ActionStatus.GRANTED, ActionStatus.KEPT)
            or kernel_work_kind(outcome.action) is not None
        ):
            continue
        if outcome.word is ActionStatus.DEGRADED and _is_enough(outcome):
            continue
        if outcome.word is ActionStatus.DRIFTED:
            raise NotPossibleError(
                f"CPU {made.cpus} cannot be set apart: {outcome.action.path}: {outcome.reason}.",
                "Write that into it again, or delete the partitions that stand.",
            )
        others = _rivals(made, host)
        raise NotPossibleError(
            f"CPU {made.cpus} cannot be set apart: {outcome.action.path}: {outcome.reason}.",
            f"{min(others)} names these CPUs too. {_way_round(min(others), host)}"
            if others
            else "What was changed is put back; `assay machine check` tells more of this host.",
        )


def _is_enough(outcome: ActionOutcome) -> bool:
    """A part of the huge pages; all programs but those that come while others are moved."""
    read = outcome.read or ""
    if isinstance(outcome.action, ControlGroup):
        return read.endswith(LEFT) and read.removesuffix(LEFT) + GATHERED == target_value(
            outcome.action
        )
    return outcome.action.path.endswith("/nr_hugepages")


@contextlib.contextmanager
def demand_unused(name: str, folder: Path, host: Host) -> Iterator[None]:
    """A partition that nobody uses, and nobody is given a share of meanwhile.

    Raises:
        NotPossibleError: somebody uses it; says who.
    """
    with contextlib.ExitStack() as stack:
        state = None
        with contextlib.suppress(AssayError):  # no broker answers: it was killed, or there is none
            broker = stack.enter_context(BrokerClient(socket_in(folder)))
            state = broker.state()
            state = broker.begin_deletion()  # which one of an earlier assay does not know
        _demand_unused(name, folder, host, state)
        yield


def _demand_unused(name: str, folder: Path, host: Host, state: PartitionState | None) -> None:
    """Refuse while somebody has a share, or something runs there.

    Raises:
        NotPossibleError: says who.
    """
    if state is not None and state.shares:
        raise NotPossibleError(
            f"The partition {name} is in use: {state.holders}.",
            "Wait until they are done; --force ends their shares, and their programs go on outside "
            "of it, beside all others.",
        )
    made = read_partition(folder)
    groups = made.groups if made else ()
    running = {pid for group in groups for pid in processes_within(host, group.path)}
    if running:
        raise NotPossibleError(
            f"In the control groups of the partition {name} "
            f"{show_count(len(running), 'process still runs', 'processes still run')}.",
            "Wait until they have ended; --force moves them to other CPUs.",
        )
