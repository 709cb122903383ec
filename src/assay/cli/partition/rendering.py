"""Partitions as lines of a terminal and as JSON documents."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator

from msgspec.structs import asdict

from assay.cli.documents.partition import (
    FreeResources,
    ListedPartition,
    MissingBootArgument,
    PartitionDescription,
    PartitionMemory,
    PartitionShare,
    SteeredKernelWork,
    SteeredTargets,
    UnmetRequirement,
    UnrestoredValue,
)
from assay.host.changes import ActionOutcome, ActionStatus, UpdateResult
from assay.machine.checks.isolation_arguments import BootArgument, missing_arguments
from assay.machine.cpulist import parse_list, show_numbers
from assay.machine.root import Root
from assay.partition.broker import HeldShare, PartitionState
from assay.partition.kernel_work import kernel_work_kind
from assay.partition.registry import Memory, MemoryGuarantee, Partition, active_partitions
from assay.partition.status import KernelWorkStatus, PartitionStatus
from assay.units import show_bytes
from assay.untrusted import clean

_GUARANTEES: dict[MemoryGuarantee, str] = {
    "pages": "in the nodes' pools of huge pages, for programs that request such pages",
    "minimum": "not reclaimed while it is in use (memory.min)",
    "admission": "the broker limits runs on the partition only: other processes may take it",
}
_CGROUP_VERSIONS = {
    1: "control groups of version 1: exclusive CPUs without load balancing",
    2: "control groups of version 2: an isolated partition",
}
_STEERED = {
    "interrupts": "interrupts are routed to other CPUs",
    "workqueues": "masks of kernel work exclude these CPUs",
    "threads": "movable kernel threads run on other CPUs",
    "settings": "system settings have the values that partitions need",
}
MAX_REASONS = 3
"""Maximum number of reasons that are listed without -v."""


def partition_lines(made: Partition) -> Iterator[str]:
    """Yield the resources of a partition."""
    has = show_numbers("CPU", made.cpu_set)
    yield f"partition {made.name}: {has}, memory of {show_numbers('node', parse_list(made.nodes))}"
    yield f"  {_CGROUP_VERSIONS[made.version]}"
    if made.memory is not None:
        yield f"  memory: {_memory_words(made.memory)}"
    if made.gpus:
        yield f"  {show_numbers('GPU', parse_list(made.gpus))}"
    if made.idle_limit != "default":
        states = "no idle states" if made.idle_limit == "poll" else "light idle states only"
        yield f"  its CPUs use {states} while it exists"
    if not made.machine_checks:
        yield "  no CPU polls for corrected errors while it exists"


def _memory_words(memory: Memory) -> str:
    requested = ""
    if memory.bytes < memory.requested_bytes // 4096 * 4096:
        requested = f" of the requested {show_bytes(memory.requested_bytes)}"
    elif memory.bytes > memory.requested_bytes:
        requested = f", as whole pages, for the requested {show_bytes(memory.requested_bytes)}"
    return f"{show_bytes(memory.bytes)}{requested}, {_GUARANTEES[memory.guarantee]}"


def _boot_arguments(made: Partition) -> tuple[BootArgument, ...]:
    """Return the boot arguments that a partition lacks, with the CPUs of all partitions."""
    beside = frozenset[int]().union(*(one.cpu_set for one in active_partitions(os.environ)))
    return missing_arguments(made.cpu_set, Root(), beside)


def boot_lines(made: Partition) -> Iterator[str]:
    """Yield the boot arguments that keep further kernel work away."""
    for one in _boot_arguments(made):
        yield f"  boot with {one.text}: {one.reason}"


def steering_lines(found: Iterable[KernelWorkStatus], *, verbose: bool) -> Iterator[str]:
    """Yield the kernel work that was moved off the CPUs of all partitions, and the rest."""
    for one in found:
        whole = one.moved + len(one.refused) + len(one.drifted) + one.lapsed
        if not whole:
            continue
        yield f"{one.moved} of {whole} {_STEERED[one.kind]}"
        if one.lapsed:
            yield (
                f"  {one.lapsed} may use all CPUs again, for instance after a CPU came online: "
                "`assay partition start` moves them"
            )
        for words, change in ((one.refused, "not"), (one.drifted, "changed by another program to")):
            yield from _each(words, change, verbose=verbose)


def _each(words: dict[str, str], change: str, *, verbose: bool) -> Iterator[str]:
    reasons = list(words.items())
    for name, text in reasons if verbose else reasons[:MAX_REASONS]:
        yield f"  {name}: {text}" if change == "not" else f"  {name} was {change} {text}"
    if len(reasons) > MAX_REASONS and not verbose:
        yield f"  and {len(reasons) - MAX_REASONS} more: -v lists them"


def status_lines(seen: PartitionStatus) -> Iterator[str]:
    """Yield the current state of a partition."""
    if seen.partition is None:
        yield f"partition {seen.name}: {seen.fault}"
        yield f"  `assay partition delete {seen.name}` undoes its changes"
        return
    yield from partition_lines(seen.partition)
    if seen.fault is not None:
        yield f"  NOT IN FORCE: {seen.fault}"
        yield (
            f"  correct this and run `assay partition start {seen.name}`, or delete the partition "
            "and create it again"
        )
    yield from _broker_lines(seen.partition, seen.state)
    yield from boot_lines(seen.partition)


def _broker_lines(made: Partition, state: PartitionState | None) -> Iterator[str]:
    if state is None and made.broker:
        yield "  NO BROKER: it has ended, and --reserve is not available"
        yield f"  `assay partition start {made.name}` starts it again"
    elif state is None:
        yield "  created without a broker: --reserve is not available"
    else:
        free = f"free: {show_numbers('CPU', parse_list(state.free_cpus))}"
        if state.memory_bytes:
            free += f", {show_bytes(state.free_bytes)}"
        if state.gpus:
            free += f", {show_numbers('GPU', parse_list(state.free_gpus))}"
        yield f"  {free}"
        for share in state.shares:
            yield f"  {share}"


def unmet_needs(turned: UpdateResult) -> tuple[ActionOutcome, ...]:
    """Return the requirements of partitions that are not in force, or that another program changed.

    Kernel work that cannot be moved is not included: partitions exist without it, and
    ``assay partition list`` shows it.
    """
    return tuple(
        outcome
        for outcome in turned.missing
        if outcome.status is ActionStatus.DRIFTED or kernel_work_kind(outcome.action) is None
    )


def warn_of_unmet_needs(found: Iterable[ActionOutcome]) -> None:
    """Print the unmet requirements on error output."""
    for outcome in found:
        print(f"assay: {clean(f'{outcome.action.path}: {outcome.reason}')}.", file=sys.stderr)


def unrestored_values(turned: UpdateResult) -> tuple[UnrestoredValue, ...]:
    """Return the document of values that are not restored."""
    return tuple(
        UnrestoredValue(
            path=word.note.action.path,
            original_value=word.note.old,
            status=word.fate,
            reason=word.reason or None,
        )
        for word in turned.left
    )


def unmet_requirements(turned: UpdateResult) -> tuple[UnmetRequirement, ...]:
    """Return the document of unmet requirements."""
    return tuple(
        UnmetRequirement(path=one.action.path, status=one.status, reason=one.reason)
        for one in unmet_needs(turned)
    )


def described_partition(made: Partition) -> PartitionDescription:
    """Return the document of a partition."""
    return PartitionDescription(
        name=made.name,
        cpus=made.cpus,
        nodes=made.nodes,
        cgroup="v1" if made.version == 1 else "v2",
        groups=tuple(group.path for group in made.groups),
        idle_limit=made.idle_limit,
        memory=_reserved_memory(made.memory) if made.memory else None,
        gpus=made.gpus or None,
        boot=tuple(
            MissingBootArgument(argument=one.text, reason=one.reason)
            for one in _boot_arguments(made)
        ),
    )


def _reserved_memory(memory: Memory) -> PartitionMemory:
    return PartitionMemory(
        bytes=memory.bytes, requested_bytes=memory.requested_bytes, guarantee=memory.guarantee
    )


def listed_partition(seen: PartitionStatus) -> ListedPartition:
    """Return the document of a partition and its current state."""
    if seen.partition is None:
        return ListedPartition(name=seen.name, in_force=seen.fault is None, fault=seen.fault)
    state = seen.state
    return ListedPartition(
        in_force=seen.fault is None,
        fault=seen.fault,
        **asdict(described_partition(seen.partition)),
        broker="answers" if state else "silent" if seen.partition.broker else "none",
        version=state.version if state else None,
        free=_free_resources(state) if state else None,
        shares=tuple(map(_share, state.shares)) if state else None,
    )


def _free_resources(state: PartitionState) -> FreeResources:
    return FreeResources(cpus=state.free_cpus, memory_bytes=state.free_bytes, gpus=state.free_gpus)


def _share(share: HeldShare) -> PartitionShare:
    return PartitionShare(
        cpus=share.cpus,
        memory_bytes=share.memory_bytes,
        gpus=share.gpus,
        uid=share.uid,
        pid=share.pid or None,
    )


def steered_kernel_work(found: Iterable[KernelWorkStatus]) -> SteeredKernelWork:
    """Return the document of the moved kernel work, which has each kind once."""
    by_kind = {
        one.kind: SteeredTargets(
            moved=one.moved, refused=one.refused, drifted=one.drifted, lapsed=one.lapsed
        )
        for one in found
    }
    return SteeredKernelWork(**by_kind)
