"""Arguments of ``assay partition``: name, place and request."""

from __future__ import annotations

import argparse
import os

from assay.errors import InvalidInputError
from assay.partition.cpu_designation import AUTO, CpuRequest
from assay.partition.lifecycle import DEFAULT_NAME, WAIT_S, PartitionHost, PartitionRequest
from assay.partition.memory import MemoryRequest
from assay.units import parse_duration_s


def name_of(arguments: argparse.Namespace) -> str:
    """Return the name of the partition."""
    name: str | None = arguments.name
    return DEFAULT_NAME if name is None else name


def place_of(arguments: argparse.Namespace) -> PartitionHost:
    """Return this host with the time to wait for another process that changes it.

    Raises:
        InvalidInputError: an invalid time.
    """
    wait_s = WAIT_S if arguments.timeout is None else parse_duration_s(arguments.timeout)
    return PartitionHost(os.environ, wait_s)


def request_of(arguments: argparse.Namespace) -> PartitionRequest:
    """Return the requested partition.

    Raises:
        InvalidInputError: options that exclude each other, or an invalid value.
    """
    if arguments.cores is not None and arguments.cpus is not None:
        raise InvalidInputError("--cpus and --cores exclude each other.", "Write one of them.")
    if arguments.pages is not None and arguments.mem is None:
        raise InvalidInputError("--pages needs the size of the memory.", "Add --mem.")
    if arguments.precise and arguments.mem is None:
        raise InvalidInputError("--precise needs the size of the memory.", "Add --mem.")
    memory = None if arguments.mem is None else MemoryRequest(arguments.mem, arguments.pages)
    return PartitionRequest(
        name=name_of(arguments),
        cpus=CpuRequest(arguments.cpus or AUTO, _cores(arguments.cores), arguments.partial),
        memory=memory,
        gpus=arguments.gpus or "",
        idle=arguments.idle or "default",
        checks_machine=not arguments.no_machine_checks,
        broker=not arguments.no_broker,
        precise=arguments.precise,
    )


def _cores(text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal()):
        raise InvalidInputError(f"--cores: invalid number {text}.", "Write for example --cores 4.")
    return int(text)
