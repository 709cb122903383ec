"""Requirements for the creation and deletion of a partition; no file is changed here."""

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
    """Check that this user may change this host.

    Raises:
        NotPossibleError: the user is not root, or is root of a user namespace only.
    """
    if machine.rights.uid != 0:
        raise NotPossibleError(
            "Only root may create and delete partitions.",
            "Run the command with sudo. Shares of a partition need no root rights.",
        )
    if machine.rights.user_namespace:
        raise NotPossibleError(
            "Root of a user namespace may not isolate CPUs of the host.", "Run it on the host."
        )


def demand_same_tree(tree: CgroupTree, others: Sequence[Partition]) -> None:
    """Refuse another control-group tree than that of the active partitions.

    Raises:
        NotPossibleError: the trees differ; the message names one partition.
    """
    if any(other.root_group != tree.top for other in others):
        raise NotPossibleError(
            f"The partition {others[0].name} uses the control groups at {others[0].root_group}, "
            f"but new ones would use those at {tree.top}.",
            "Delete it first.",
        )


def demand_no_foreign_groups(partition: Partition, journal: Journal, host: Host) -> None:
    """Refuse unrecorded control groups with the same names: they may be in use.

    Raises:
        NotPossibleError: there is one; the message names the first.
    """
    known = {entry.note.action.path for entry in journal.entries}
    paths = [group.path for group in partition.groups]
    paths += [f"{partition.root_group}/{OTHERS_GROUP}"] if partition.version == 1 else []
    for path in paths:
        if path not in known and host.listdir(path):
            raise NotPossibleError(
                f"The control group {path} exists, but assay has no record of its creation.",
                f"Remove it: rmdir {path}",
            )


def requested_gpus(text: str, root: Root, others: Sequence[Partition]) -> tuple[int, ...]:
    """Return the requested GPUs of a new partition.

    Raises:
        InvalidInputError: the GPUs do not exist.
        NotPossibleError: another partition has one, or their numbers are ambiguous.
    """
    try:
        requested = parse_list(text)
    except InvalidInputError as error:
        raise InvalidInputError(
            f"--gpus {text}: invalid list of GPUs.", "Example: --gpus 0,2-3."
        ) from error
    if not requested:
        return ()
    gpus = find_gpus(root)
    ambiguous = ambiguity(gpus)
    if ambiguous is not None:
        raise NotPossibleError(
            f"--gpus {text}: {ambiguous}.",
            "Omit the option: partitions support GPUs of one vendor only. The setting "
            f"gpus={gpus[0].vendor}:{text} selects the GPUs of a program.",
        )
    present = {gpu.index for gpu in gpus}
    foreign = set(requested) - present
    if foreign:
        has = f"GPU {format_list(present)}" if present else "no visible GPU"
        raise InvalidInputError(
            f"--gpus {text}: this machine has {has}.", "Use the numbers of the driver."
        )
    for other in others:
        both = set(parse_list(other.gpus)) & set(requested)
        if both:
            raise NotPossibleError(
                f"GPU {format_list(both)} belongs to the partition {other.name}.", "Choose others."
            )
    return requested


def demand_memory(partition: Partition, *, precise: bool) -> None:
    """Refuse less memory than requested if it is zero or must be exact.

    Raises:
        NotPossibleError: there is less; the message states the amount.
    """
    memory = partition.memory
    if memory is None or memory.bytes >= memory.requested_bytes:
        return
    if precise or memory.bytes == 0:
        raise NotPossibleError(
            f"{show_bytes(memory.requested_bytes)} of huge pages were requested, but the kernel "
            f"found only {show_bytes(memory.bytes)}.",
            "Request less, or create the partition directly after a boot, before memory is "
            "fragmented.",
        )


def demand_no_overlap(partition: Partition, host: Host) -> None:
    """Refuse CPUs of sibling groups: in version 1 they cannot be exclusive.

    Raises:
        NotPossibleError: there is one; the message names the first.
    """
    for path, cpus in _overlapping_groups_of_others(partition, host).items():
        raise NotPossibleError(
            f"CPU {partition.cpus} cannot be isolated: the control group {path} also includes CPU "
            f"{format_list(cpus)}.",
            _overlap_remedy(path, host),
        )


