"""Command line of ``assay partition`` as requests, one for each action."""

from __future__ import annotations

import argparse

from assay.api.options.option_values import parse_quantity
from assay.cli.parsing.parser import Parsed
from assay.errors import InvalidInputError
from assay.partition.cpu_designation import AUTO, CpuRequest
from assay.partition.lifecycle import DEFAULT_NAME, WAIT_S, PartitionRequest
from assay.partition.memory import MemoryRequest
from assay.requests.partition import (
    PartitionCreateRequest,
    PartitionDeleteRequest,
    PartitionListRequest,
    PartitionStartRequest,
)
from assay.units import parse_duration_s


def create_request(parsed: Parsed) -> PartitionCreateRequest:
    """Return the request of ``assay partition create``.

    Raises:
        InvalidInputError: options that exclude each other, or an invalid value.
    """
    arguments = parsed.arguments
    return PartitionCreateRequest(
        partition=_partition(arguments), wait_s=_wait_s(arguments), dry_run=arguments.dry_run
    )


def list_request(parsed: Parsed) -> PartitionListRequest:
    """Return the request of ``assay partition list``."""
    return PartitionListRequest(name=parsed.arguments.name or None)


def start_request(parsed: Parsed) -> PartitionStartRequest:
    """Return the request of ``assay partition start``.

    Raises:
        InvalidInputError: an invalid time.
    """
    arguments = parsed.arguments
    return PartitionStartRequest(name=_name(arguments), wait_s=_wait_s(arguments))


def delete_request(parsed: Parsed) -> PartitionDeleteRequest:
    """Return the request of ``assay partition delete``.

    Raises:
        InvalidInputError: an invalid time.
    """
    arguments = parsed.arguments
    return PartitionDeleteRequest(
        name=_name(arguments), force=arguments.force, wait_s=_wait_s(arguments)
    )


def _name(arguments: argparse.Namespace) -> str:
    name: str | None = arguments.name
    return DEFAULT_NAME if name is None else name


def _wait_s(arguments: argparse.Namespace) -> float:
    if arguments.timeout is None:
        return WAIT_S
    return parse_quantity("--timeout", arguments.timeout, parse_duration_s)


def _partition(arguments: argparse.Namespace) -> PartitionRequest:
    if arguments.cores is not None and arguments.cpus is not None:
        raise InvalidInputError("--cpus and --cores exclude each other.", "Write one of them.")
    if arguments.pages is not None and arguments.mem is None:
        raise InvalidInputError("--pages needs the size of the memory.", "Add --mem.")
    if arguments.precise and arguments.mem is None:
        raise InvalidInputError("--precise needs the size of the memory.", "Add --mem.")
    memory = None if arguments.mem is None else MemoryRequest(arguments.mem, arguments.pages)
    return PartitionRequest(
        name=_name(arguments),
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
