"""Boot arguments that isolate CPUs from activity which cannot be moved after the boot.

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
    """A boot argument.

    Attributes:
        text: argument as the boot loader takes it.
        reason: activity that it removes.
    """

    text: str
    reason: str


def missing_arguments(
    cpus: Collection[int], root: Root, other_reserved: Collection[int] = ()
) -> tuple[BootArgument, ...]:
    """Return the missing boot arguments of reserved CPUs.

    Args:
        cpus: numbers of the reserved CPUs.
        root: root of the host; the result is empty if its command line cannot be read.
        other_reserved: other reserved CPUs, since one argument names all of them.
    """
    host = Host(root)
    try:
        lists = boot_lists(host)
    except UnreadableError:
        return ()
    isolated, found = frozenset(cpus), []
    listed = format_list(isolated.union(other_reserved))
    if isolated - lists.cpus.get("nohz_full", frozenset()):
        if root.exists(f"{CPU}/nohz_full"):
            reason = "no tick while one program runs, and no RCU callbacks"
            found.append(BootArgument(f"nohz_full={listed}", reason))
        elif isolated - lists.cpus.get("rcu_nocbs", frozenset()):
            reason = "no RCU callbacks; this kernel cannot stop the tick (CONFIG_NO_HZ_FULL)"
            found.append(BootArgument(f"rcu_nocbs={listed}", reason))
    if isolated - lists.managed:
        reason = "no interrupts that their drivers manage"
        found.append(BootArgument(f"isolcpus=managed_irq,{listed}", reason))
    return tuple(found)
