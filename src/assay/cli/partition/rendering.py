"""Told: partitions as lines and as JSON."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from assay.host.changes import ActionOutcome, ActionStatus, UpdateResult
from assay.host.undo import UndoOutcome
from assay.machine.checks.isolation_arguments import BootArgument, missing_arguments
from assay.machine.cpulist import parse_list, show_numbers
from assay.machine.root import Root
from assay.partition.broker import HeldShare, PartitionState
from assay.partition.kernel_work import kernel_work_kind
from assay.partition.registry import Memory, MemoryGuarantee, Partition, active_partitions
from assay.partition.status import KernelWorkStatus, PartitionStatus
from assay.units import show_bytes
from assay.untrusted import clean

_GROUNDS: dict[MemoryGuarantee, str] = {
    "pages": "in the nodes' pools of huge pages, which only programs get that ask for such pages",
    "minimum": "not reclaimed while it is in use (memory.min)",
    "admission": "counted by the broker among runs on the partition alone: others may take it",
}
_ENGINES = {
    1: "control groups of version 1: exclusive CPUs without load balancing",
    2: "control groups of version 2: an isolated partition",
}
_STEERED = {
    "interrupts": "interrupts go elsewhere",
    "workqueues": "masks of kernel work leave these CPUs out",
    "threads": "kernel threads that can be moved run elsewhere",
    "settings": "settings of the whole machine are as partitions need them",
}
MAX_REASONS = 3
"""Of reasons that are told each; more with -v."""


def partition_lines(made: Partition) -> Iterator[str]:
    """What a partition has."""
    has = show_numbers("CPU", made.cpu_set)
    yield f"partition {made.name}: {has}, memory of {show_numbers('node', parse_list(made.nodes))}"
    yield f"  {_ENGINES[made.version]}"
    if made.memory is not None:
        yield f"  memory: {_memory_words(made.memory)}"
    if made.gpus:
        yield f"  {show_numbers('GPU', parse_list(made.gpus))}"
    if made.idle != "default":
        how = "never" if made.idle == "poll" else "only lightly"
        yield f"  its CPUs sleep {how} for as long as it stands"
    if not made.checks_machine:
        yield "  corrected errors are not polled for, on all CPUs, for as long as it stands"


def _memory_words(memory: Memory) -> str:
    asked = ""
    if memory.bytes < memory.asked_bytes // 4096 * 4096:
        asked = f" of the {show_bytes(memory.asked_bytes)} that were asked for"
    elif memory.bytes > memory.asked_bytes:
        asked = f", as whole pages, for the {show_bytes(memory.asked_bytes)} that were asked for"
    return f"{show_bytes(memory.bytes)}{asked}, {_GROUNDS[memory.ground]}"


def _boot_arguments(made: Partition) -> tuple[BootArgument, ...]:
    """What a partition lacks, as it is written for all partitions."""
    beside = frozenset[int]().union(*(one.cpu_set for one in active_partitions(os.environ)))
    return missing_arguments(made.cpu_set, Root(), beside)


def boot_lines(made: Partition) -> Iterator[str]:
    """What only a boot argument keeps away."""
    for one in _boot_arguments(made):
        yield f"  boot with {one.text}: {one.reason}"


def steering_lines(found: Iterable[KernelWorkStatus], *, verbose: bool) -> Iterator[str]:
    """What was kept away from the CPUs of all partitions, and what was not."""
    for one in found:
        whole = one.moved + len(one.refused) + len(one.drifted) + one.lapsed
        if not whole:
            continue
        yield f"{one.moved} of {whole} {_STEERED[one.kind]}"
        if one.lapsed:
            yield (
                f"  {one.lapsed} may run everywhere again, as after a CPU came online: "
                "`assay partition start` keeps them away"
            )
        for words, says in ((one.refused, "not"), (one.drifted, "set by others to")):
            yield from _each(words, says, verbose=verbose)


def _each(words: dict[str, str], says: str, *, verbose: bool) -> Iterator[str]:
    told = list(words.items())
    for name, text in told if verbose else told[:MAX_REASONS]:
        yield f"  {name}: {text}" if says == "not" else f"  {name} was {says} {text}"
    if len(told) > MAX_REASONS and not verbose:
        yield f"  and {len(told) - MAX_REASONS} more: -v names them"


def status_lines(seen: PartitionStatus) -> Iterator[str]:
    """A partition as it stands now."""
    if seen.made is None:
        yield f"partition {seen.name}: {seen.fault}"
        yield f"  `assay partition delete {seen.name}` puts back what was done for it"
        return
    yield from partition_lines(seen.made)
    if seen.fault is not None:
        yield f"  NOT IN FORCE: {seen.fault}"
        yield (
            f"  `assay partition start {seen.name}` makes it hold again once that has changed; "
            "else delete it and make it anew"
        )
    yield from _broker_lines(seen.made, seen.state)
    yield from boot_lines(seen.made)


def _broker_lines(made: Partition, state: PartitionState | None) -> Iterator[str]:
    if state is None and made.broker:
        yield "  NO BROKER: it has ended, and nobody can have a share"
        yield f"  `assay partition start {made.name}` starts it again"
    elif state is None:
        yield "  made without a broker: nobody can have a share"
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
    """What partitions need and do not have, or what somebody else set.

    What the kernel does not let go is told where partitions are listed: they stand without.
    """
    return tuple(
        outcome
        for outcome in turned.missing
        if outcome.word is ActionStatus.DRIFTED or kernel_work_kind(outcome.action) is None
    )


def warn_of_unmet_needs(found: Iterable[ActionOutcome]) -> None:
    """Say it on error output."""
    for outcome in found:
        print(f"assay: {clean(f'{outcome.action.path}: {outcome.reason}')}.", file=sys.stderr)


def change_document(turned: UpdateResult) -> dict[str, Any]:
    """What scripts are told of what is not as it was, or as it is to be."""
    return {
        "left": [_left_document(word) for word in turned.left],
        "unmet": [
            {"path": one.action.path, "word": str(one.word), "reason": one.reason}
            for one in unmet_needs(turned)
        ],
    }


def _left_document(word: UndoOutcome) -> dict[str, str]:
    document = {"path": word.note.action.path, "old": word.note.old, "word": str(word.fate)}
    return document | ({"reason": word.reason} if word.reason else {})


def partition_document(made: Partition) -> dict[str, Any]:
    """What scripts are told of a partition."""
    found: dict[str, Any] = {
        "name": made.name,
        "cpus": made.cpus,
        "nodes": made.nodes,
        "cgroup": f"v{made.version}",
        "groups": [group.path for group in made.groups],
        "idle": made.idle,
    }
    if made.memory is not None:
        found["memory"] = {
            "bytes": made.memory.bytes,
            "asked_bytes": made.memory.asked_bytes,
            "ground": made.memory.ground,
        }
    if made.gpus:
        found["gpus"] = made.gpus
    boot = _boot_arguments(made)
    found["boot"] = [{"argument": one.text, "reason": one.reason} for one in boot]
    return found


def status_document(seen: PartitionStatus) -> dict[str, Any]:
    """The same, and how it stands now."""
    found: dict[str, Any] = {"name": seen.name, "in_force": seen.fault is None}
    if seen.fault is not None:
        found["fault"] = seen.fault
    if seen.made is None:
        return found
    found |= partition_document(seen.made)
    state = seen.state
    found["broker"] = "answers" if state else "silent" if seen.made.broker else "none"
    if state is not None:
        found["engine"] = state.engine
        found["free"] = {
            "cpus": state.free_cpus,
            "memory_bytes": state.free_bytes,
            "gpus": state.free_gpus,
        }
        found["shares"] = [_share_document(share) for share in state.shares]
    return found


def _share_document(share: HeldShare) -> dict[str, Any]:
    document: dict[str, Any] = {
        "cpus": share.cpus,
        "memory_bytes": share.memory_bytes,
        "gpus": share.gpus,
        "uid": share.uid,
    }
    return document | ({"pid": share.pid} if share.pid else {})


def steering_document(found: Iterable[KernelWorkStatus]) -> dict[str, Any]:
    """What was steered, by kind."""
    return {
        one.kind: {"moved": one.moved, "refused": one.refused, "drifted": one.drifted}
        | ({"lapsed": one.lapsed} if one.lapsed else {})
        for one in found
    }
