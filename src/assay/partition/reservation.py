"""Reserve: a part of a partition as a wish asks for it, had for as long as a connection lasts."""

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
"""Between looking and asking somebody else may take what was free."""
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class ShareResources:
    """What a run has for itself.

    Attributes:
        choice: its CPUs.
        memory_bytes: of its own; 0 where none was asked for.
        gpus: numbers.
    """

    choice: CpuChoice
    memory_bytes: int
    gpus: tuple[int, ...]


@dataclass(frozen=True)
class ReservedResources(ShareResources):
    """A part that was given.

    Attributes:
        lease: as the broker gave it.
    """

    lease: Lease


@dataclass(frozen=True)
class ShareLimits:
    """What a share has to lie within.

    Attributes:
        bounds: CPUs that this process was confined to; ``None``: it is not.
        gpus: that it was left by whoever started it; ``None``: all.
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
    """Have a share; it ends with the connection.

    Args:
        wish: what is asked for.
        broker: of the partition.
        cpus: of the host.
        seed: of the algorithm ``random``.
        within: what the share has to lie within.

    Raises:
        InvalidInputError: the partition does not have so much.
        NotPossibleError: others have too much of it, or it lies outside of what this process may use.
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
    raise AssertionError("the last try gives or raises")


def preview_share(
    request: ShareRequest,
    state: PartitionState,
    cpus: Sequence[Cpu],
    seed: int = 0,
    within: ShareLimits = ShareLimits(),
) -> ShareResources:
    """What a wish would get of a partition as it is.

    Args, Raises: as ``reserve_share``.
    """
    of_partition = set(parse_list(state.cpus))
    own = [cpu for cpu in cpus if cpu.id in of_partition]
    if not own:
        raise NotPossibleError(
            f"No CPU of the partition {state.name} is online.",
            "Have it made anew; `assay partition list` shows what it has.",
        )
    with _told_who_has_it(state):
        choice = _choice(request, own, free_cpus(state), seed, within.bounds)
        gpus = _gpus(request, state, within.gpus)
    return ShareResources(choice, _memory_bytes(request, state), gpus)


@contextlib.contextmanager
def _told_who_has_it(state: PartitionState) -> Iterator[None]:
    """Have a refusal name those who have shares."""
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
            f"CPU {format_list(foreign)} is not for this process to use: {bounds}.",
            _WIDER,
        )
    try:
        return choose_cpus(request, own, bounds.cpus.intersection(free), seed)
    except NotPossibleError as error:
        if known <= bounds.cpus:
            raise
        inside = format_list(known & bounds.cpus) or "none"
        raise NotPossibleError(
            f"The wish does not fit within what this process may use of the partition ({inside}): "
            f"{bounds}. {error.cause}",
            _WIDER,
        ) from error


_WIDER = (
    "Ask for CPUs that lie within it, or have whoever started this process (a batch system, a "
    "container, taskset) give it more."
)


def _changed(before: PartitionState, now: PartitionState) -> bool:
    """Whether others took or gave something since: then another try may have another end."""
    return [share.lease for share in before.shares] != [share.lease for share in now.shares]


def _memory_bytes(request: ShareRequest, state: PartitionState) -> int:
    """In whole pages: the kernel counts in them."""
    if request.memory is None or (state.memory_bytes == 0 and request.memory.part is not None):
        return 0
    if state.memory_bytes == 0:
        raise InvalidInputError(
            f"The partition {state.name} has no memory of its own to share out.",
            "Leave mem out, or have it made with --mem.",
        )
    return request.memory.of(state.memory_bytes) // _PAGE_BYTES * _PAGE_BYTES


def _gpus(
    request: ShareRequest, state: PartitionState, visible: frozenset[int] | None
) -> tuple[int, ...]:
    """The first that are free; what is a part of none is none."""
    everything = parse_list(state.gpus)
    if request.gpus is None or (not everything and request.gpus.part is not None):
        return ()
    wanted = request.gpus.of(len(everything))
    if wanted > len(everything):
        raise InvalidInputError(
            f"The partition {state.name} has {len(everything)} GPUs, and {wanted} were asked for.",
            "Ask for fewer.",
        )
    free = parse_list(state.free_gpus)
    if visible is not None and wanted > len(visible.intersection(free)):
        left = len(visible.intersection(everything))
        raise NotPossibleError(
            f"{wanted} GPUs were asked for, and the environment of this process leaves it {left} of"
            f" those of the partition {state.name}.",
            "Ask for fewer, or unset CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES and "
            "ZE_AFFINITY_MASK.",
        )
    if visible is not None:
        free = tuple(gpu for gpu in free if gpu in visible)
    if wanted > len(free):
        raise AlreadyReservedError(
            f"Others have all but {len(free)} of the {len(everything)} GPUs of the partition.",
            "Wait until they are done, or ask for fewer.",
        )
    return free[:wanted]
