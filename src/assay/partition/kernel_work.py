"""Kernel work: interrupts, work queues and kernel threads are moved off partition CPUs.

Targets that never used these CPUs remain unchanged. Others keep the rest of their CPUs, or get all
other CPUs if none remain.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Literal

from assay.errors import InvalidInputError
from assay.host import irqbalance
from assay.host.host import Host
from assay.host.threads import kernel_threads
from assay.machine.cpulist import parse_list, parse_mask
from assay.machine.document import Machine
from assay.machine.tunables import IRQS, WORKQUEUES, find_tunable
from assay.partition.initial_state import InitialState
from assay.records.action import HostAction, IrqBalance, TaskAffinity, WriteFile
from assay.settings.system.affinity import affinity_writes, interrupt_files, workqueue_files

KernelWorkKind = Literal["balancer", "interrupts", "workqueues", "threads"]


def kernel_work_kind(action: HostAction) -> KernelWorkKind | None:
    """Return the kind of kernel work that an action moves; ``None`` for other actions.

    A partition is active even if such an action fails.
    """
    match action:
        case TaskAffinity():
            return "threads"
        case IrqBalance():
            return "balancer"
        case WriteFile(path=path) if path.startswith(f"{IRQS}/"):
            return "interrupts"
        case WriteFile(path=path) if path.startswith(f"{WORKQUEUES}/"):
            return "workqueues"
        case _:
            return None


def kernel_work_actions(
    host: Host, before: InitialState, reserved: Collection[int], machine: Machine
) -> tuple[HostAction, ...]:
    """Return the actions that move kernel work off CPUs.

    Args:
        host: host of the threads.
        before: affinities before any partition was created.
        reserved: CPUs of all partitions.
        machine: description of the host.
    """
    if not reserved:
        return ()
    online = [cpu.id for cpu in machine.cpus]
    return (
        *_balancer(before, reserved),
        *_files(interrupt_files(machine), before, reserved, online),
        *_files(workqueue_files(machine), before, reserved, online),
        *_threads(host, before, reserved, online),
    )


def _files(
    paths: Iterable[str], before: InitialState, reserved: Collection[int], online: Collection[int]
) -> Iterator[HostAction]:
    for path in paths:
        cpus = _cpus_in(path, before.read(path))
        if not set(cpus) & set(reserved):
            continue
        others = set(online) - set(reserved)
        yield from affinity_writes([path], tuple(sorted(set(cpus) & others or others)))


def _balancer(before: InitialState, reserved: Collection[int]) -> Iterator[HostAction]:
    """Yield the action for irqbalance, which comes first: it would move interrupts back."""
    found = before.read(IrqBalance(cpus=()).path)
    if found is not None:
        own = () if found == irqbalance.NONE else parse_list(found)
        yield IrqBalance(cpus=tuple(sorted({*own, *reserved})))


def _threads(
    host: Host, before: InitialState, reserved: Collection[int], online: Collection[int]
) -> Iterator[HostAction]:
    """Yield actions for kernel threads that may be moved and have other CPUs."""
    for thread in kernel_threads(host):
        if thread.bound:
            continue
        path = TaskAffinity(tid=thread.tid, started=thread.started, cpus=()).path
        cpus = set(parse_list(before.read(path) or ""))
        rest = cpus - set(reserved)
        if rest & set(online) and rest != cpus:
            yield TaskAffinity(tid=thread.tid, started=thread.started, cpus=tuple(sorted(rest)))


def _cpus_in(path: str, text: str | None) -> tuple[int, ...]:
    tunable = find_tunable(path)
    if text is None or tunable is None:
        return ()
    try:
        return parse_mask(text) if tunable.form == "mask" else parse_list(text)
    except InvalidInputError:
        return ()
