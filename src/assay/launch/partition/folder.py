"""Folder: where the partitions of this host are known, until they are deleted or it reboots."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from assay.errors import BadInput, NotPossible

VARIABLE = "ASSAY_RUN"
"""Names another folder for what lasts until a reboot; tests use one of their own."""
_USUAL = "/run/assay"
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")


def partitions_folder(env: Mapping[str, str]) -> Path:
    """The folder with a folder for each partition."""
    return Path(env.get(VARIABLE) or _USUAL) / "partitions"


def partition_folder(name: str, env: Mapping[str, str]) -> Path:
    """The folder of one partition: ``partition.json``, as the broker reads it, and its socket.

    Raises:
        BadInput: no partition can have this name.
    """
    if not _NAME.fullmatch(name):
        raise BadInput(
            f"No partition can be named {name!r}.",
            "A name has up to 32 lower-case letters, digits, - and _, and begins with one of the "
            "first two.",
        )
    return partitions_folder(env) / name


def known_partitions(env: Mapping[str, str]) -> tuple[str, ...]:
    """Names of the partitions that were made here, in order."""
    try:
        with os.scandir(partitions_folder(env)) as entries:
            names = [entry.name for entry in entries if _NAME.fullmatch(entry.name)]
    except OSError:
        return ()
    return tuple(
        sorted(name for name in names if document_in(partition_folder(name, env)).exists())
    )


def the_partition(name: str | None, env: Mapping[str, str]) -> str:
    """The partition that is meant: the one that is named, else the only one.

    Raises:
        BadInput: no partition has this name, or several might be meant.
        NotPossible: there is none.
    """
    known = known_partitions(env)
    if not known:
        raise NotPossible(
            "There is no partition on this host.",
            "Root makes one with `assay partition create --cpus LIST --mem SIZE`.",
        )
    if name is None and len(known) > 1:
        raise BadInput(
            f"There are {len(known)} partitions: {', '.join(known)}.",
            f"Say which: --partition {known[0]}",
        )
    if name is not None:
        partition_folder(name, env)  # a name that none can have
        if name not in known:
            raise BadInput(
                f"There is no partition {name!r}.",
                f"{'There is' if len(known) == 1 else 'There are'} {', '.join(known)}.",
            )
    return name or known[0]


def socket_in(folder: Path) -> Path:
    """The socket of a partition's broker."""
    return folder / "broker.sock"


def document_in(folder: Path) -> Path:
    """What the broker of a partition was started with."""
    return folder / "partition.json"
