"""Registry of partitions: their documents below ``/run``.

A partition is active while its ``made.json`` exists. A folder without it belongs to an interrupted
creation or deletion.
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
from assay.records.codec import SCHEMA, Record, encode

_PARTITION_FILE = "made.json"
_OUTCOMES_FILE = "steered.json"
LOG = "broker.log"
_MAX_BYTES = 1 << 24
_GROUP_AND_OTHER_WRITE = stat.S_IWGRP | stat.S_IWOTH

IdleLimit = Literal["default", "shallow", "poll"]
MemoryGuarantee = Literal["pages", "minimum", "admission"]
"""Guarantee of memory: huge pages of node pools; ``memory.min``; or only the ledger of the broker,
which limits runs on the partition but no other process."""


class BrokerHierarchy(Record, frozen=True, kw_only=True):
    """Control-group tree in the document of the broker; version 2 names no controller."""

    controller: str
    mount: str
    folder: str


class Memory(Record, frozen=True, kw_only=True):
    """Memory of a partition.

    Attributes:
        bytes: available bytes.
        requested_bytes: requested bytes.
        guarantee: guarantee.
        page_bytes: size of a huge page, in bytes.
        pages: number of huge pages by node.
        bytes_by_node: reserved bytes by node, without huge pages.
    """

    bytes: int
    requested_bytes: int
    guarantee: MemoryGuarantee
    page_bytes: int = 0
    pages: dict[int, int] = {}
    bytes_by_node: dict[int, int] = {}


class Partition(Record, frozen=True, kw_only=True):
    """Partition of a host.

    Attributes:
        name: name of the partition.
        boot_id: boot id of the kernel at its creation.
        version: version of the control groups that isolate its CPUs.
        root_group: folder of the root group.
        cpus, nodes: lists of CPUs and of NUMA nodes for memory.
        groups: control groups, that of the CPUs first.
        delegated: controllers that subgroups of the root need (version 2).
        hierarchies: control-group trees for the broker.
        memory: reserved memory.
        gpus: list of GPU numbers.
        idle_limit: limit on the idle states of its CPUs.
        machine_checks: whether the kernel polls for corrected machine errors.
        broker: whether it has a broker.
        created_at: time of its creation, in seconds since 1970.
    """

    schema: int = SCHEMA
    name: str
    boot_id: str
    version: int
    root_group: str
    cpus: str
    nodes: str
    groups: tuple[ControlGroup, ...]
    delegated: tuple[str, ...] = ()
    hierarchies: tuple[BrokerHierarchy, ...] = ()
    memory: Memory | None = None
    gpus: str = ""
    idle_limit: IdleLimit = "default"
    machine_checks: bool = True
    broker: bool = True
    created_at: float = 0.0

    @property
    def cpu_set(self) -> frozenset[int]:
        """Numbers of its CPUs."""
        return frozenset(parse_list(self.cpus))


class RecordedOutcome(Record, frozen=True, kw_only=True):
    """Recorded outcome of one action for partitions; see ``ActionOutcome``."""

    action: HostAction
    status: str
    read: str | None = None
    reason: str | None = None


class _RecordedActions(Record, frozen=True, kw_only=True):
    schema: int = SCHEMA
    boot_id: str
    actions: tuple[RecordedOutcome, ...] = ()


def active_partitions(env: Mapping[str, str], boot_id: str | None = None) -> tuple[Partition, ...]:
    """Return the partitions of this boot, by name.

    Args:
        env: environment, which may name another folder than the default one.
        boot_id: boot id of the running kernel; ``None`` for any.

    Raises:
        NotPossibleError: see ``partition_names``.
    """
    found = (read_partition(partitions_folder(env) / name) for name in partition_names(env))
    return tuple(
        partition
        for partition in found
        if partition is not None and boot_id in (None, partition.boot_id)
    )


def select_partition(name: str | None, env: Mapping[str, str]) -> str:
    """Return the named partition, or else the only active one.

    Raises:
        InvalidInputError: the name is unknown, or it is missing and there are several.
        NotPossibleError: there is none; see also ``partition_names``.
    """
    known = [partition.name for partition in active_partitions(env)]
    if not known:
        which = "" if name is None else f" named {name!r}"
        called = "" if name is None else f"{name} "
        raise NotPossibleError(
            f"This host has no partition{which}.",
            f"Create one as root: `assay partition create {called}--cpus LIST --mem SIZE`.",
        )
    if name is None and len(known) > 1:
        raise InvalidInputError(
            f"This host has {len(known)} partitions: {', '.join(known)}.",
            f"Choose one, for example --partition {known[0]}",
        )
    if name is not None:
        partition_folder(name, env)  # refuses an invalid name
        if name not in known:
            raise InvalidInputError(
                f"Unknown partition: {name!r}.",
                f"Known: {', '.join(known)}. Create one as root: `assay partition create {name} "
                "--cpus LIST`.",
            )
    return name or known[0]


def partition_names(env: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of all partition folders, active or not.

    Raises:
        NotPossibleError: other users may write to the folder.
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
    """Return the partition of a folder; ``None`` if it is not active."""
    text = _trusted(folder / _PARTITION_FILE)
    try:
        found = None if text is None else msgspec.json.decode(text, type=Partition)
    except msgspec.MsgspecError:
        return None
    return found if found is not None and found.schema == SCHEMA else None


def recorded_outcomes(env: Mapping[str, str], boot_id: str | None) -> tuple[RecordedOutcome, ...]:
    """Return the recorded outcomes of all actions that partitions of this boot require."""
    text = _trusted(partitions_folder(env) / _OUTCOMES_FILE)
    try:
        found = None if text is None else msgspec.json.decode(text, type=_RecordedActions)
    except msgspec.MsgspecError:
        return ()
    return found.actions if found is not None and boot_id in (None, found.boot_id) else ()


def create_folder(name: str, env: Mapping[str, str]) -> Path:
    """Create the folder of a partition that is not active yet.

    Raises:
        InvalidInputError: the name is invalid.
        NotPossibleError: the partition exists, or the folder cannot be created.
    """
    folder = partition_folder(name, env)
    try:
        for place in (folder.parent.parent, folder.parent):
            _create_public_folder(place)
            _demand_ours(place)
        folder.mkdir(mode=0o755)
        folder.chmod(0o755)  # independent of the umask: users connect to the socket in it
    except FileExistsError as error:
        raise NotPossibleError(
            f"The partition {name} already exists.",
            f"Delete it with `assay partition delete {name}`, or choose another name.",
        ) from error
    except OSError as error:
        raise NotPossibleError(
            f"The folder {folder} cannot be created: {error.strerror}.", "Run assay as root."
        ) from error
    return folder


def _create_public_folder(place: Path) -> None:
    """Create a folder that all users may enter and only root may write; keep an existing one."""
    with contextlib.suppress(FileExistsError):
        place.mkdir(parents=True, mode=0o755)
        place.chmod(0o755)


def write_broker_document(partition: Partition, folder: Path) -> None:
    """Write the document with which the broker of a partition is started.

    Raises:
        OSError: the file cannot be written.
    """
    document = {
        "schema": SCHEMA,
        "name": partition.name,
        "hierarchies": partition.hierarchies,
        "cpus": partition.cpus,
        "memory_bytes": partition.memory.bytes if partition.memory else 0,
        "gpus": partition.gpus,
    }
    _replace(document_in(folder), msgspec.json.encode(document))


def activate(partition: Partition, folder: Path) -> None:
    """Mark a partition as active.

    Raises:
        OSError: the file cannot be written.
    """
    _replace(folder / _PARTITION_FILE, encode(partition))


def deactivate(folder: Path) -> None:
    """Mark a partition as inactive."""
    (folder / _PARTITION_FILE).unlink(missing_ok=True)


def record_outcomes(
    outcomes: tuple[ActionOutcome, ...], boot_id: str, env: Mapping[str, str]
) -> None:
    """Record the outcomes of all actions that partitions require.

    Raises:
        OSError: the file cannot be written.
    """
    actions = tuple(
        RecordedOutcome(
            action=outcome.action,
            status=str(outcome.status),
            read=outcome.read,
            reason=outcome.reason,
        )
        for outcome in outcomes
    )
    path = partitions_folder(env) / _OUTCOMES_FILE
    if actions:
        _replace(path, encode(_RecordedActions(boot_id=boot_id, actions=actions)))
    else:
        path.unlink(missing_ok=True)


def remove_folder(folder: Path) -> None:
    """Remove a folder and its files."""
    for path in (
        *_partial(folder),
        folder / _PARTITION_FILE,
        document_in(folder),
        socket_in(folder),
    ):
        path.unlink(missing_ok=True)
    (folder / LOG).unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # a foreign file prevents the removal
        folder.rmdir()


def _partial(folder: Path) -> tuple[Path, ...]:
    return tuple(folder.glob(".*.new"))


def _replace(path: Path, content: bytes) -> None:
    """Replace a file atomically."""
    new = path.with_name(f".{path.name}.new")
    new.unlink(missing_ok=True)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
    with os.fdopen(descriptor, "wb") as file:
        os.fchmod(descriptor, 0o644)
        file.write(content)
    new.replace(path)


def _trusted(path: Path) -> bytes | None:
    """Return the contents of a file that only root or this user could have written."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        sound = found.st_uid in (0, os.geteuid()) and not found.st_mode & _GROUP_AND_OTHER_WRITE
        return file.read(_MAX_BYTES) if sound and stat.S_ISREG(found.st_mode) else None


def _demand_ours(folder: Path) -> None:
    """Refuse a folder in which other users could replace files that root acts on.

    Raises:
        NotPossibleError: other users may write there.
    """
    found = folder.stat()
    if found.st_uid not in (0, os.geteuid()) or found.st_mode & _GROUP_AND_OTHER_WRITE:
        raise NotPossibleError(
            f"Other users may write to {folder}, the folder of partitions.",
            "Restrict it to root (chown root, chmod 755).",
        )
