"""Folders of the partitions of this host; they last until deletion or reboot."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from assay.errors import InvalidInputError

RUN_VARIABLE = "ASSAY_RUN"
"""Variable that names another folder for files that last until a reboot, for instance in tests."""
_USUAL = "/run/assay"
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")


def partitions_folder(env: Mapping[str, str]) -> Path:
    """Return the folder that contains a folder for each partition."""
    return Path(env.get(RUN_VARIABLE) or _USUAL) / "partitions"


def partition_folder(name: str, env: Mapping[str, str]) -> Path:
    """Return the folder of one partition, with ``partition.json`` of the broker and its socket.

    Raises:
        InvalidInputError: the name is invalid.
    """
    if not _NAME.fullmatch(name):
        raise InvalidInputError(
            f"Invalid name of a partition: {name!r}.",
            "A name has up to 32 lower-case letters, digits, - and _, and begins with a letter or "
            "digit.",
        )
    return partitions_folder(env) / name


def socket_in(folder: Path) -> Path:
    """Return the socket of a partition's broker."""
    return folder / "broker.sock"


def document_in(folder: Path) -> Path:
    """Return the document with which the broker of a partition is started."""
    return folder / "partition.json"
