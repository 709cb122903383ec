"""Made: what is known of a partition that was made, in its folder below ``/run``.

A partition stands once its ``made.json`` is there, and until that is taken away: whatever is found
without it was begun, or is being deleted, by somebody who did not get to the end.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from assay.errors import InvalidInputError, NotPossibleError
from assay.host.changes import ActionOutcome
from assay.machine.cpulist import parse_list
from assay.partition.folders import (
    document_in,
    partition_folder,
    partitions_folder,
    socket_in,
)
from assay.records.action import ControlGroup, HostAction
from assay.records.codec import Record, encode

_SCHEMA = 1
_MADE = "made.json"
_STEERED = "steered.json"
LOG = "broker.log"
_MAX_BYTES = 1 << 24
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH

IdleLimit = Literal["default", "shallow", "poll"]
MemoryGuarantee = Literal["pages", "minimum", "admission"]
"""What keeps memory: huge pages of the nodes' pools; ``memory.min``; or the broker's ledger
alone, which keeps runs on the partition from having more, and nobody else."""


class BrokerHierarchy(Record, frozen=True, kw_only=True):
    """A tree of control groups, as the broker is told of it; version 2 names no controller."""

    controller: str
    mount: str
    folder: str


class Memory(Record, frozen=True, kw_only=True):
    """Memory of a partition.

    Attributes:
        bytes: that it has to share out.
        asked_bytes: that were asked for.
        ground: what keeps it.
        page_bytes: of huge pages.
        pages: of them by node.
        by_node: bytes of each node that are counted as its own, where they are no huge pages.
    """

    bytes: int
    asked_bytes: int
    ground: MemoryGuarantee
    page_bytes: int = 0
    pages: dict[int, int] = {}
    by_node: dict[int, int] = {}


class Partition(Record, frozen=True, kw_only=True):
    """A partition.

    Attributes:
        name: of it.
        boot_id: of the kernel that it was made under.
        version: of the control groups that set its CPUs apart.
        top: folder of the first group of their tree.
        cpus, nodes: lists; nodes are those that memory comes from.
        groups: control groups that were made, that of the CPUs first.
        delegated: controllers that groups below the first one need (version 2).
        hierarchies: as the broker is told.
        memory: of its own.
        gpus: a list of numbers.
        idle: how deep its CPUs may sleep.
        checks_machine: whether corrected errors of the machine are polled for.
        broker: whether it has one.
        made_s: seconds since 1970.
    """

    schema: int = _SCHEMA
    name: str
    boot_id: str
    version: int
    top: str
    cpus: str
    nodes: str
    groups: tuple[ControlGroup, ...]
    delegated: tuple[str, ...] = ()
    hierarchies: tuple[BrokerHierarchy, ...] = ()
    memory: Memory | None = None
    gpus: str = ""
    idle: IdleLimit = "default"
    checks_machine: bool = True
    broker: bool = True
    made_s: float = 0.0

    @property
    def cpu_set(self) -> frozenset[int]:
        """Numbers of its CPUs."""
        return frozenset(parse_list(self.cpus))


class RecordedOutcome(Record, frozen=True, kw_only=True):
    """What became of one action for partitions: as ``ActionOutcome``, in a file."""

    action: HostAction
    word: str
    read: str | None = None
    reason: str | None = None


class _Steering(Record, frozen=True, kw_only=True):
    schema: int = _SCHEMA
    boot_id: str
    actions: tuple[RecordedOutcome, ...] = ()


def active_partitions(env: Mapping[str, str], boot_id: str | None = None) -> tuple[Partition, ...]:
    """The partitions of this boot, by name.

    Args:
        env: may name another folder than the usual one.
        boot_id: of the kernel that runs; any where it is ``None``.

    Raises:
        NotPossibleError: as ``partition_names``.
    """
    found = (read_partition(partitions_folder(env) / name) for name in partition_names(env))
    return tuple(one for one in found if one is not None and boot_id in (None, one.boot_id))


def select_partition(name: str | None, env: Mapping[str, str]) -> str:
    """The partition that is meant: the one that is named, else the only one that stands.

    Raises:
        InvalidInputError: no partition has this name, or several might be meant.
        NotPossibleError: there is none; or as ``partition_names``.
    """
    known = [made.name for made in active_partitions(env)]
    if not known:
        which = "" if name is None else f", and {name!r} is meant"
        called = "" if name is None else f"{name} "
        raise NotPossibleError(
            f"There is no partition on this host{which}.",
            f"Root makes one with `assay partition create {called}--cpus LIST --mem SIZE`.",
        )
    if name is None and len(known) > 1:
        raise InvalidInputError(
            f"There are {len(known)} partitions: {', '.join(known)}.",
            f"Say which: --partition {known[0]}",
        )
    if name is not None:
        partition_folder(name, env)  # a name that none can have
        if name not in known:
            raise InvalidInputError(
                f"There is no partition {name!r}.",
                f"{'There is' if len(known) == 1 else 'There are'} {', '.join(known)}; root makes "
                f"one with `assay partition create {name} --cpus LIST`.",
            )
    return name or known[0]


def partition_names(env: Mapping[str, str]) -> tuple[str, ...]:
    """Names of all folders of partitions, whether they stand or are to be settled.

    Raises:
        NotPossibleError: others could have put something there.
    """
    place = partitions_folder(env)
    try:
        with os.scandir(place) as entries:
            found = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        for folder in (place.parent, place):
            _demand_ours(folder)
    except OSError:
        return ()
    return tuple(sorted(found))


def read_partition(folder: Path) -> Partition | None:
    """The partition of a folder; ``None`` where it does not stand."""
    text = _trusted(folder / _MADE)
    try:
        found = None if text is None else msgspec.json.decode(text, type=Partition)
    except msgspec.MsgspecError:
        return None
    return found if found is not None and found.schema == _SCHEMA else None


def recorded_outcomes(env: Mapping[str, str], boot_id: str | None) -> tuple[RecordedOutcome, ...]:
    """What became of all that partitions of this boot need."""
    text = _trusted(partitions_folder(env) / _STEERED)
    try:
        found = None if text is None else msgspec.json.decode(text, type=_Steering)
    except msgspec.MsgspecError:
        return ()
    return found.actions if found is not None and boot_id in (None, found.boot_id) else ()


def create_folder(name: str, env: Mapping[str, str]) -> Path:
    """A folder for a partition, which does not stand yet.

    Raises:
        InvalidInputError: no partition can have this name.
        NotPossibleError: there is one, or the folder cannot be made.
    """
    folder = partition_folder(name, env)
    try:
        for place in (folder.parent.parent, folder.parent):
            _make_open(place)
            _demand_ours(place)
        folder.mkdir(mode=0o755)
        folder.chmod(0o755)  # whatever the mask: users connect to the socket in it
    except FileExistsError as error:
        raise NotPossibleError(
            f"There is a partition {name} already.",
            f"`assay partition delete {name}` removes it; or give this one another name.",
        ) from error
    except OSError as error:
        raise NotPossibleError(
            f"The folder {folder} cannot be made: {error.strerror}.", "Run assay as root."
        ) from error
    return folder


def _make_open(place: Path) -> None:
    """A folder that all may enter and only root may write, whatever the mask; others stay."""
    with contextlib.suppress(FileExistsError):
        place.mkdir(parents=True, mode=0o755)
        place.chmod(0o755)


def write_broker_document(made: Partition, folder: Path) -> None:
    """Write what the broker of a partition is started with.

    Raises:
        OSError: it cannot be written.
    """
    document = {
        "schema": _SCHEMA,
        "name": made.name,
        "hierarchies": made.hierarchies,
        "cpus": made.cpus,
        "memory_bytes": made.memory.bytes if made.memory else 0,
        "gpus": made.gpus,
    }
    _replace(document_in(folder), msgspec.json.encode(document))


def activate(made: Partition, folder: Path) -> None:
    """From here on the partition stands.

    Raises:
        OSError: it cannot be written.
    """
    _replace(folder / _MADE, encode(made))


def deactivate(folder: Path) -> None:
    """From here on it does not."""
    (folder / _MADE).unlink(missing_ok=True)


def record_outcomes(
    outcomes: tuple[ActionOutcome, ...], boot_id: str, env: Mapping[str, str]
) -> None:
    """Write down what became of all that partitions need.

    Raises:
        OSError: it cannot be written.
    """
    actions = tuple(
        RecordedOutcome(action=one.action, word=str(one.word), read=one.read, reason=one.reason)
        for one in outcomes
    )
    path = partitions_folder(env) / _STEERED
    if actions:
        _replace(path, encode(_Steering(boot_id=boot_id, actions=actions)))
    else:
        path.unlink(missing_ok=True)


def remove_folder(folder: Path) -> None:
    """Take a folder away, with what is in it."""
    for path in (*_partial(folder), folder / _MADE, document_in(folder), socket_in(folder)):
        path.unlink(missing_ok=True)
    (folder / LOG).unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # a file of somebody else's keeps it
        folder.rmdir()


def _partial(folder: Path) -> tuple[Path, ...]:
    return tuple(folder.glob(".*.new"))


def _replace(path: Path, content: bytes) -> None:
    """All of it or nothing, whoever looks."""
    new = path.with_name(f".{path.name}.new")
    new.unlink(missing_ok=True)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
    with os.fdopen(descriptor, "wb") as file:
        os.fchmod(descriptor, 0o644)
        file.write(content)
    new.replace(path)


def _trusted(path: Path) -> bytes | None:
    """A file that only root, or this user, could have written."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        sound = found.st_uid in (0, os.geteuid()) and not found.st_mode & _OTHERS_WRITE
        return file.read(_MAX_BYTES) if sound and stat.S_ISREG(found.st_mode) else None


def _demand_ours(folder: Path) -> None:
    """Refuse a folder in which others could put what root then acts on.

    Raises:
        NotPossibleError: they could.
    """
    found = folder.stat()
    if found.st_uid not in (0, os.geteuid()) or found.st_mode & _OTHERS_WRITE:
        raise NotPossibleError(
            f"Others may write in {folder}, where partitions are known.",
            "Make it root's own (chown root, chmod 755).",
        )
