"""CPUs of interrupts and of kernel work queues, and interleave weights of nodes.

Interfaces: ``Documentation/core-api/irq/irq-affinity.rst``, ``core-api/workqueue.rst``,
``ABI/testing/sysfs-kernel-mm-mempolicy-weighted-interleave``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from assay.errors import InvalidInputError
from assay.machine.cpulist import format_list, parse_list, parse_mask, show_numbers
from assay.machine.document import Machine
from assay.machine.tunables import (
    INTERLEAVE,
    IRQS,
    WORKQUEUES,
    current_value,
    find_writable,
    matching,
)
from assay.machine.value_formats import format_mask
from assay.records import AnyText, WriteFile
from assay.settings.system.derived_setting import DerivedSetting, Writes

_CPUS = AnyText("a list of CPUs, such as 0-1,8")
_WEIGHTS = AnyText("a weight (1 to 255) for each node in turn, such as 3:1")


def _cpus(text: str, machine: Machine) -> tuple[int, ...] | str:
    cpus = parse_list(text)
    here = {cpu.id for cpu in machine.cpus}
    if not cpus:
        raise InvalidInputError("the list of CPUs is empty")
    if not set(cpus) <= here:
        return f"this machine has only {show_numbers('CPU', here)}"
    return cpus


def _interrupts(text: str, machine: Machine) -> Writes | str:
    cpus = _cpus(text, machine)
    if isinstance(cpus, str):
        return cpus
    files = interrupt_files(machine)
    return affinity_writes(files, cpus) if files else f"this machine has no interrupts in {IRQS}"


def _workqueues(text: str, machine: Machine) -> Writes | str:
    cpus = _cpus(text, machine)
    if isinstance(cpus, str):
        return cpus
    files = workqueue_files(machine)
    return affinity_writes(files, cpus) if files else f"this machine has no {WORKQUEUES}/cpumask"


def interrupt_files(machine: Machine) -> tuple[str, ...]:
    """Return the affinity files of all interrupts and of new ones, if there are any."""
    numbers = machine.system_files.get(IRQS, "").split()
    usual = f"{IRQS}/default_smp_affinity"
    each = [f"{IRQS}/{number}/smp_affinity_list" for number in sorted(numbers, key=int)]
    return (*each, *([usual] if each and usual in machine.system_files else []))


def workqueue_files(machine: Machine) -> tuple[str, ...]:
    """Return the CPU masks of unbound work queues: the common one, then one per queue."""
    usual = f"{WORKQUEUES}/cpumask"
    if usual not in machine.system_files:
        return ()
    return (usual, *matching(machine.system_files, f"{WORKQUEUES}/*/cpumask"))


def affinity_writes(paths: Iterable[str], cpus: tuple[int, ...]) -> Writes:
    """Return writes of the same CPUs into each file, in its format."""
    found = []
    for path in paths:
        tunable = find_writable(path)
        if tunable is not None and tunable.form == "mask":
            found.append(WriteFile(path=path, value=format_mask(cpus), form="mask"))
        else:
            found.append(WriteFile(path=path, value=format_list(cpus), form="cpulist"))
    return tuple(found)


def _weights(text: str, machine: Machine) -> Writes | str:
    words = text.split(":")
    if not all(
        re.fullmatch("[0-9]{1,3}", word, re.ASCII) and 0 < int(word) < 256 for word in words
    ):
        raise InvalidInputError("invalid weights")
    paths = matching(machine.system_files, f"{INTERLEAVE}/node#")
    if not paths:
        return f"this machine has no {INTERLEAVE}: it needs Linux 6.9"
    if len(words) != len(paths):
        return (
            f"this machine has {len(paths)} nodes with a weight, but {len(words)} weights are given"
        )
    automatic = tuple(
        path
        for path in (f"{INTERLEAVE}/auto", f"{INTERLEAVE}/__auto_type")
        if path in machine.system_files
    )
    return tuple(
        WriteFile(path=path, value=word, form="number", resets=automatic, tries=True)
        for path, word in zip(paths, words, strict=True)
    )


def _cpus_now(path: str) -> Callable[[Machine], str | None]:
    def current(machine: Machine) -> str | None:
        text = machine.system_files.get(path)
        try:
            return None if text is None else format_list(parse_mask(text))
        except InvalidInputError:
            return None

    return current


def _weights_now(machine: Machine) -> str | None:
    paths = matching(machine.system_files, f"{INTERLEAVE}/node#")
    found = [current_value(machine.system_files, path) or "?" for path in paths]
    return ":".join(found) or None


PLACEMENT_SETTINGS: tuple[DerivedSetting, ...] = (
    DerivedSetting(
        "irq.cpus",
        "CPUs that handle interrupts",
        _CPUS,
        (f"{IRQS}/",),
        _interrupts,
        _cpus_now(f"{IRQS}/default_smp_affinity"),
        note="interrupts managed by their drivers do not move; irqbalance would move the others"
        " back",
    ),
    DerivedSetting(
        "workqueue.cpus",
        "CPUs that run unbound kernel work",
        _CPUS,
        (f"{WORKQUEUES}/",),
        _workqueues,
        _cpus_now(f"{WORKQUEUES}/cpumask"),
    ),
    DerivedSetting(
        "numa.weights",
        "pages per node in each turn with mem.policy=weighted",
        _WEIGHTS,
        (f"{INTERLEAVE}/",),
        _weights,
        _weights_now,
        note="applies to new pages of all programs; existing pages do not move",
    ),
)
