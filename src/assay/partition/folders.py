"""Folder: where the partitions of this host are known, until they are deleted or it reboots."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from assay.errors import InvalidInputError

RUN_VARIABLE = "ASSAY_RUN"
"""Names another folder for what lasts until a reboot; tests use one of their own."""
_USUAL = "/run/assay"
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")


def partitions_folder(env: Mapping[str, str]) -> Path:
    """The folder with a folder for each partition."""
    return Path(env.get(RUN_VARIABLE) or _USUAL) / "partitions"


def partition_folder(name: str, env: Mapping[str, str]) -> Path:
    """The folder of one partition: ``partition.json``, as the broker reads it, and its socket.

    Raises:
        InvalidInputError: no partition can have this name.
    """
    if not _NAME.fullmatch(name):
        raise InvalidInputError(
            f"No partition can be named {name!r}.",
            "A name has up to 32 lower-case letters, digits, - and _, and begins with one of the "
            "first two.",
        )
    return partitions_folder(env) / name


def socket_in(folder: Path) -> Path:
    """The socket of a partition's broker."""
    return folder / "broker.sock"


def document_in(folder: Path) -> Path:
    """What the broker of a partition was started with."""
    return folder / "partition.json"
