"""Reservation of a share of a partition, for the lifetime of a connection."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from assay.errors import InvalidInputError, NotPossibleError
from assay.machine.cpulist import format_list, parse_list
from assay.machine.document import Cpu
from assay.partition.bounds import CpuBounds
from assay.partition.broker import (
    AlreadyReservedError,
    BrokerClient,
    Lease,
    PartitionState,
    free_cpus,
)
from assay.partition.cpu_choice import CpuChoice, choose_cpus
from assay.partition.share_request import ShareRequest

MAX_TRIES = 20
"""Largest number of attempts: between look-up and request another user may reserve free CPUs."""
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class ShareResources:
    """Exclusive resources of a run.

    Attributes:
        choice: CPUs.
        memory_bytes: reserved bytes; 0 if none were requested.
        gpus: GPU numbers.
    """

    choice: CpuChoice
    memory_bytes: int
    gpus: tuple[int, ...]


@dataclass(frozen=True)
class ReservedResources(ShareResources):
    """Granted resources.

    Attributes:
        lease: lease of the broker.
    """

    lease: Lease


@dataclass(frozen=True)
class ShareLimits:
    """Limits of a share.

    Attributes:
        bounds: CPUs to which this process is confined; ``None`` if it is not confined.
        gpus: GPUs that its environment leaves visible; ``None`` for all.
    """

    bounds: CpuBounds | None = None
    gpus: frozenset[int] | None = None


def reserve_share(
    request: ShareRequest,
    broker: BrokerClient,
    cpus: Sequence[Cpu],
    seed: int = 0,
    within: ShareLimits = ShareLimits(),
) -> ReservedResources:
    """Reserve a share; it ends with the connection.

    Args:
        request: requested share.
        broker: broker of the partition.
        cpus: CPUs of the host.
        seed: seed of the algorithm ``random``.
        within: limits of the share.

    Raises:
        InvalidInputError: the partition is too small.
        NotPossibleError: the resources are in use, or outside the limits of this process.
    """
    for left in reversed(range(MAX_TRIES)):
        state = broker.state()
        part = preview_share(request, state, cpus, seed, within)
        everything = (*part.choice.cpus, *part.choice.utility)
        try:
            lease = broker.reserve(everything, part.memory_bytes, part.gpus)
        except AlreadyReservedError:
            if not left or request.listed or not _changed(state, broker.state()):
                raise
        else:
            return ReservedResources(part.choice, part.memory_bytes, part.gpus, lease)
    raise AssertionError("the last try returns or raises")


def preview_share(
    request: ShareRequest,
    state: PartitionState,
    cpus: Sequence[Cpu],
    seed: int = 0,
    within: ShareLimits = ShareLimits(),
) -> ShareResources:
    """Return the resources that a request would get of a partition now.

    Args, Raises: see ``reserve_share``.
    """
    of_partition = set(parse_list(state.cpus))
    own = [cpu for cpu in cpus if cpu.id in of_partition]
    if not own:
        raise NotPossibleError(
            f"No CPU of the partition {state.name} is online.",
            "Have root create it again; see its CPUs in `assay partition list`.",
        )
    with _naming_holders(state):
        choice = _choice(request, own, free_cpus(state), seed, within.bounds)
        gpus = _gpus(request, state, within.gpus)
    return ShareResources(choice, _memory_bytes(request, state), gpus)


@contextlib.contextmanager
def _naming_holders(state: PartitionState) -> Iterator[None]:
    """Add the users of shares to a refusal."""
    try:
        yield
    except NotPossibleError as error:
        if not state.shares:
            raise
        raise type(error)(f"{error.cause} In use: {state.holders}.", error.remedy) from error


def _choice(
    request: ShareRequest,
    own: Sequence[Cpu],
    free: Collection[int],
    seed: int,
    bounds: CpuBounds | None,
) -> CpuChoice:
    if bounds is None:
        return choose_cpus(request, own, free, seed)
    known = {cpu.id for cpu in own}
    foreign = [cpu for cpu in request.listed if cpu in known and cpu not in bounds.cpus]
    if foreign:
        raise NotPossibleError(
            f"This process may not use CPU {format_list(foreign)}: {bounds}.",
            _WIDER,
        )
    try:
        return choose_cpus(request, own, bounds.cpus.intersection(free), seed)
    except NotPossibleError as error:
        if known <= bounds.cpus:
            raise
        inside = format_list(known & bounds.cpus) or "none"
        raise NotPossibleError(
            f"The request exceeds the part of the partition that this process may use ({inside}): "
            f"{bounds}. {error.cause}",
            _WIDER,
        ) from error


_WIDER = (
    "Request CPUs within these bounds, or extend them where they are set (batch system, "
    "container, taskset)."
)


def _changed(before: PartitionState, now: PartitionState) -> bool:
    """Return whether shares have changed since, so that another attempt may succeed."""
    return [share.lease for share in before.shares] != [share.lease for share in now.shares]


def _memory_bytes(request: ShareRequest, state: PartitionState) -> int:
    """Return the requested memory in whole pages, the unit of the kernel."""
    if request.memory is None or (state.memory_bytes == 0 and request.memory.part is not None):
        return 0
    if state.memory_bytes == 0:
        raise InvalidInputError(
            f"The partition {state.name} has no memory of its own.",
            "Omit mem, or have root create the partition with --mem.",
        )
    return request.memory.of(state.memory_bytes) // _PAGE_BYTES * _PAGE_BYTES


def _gpus(
    request: ShareRequest, state: PartitionState, visible: frozenset[int] | None
) -> tuple[int, ...]:
    """Return the first free GPUs; a fraction of zero GPUs is empty."""
    everything = parse_list(state.gpus)
    if request.gpus is None or (not everything and request.gpus.part is not None):
        return ()
    wanted = request.gpus.of(len(everything))
    if wanted > len(everything):
        raise InvalidInputError(
            f"The partition {state.name} has {len(everything)} GPUs, but {wanted} were requested.",
            "Request fewer.",
        )
    free = parse_list(state.free_gpus)
    if visible is not None and wanted > len(visible.intersection(free)):
        left = len(visible.intersection(everything))
        raise NotPossibleError(
            f"{wanted} GPUs were requested, but in the environment of this process only {left} of "
            f"those of the partition {state.name} are visible.",
            "Request fewer, or unset CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES and "
            "ZE_AFFINITY_MASK.",
        )
    if visible is not None:
        free = tuple(gpu for gpu in free if gpu in visible)
    if wanted > len(free):
        raise AlreadyReservedError(
            f"Only {len(free)} of the {len(everything)} GPUs of the partition are free.",
            "Wait for other runs, or request fewer.",
        )
    return free[:wanted]