def _overlap_remedy(path: str, host: Host) -> str:
    """Return the next step for a group that includes CPUs of a partition."""
    if not processes_within(host, path):
        return f"It has no processes: remove it (rmdir {path}), or choose other CPUs."
    return "Assign other CPUs to that group, or choose others for the partition."


def _overlapping_groups_of_others(partition: Partition, host: Host) -> dict[str, tuple[int, ...]]:
    """Return the groups of other owners that include CPUs of a partition."""
    others = f"{partition.root_group}/{OTHERS_GROUP}"
    own = {others, *(group.path for group in partition.groups)}
    places = (partition.root_group, others)
    found = {
        path: cpus
        for top in places
        for path, cpus in overlapping_groups(host, top, partition.cpu_set).items()
    }
    return {path: cpus for path, cpus in found.items() if path not in own}


def demand_isolated(partition: Partition, outcomes: Sequence[ActionOutcome], host: Host) -> None:
    """Refuse a partition that is not isolated or lacks requested resources.

    Args:
        partition: new partition.
        outcomes: outcomes of its own actions.
        host: host of the partition.

    Raises:
        NotPossibleError: it is incomplete; the message states the reason.
    """
    for outcome in outcomes:
        if (
            outcome.status in (ActionStatus.GRANTED, ActionStatus.KEPT)
            or kernel_work_kind(outcome.action) is not None
        ):
            continue
        if outcome.status is ActionStatus.DEGRADED and _is_enough(outcome):
            continue
        problem = f"CPU {partition.cpus} cannot be isolated: {outcome.action.path}"
        if outcome.status is ActionStatus.DRIFTED:
            raise NotPossibleError(
                f"{problem}: {outcome.reason}.",
                "Write the previous value again, or delete the existing partitions.",
            )
        others = _overlapping_groups_of_others(partition, host)
        raise NotPossibleError(
            f"{problem}: {outcome.reason}.",
            f"{min(others)} also includes these CPUs. {_overlap_remedy(min(others), host)}"
            if others
            else "All changes are undone; see `assay machine check` for the state of this host.",
        )


def _is_enough(outcome: ActionOutcome) -> bool:
    """Return whether a partial outcome suffices: fewer huge pages, or newly started programs."""
    read = outcome.read or ""
    if isinstance(outcome.action, ControlGroup):
        return read.endswith(LEFT) and read.removesuffix(LEFT) + GATHERED == target_value(
            outcome.action
        )
    return outcome.action.path.endswith("/nr_hugepages")


@contextlib.contextmanager
def demand_unused(name: str, folder: Path, host: Host) -> Iterator[None]:
    """Check that a partition is unused, and block new shares within the context.

    Raises:
        NotPossibleError: the partition is in use; the message names the users.
    """
    with contextlib.ExitStack() as stack:
        state = None
        with contextlib.suppress(AssayError):  # no answer: the broker was killed or does not exist
            broker = stack.enter_context(BrokerClient(socket_in(folder)))
            state = broker.state()
            state = broker.begin_deletion()  # unknown to brokers of earlier versions
        _demand_unused(name, folder, host, state)
        yield


def _demand_unused(name: str, folder: Path, host: Host, state: PartitionState | None) -> None:
    """Refuse while a user has a share or a process runs there.

    Raises:
        NotPossibleError: it is in use; the message names the users.
    """
    if state is not None and state.shares:
        raise NotPossibleError(
            f"The partition {name} is in use: {state.holders}.",
            "Wait for their end, or use --force: it ends their shares, and their programs "
            "continue outside the partition.",
        )
    partition = read_partition(folder)
    groups = partition.groups if partition else ()
    running = {pid for group in groups for pid in processes_within(host, group.path)}
    if running:
        raise NotPossibleError(
            f"In the control groups of the partition {name} "
            f"{show_count(len(running), 'process still runs', 'processes still run')}.",
            "Wait for their end, or use --force: it moves them to other CPUs.",
        )
