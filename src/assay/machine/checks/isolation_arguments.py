"""Apart: boot arguments that keep from CPUs what nothing can keep from them later.

Interfaces: ``Documentation/admin-guide/kernel-parameters.txt`` (``nohz_full``, which implies
``rcu_nocbs``; ``isolcpus=managed_irq``), ``core-api/housekeeping.rst``.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from assay.machine.checks.finding import UnreadableError
from assay.machine.checks.host import CPU, Host
from assay.machine.checks.isolation import boot_lists
from assay.machine.cpulist import format_list
from assay.machine.root import Root


@dataclass(frozen=True)
class BootArgument:
    """One argument.

    Attributes:
        text: as the boot loader takes it.
        reason: what it keeps away.
    """

    text: str
    reason: str


def missing_arguments(
    cpus: Collection[int], root: Root, beside: Collection[int] = ()
) -> tuple[BootArgument, ...]:
    """The boot arguments that CPUs which were set apart lack.

    Args:
        cpus: numbers.
        root: of the host; nothing is said where its command line cannot be read.
        beside: others that were set apart: there is one argument of a kind, which names all.
    """
    host = Host(root)
    try:
        lists = boot_lists(host)
    except UnreadableError:
        return ()
    apart, found = frozenset(cpus), []
    listed = format_list(apart.union(beside))
    if apart - lists.cpus.get("nohz_full", frozenset()):
        if root.exists(f"{CPU}/nohz_full"):
            reason = "no tick while one program runs, and RCU callbacks elsewhere"
            found.append(BootArgument(f"nohz_full={listed}", reason))
        elif apart - lists.cpus.get("rcu_nocbs", frozenset()):
            reason = "RCU callbacks elsewhere; this kernel cannot stop the tick (CONFIG_NO_HZ_FULL)"
            found.append(BootArgument(f"rcu_nocbs={listed}", reason))
    if apart - lists.managed:
        reason = "interrupts that their drivers manage elsewhere"
        found.append(BootArgument(f"isolcpus=managed_irq,{listed}", reason))
    return tuple(found)
