"""Where the kernel works: CPUs of interrupts and of its work queues, and weights of nodes.

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

_CPUS = AnyText("a list of CPUs, as 0-1,8")
_WEIGHTS = AnyText("a weight (1 to 255) for each node in turn, as 3:1")


def _cpus(text: str, machine: Machine) -> tuple[int, ...] | str:
    cpus = parse_list(text)
    here = {cpu.id for cpu in machine.cpus}
    if not cpus:
        raise InvalidInputError("no CPU")
    if not set(cpus) <= here:
        return f"this machine has {show_numbers('CPU', here)} only"
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
    """The files that say where each interrupt goes, and where new ones will; none without any."""
    numbers = machine.system.get(IRQS, "").split()
    usual = f"{IRQS}/default_smp_affinity"
    each = [f"{IRQS}/{number}/smp_affinity_list" for number in sorted(numbers, key=int)]
    return (*each, *([usual] if each and usual in machine.system else []))


def workqueue_files(machine: Machine) -> tuple[str, ...]:
    """The files that say where work runs that belongs to no CPU: of all queues, then of each."""
    usual = f"{WORKQUEUES}/cpumask"
    if usual not in machine.system:
        return ()
    return (usual, *matching(machine.system, f"{WORKQUEUES}/*/cpumask"))


def affinity_writes(paths: Iterable[str], cpus: tuple[int, ...]) -> Writes:
    """The same CPUs for each of these files, as it reads them."""
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
        raise InvalidInputError("no weights")
    paths = matching(machine.system, f"{INTERLEAVE}/node#")
    if not paths:
        return f"this machine has no {INTERLEAVE}: Linux 6.9 has it"
    if len(words) != len(paths):
        return f"this machine has {len(paths)} nodes with a weight, and {len(words)} are given"
    automatic = tuple(
        path
        for path in (f"{INTERLEAVE}/auto", f"{INTERLEAVE}/__auto_type")
        if path in machine.system
    )
    return tuple(
        WriteFile(path=path, value=word, form="number", resets=automatic, tries=True)
        for path, word in zip(paths, words, strict=True)
    )


def _cpus_now(path: str) -> Callable[[Machine], str | None]:
    def current(machine: Machine) -> str | None:
        text = machine.system.get(path)
        try:
            return None if text is None else format_list(parse_mask(text))
        except InvalidInputError:
            return None

    return current


def _weights_now(machine: Machine) -> str | None:
    paths = matching(machine.system, f"{INTERLEAVE}/node#")
    found = [current_value(machine.system, path) or "?" for path in paths]
    return ":".join(found) or None


PLACEMENT_SETTINGS: tuple[DerivedSetting, ...] = (
    DerivedSetting(
        "irq.cpus",
        "CPUs that take interrupts",
        _CPUS,
        (f"{IRQS}/",),
        _interrupts,
        _cpus_now(f"{IRQS}/default_smp_affinity"),
        note="interrupts that their drivers manage stay; irqbalance would move them back",
    ),
    DerivedSetting(
        "workqueue.cpus",
        "CPUs on which the kernel does the work that belongs to none",
        _CPUS,
        (f"{WORKQUEUES}/",),
        _workqueues,
        _cpus_now(f"{WORKQUEUES}/cpumask"),
    ),
    DerivedSetting(
        "numa.weights",
        "how many pages each node gets in turn under mem.policy=weighted",
        _WEIGHTS,
        (f"{INTERLEAVE}/",),
        _weights,
        _weights_now,
        note="for all programs, from their next page on; pages that are there stay",
    ),
)
