"""Apart: a word on CPUs that a partition has set apart, which changes what is seen of a machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from assay.launch.partition.folder import document_in, partitions_folder
from assay.untrusted import clean

_LARGEST_BYTES = 2**16


class _Named(msgspec.Struct):
    """What is needed of a partition's document."""

    cpus: str = ""


def say_partitions(env: Mapping[str, str] = os.environ) -> None:
    """A line on error output for each partition that this host has."""
    for name, cpus in partitions(env):
        print(
            clean(f"assay: the partition {name} has CPUs {cpus} just now: what is seen here is")
            + " this host with them set apart.",
            file=sys.stderr,
        )


def partitions(env: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Name and CPUs of each partition of which that can be read."""
    folder = partitions_folder(env)
    try:
        places = sorted(folder.iterdir())
    except OSError:
        return
    for place in places:
        cpus = _cpus(place)
        if cpus:
            yield place.name, cpus


def _cpus(folder: Path) -> str:
    try:
        with document_in(folder).open("rb") as file:
            return msgspec.json.decode(file.read(_LARGEST_BYTES), type=_Named).cpus
    except (OSError, ValueError):
        return ""
