"""Checks of isolated CPUs: remaining activity, and consistency of the configuration.

Interfaces: ``Documentation/admin-guide/kernel-parameters.txt`` (``isolcpus``, ``nohz_full``,
``rcu_nocbs``, ``irqaffinity``), ``core-api/housekeeping.rst``, ``admin-guide/cgroup-v2.rst``
(``cpuset.cpus.partition``), ``admin-guide/cgroup-v1/cpusets.rst``,
``core-api/irq/irq-affinity.rst``, ``core-api/workqueue.rst``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay.errors import InvalidInputError
from assay.machine.boot import argument_name
from assay.machine.cgroup import load_balance_files, unified_folders
from assay.machine.checks.boot_lists import cpus_of, flags_of, values_of
from assay.machine.checks.check_types import (
    Check,
    Measurement,
    NumberCheck,
    RuleCheck,
    RuleResult,
    WordCheck,
)
from assay.machine.checks.finding import Remedy, Right, UnreadableError
from assay.machine.checks.host import CPU, Host
from assay.machine.checks.remedies import boot_remedy, root_remedy
from assay.machine.cpulist import format_list
from assay.machine.processor import boot_arguments
from assay.machine.root import Root
from assay.machine.value_formats import format_mask

_WORKQUEUES = "/sys/devices/virtual/workqueue"
_IRQS = "/proc/irq"
_LISTS = ("isolcpus", "nohz_full", "rcu_nocbs", "irqaffinity")
_MAX_GROUPS = 4096
"""Maximum number of control groups that are searched for partitions, to bound the time."""


def _isolated(host: Host) -> frozenset[int]:
    """Return the CPUs without load balancing: by ``isolcpus=``, and by cpuset partitions.

    ``cpuset.cpus.isolated`` was added in Linux 6.8, in the root group only; before, only the
    partitions themselves show it.
    """
    found = host.cpus(f"{CPU}/isolated")
    folders = unified_folders(host.root)
    if not folders:
        return found
    live = f"{folders[-1]}/cpuset.cpus.isolated"
    if host.root.exists(live):
        return found | host.cpus(live)
    for path in _partition_files(host, folders[-1]):
        if host.root.read_text(path) == "isolated":
            found |= host.cpus(f"{path.rpartition('/')[0]}/cpuset.cpus.effective")
    return found


def _housekeeping_cpus(host: Host, isolated: frozenset[int]) -> frozenset[int]:
    """Return the online CPUs for all other activity."""
    return host.cpus(f"{CPU}/online") - isolated


def _boot_words(host: Host) -> Sequence[str]:
    host.text("/proc/cmdline")
    return boot_arguments(host.root)


def _last(host: Host) -> int:
    return max(host.cpus(f"{CPU}/possible"), default=0)


@dataclass(frozen=True)
class BootLists:
    """CPU lists of the command line.

    Attributes:
        cpus: CPUs by argument.
        domain: CPUs that ``isolcpus=`` excludes from load balancing.
        managed: CPUs that it excludes from managed interrupts.
        mistakes: errors in the lists.
    """

    cpus: dict[str, frozenset[int]]
    domain: frozenset[int]
    managed: frozenset[int]
    mistakes: tuple[str, ...]


def boot_lists(host: Host) -> BootLists:
    """Return the CPU lists of the command line.

    Raises:
        UnreadableError: the command line cannot be read.
    """
    words, last = _boot_words(host), _last(host)
    cpus: dict[str, frozenset[int]] = {}
    mistakes: list[str] = []
    domain: frozenset[int] = frozenset()
    managed: frozenset[int] = frozenset()
    for name in _LISTS:
        values = [value for value in values_of(name, words) if value]
        if len(set(values)) > 1:
            mistakes.append(f"{name}= occurs {len(values)} times, with different CPUs")
        for value in values:
            try:
                named = cpus_of(value, last)
            except InvalidInputError:
                mistakes.append(f"{name}={value} is not a list of CPUs")
                continue
            cpus[name] = cpus.get(name, frozenset()) | named
            if name == "isolcpus" and "domain" in flags_of(value):
                domain |= named
            if name == "isolcpus" and "managed_irq" in flags_of(value):
                managed |= named
    return BootLists(cpus, domain, managed, tuple(mistakes))


def _cmdline(host: Host) -> RuleResult:
    """Check that the isolation arguments are consistent, and the kernel accepted them."""
    words = _boot_words(host)
    lists = boot_lists(host)
    given = [w for w in words if argument_name(w) in (*_LISTS, "nohz")]
    mistakes = [*lists.mistakes, *_contradictions(host, lists)]
    if "nohz_full" in lists.cpus and "off" in values_of("nohz", words):
        mistakes.append("nohz=off disables nohz_full=")
    if mistakes:
        text = "Correct in the boot loader's configuration, and reboot: " + " ".join(given)
        return RuleResult(f"{'; '.join(mistakes)} (/proc/cmdline)", Remedy(text, Right.REBOOT))
    return RuleResult(f"{' '.join(given) or 'isolates no CPU'} (/proc/cmdline)")


def _contradictions(host: Host, lists: BootLists) -> Iterator[str]:
    possible = host.cpus(f"{CPU}/possible")
    for name, cpus in lists.cpus.items():
        if cpus - possible:
            has = format_list(possible)
            yield f"{name}= names {format_list(cpus - possible)}, but this machine has only {has}"
    kept = frozenset().union(*(lists.cpus.get(name, ()) for name in ("isolcpus", "nohz_full")))
    both = lists.cpus.get("irqaffinity", frozenset()) & kept
    if both:
        yield f"irqaffinity= sends interrupts to {format_list(both)}, which other arguments isolate"
    if possible and kept >= possible:
        yield "no CPU remains for all other activity"
    ignored = (lists.domain & possible) - host.cpus(f"{CPU}/isolated")
    if ignored:
        yield f"the kernel does not isolate {format_list(ignored)} of isolcpus="
    wanted = lists.cpus.get("nohz_full", frozenset()) & possible
    # Without CONFIG_NO_HZ_FULL the file is missing, and the kernel ignores the argument.
    if wanted and not host.optional_cpus(f"{CPU}/nohz_full"):
        yield "this kernel does not support nohz_full= (CONFIG_NO_HZ_FULL)"


def _cpus(host: Host) -> Measurement:
    isolated = _isolated(host)
    shown = format_list(isolated) or "none"
    return Measurement(len(isolated), f"isolated: {shown} ({CPU}/isolated)")


def _more_isolated(bound: float, _: Host) -> Remedy:
    return boot_remedy(
        "isolcpus=managed_irq,domain,LIST nohz_full=LIST",
        f"LIST is {bound:g} or more CPUs: whole cores, without CPU 0.",
    )


def _nohz_full(host: Host) -> RuleResult:
    """Check that CPUs without a tick are isolated: other tasks would restart the tick."""
    full = host.cpus(f"{CPU}/nohz_full")
    bare = full - _isolated(host)
    if bare:
        text = f"nohz_full {format_list(full)}, of which {format_list(bare)} is not isolated"
        return RuleResult(
            f"{text} ({CPU}/nohz_full)", boot_remedy(f"isolcpus=domain,{format_list(full)}")
        )
    return RuleResult(f"nohz_full: {format_list(full) or 'none'} ({CPU}/nohz_full)")


def _rcu_nocbs(host: Host) -> RuleResult:
    """Check that RCU callbacks do not run on isolated CPUs, which ``nohz_full=`` implies."""
    isolated = _isolated(host)
    if not isolated:
        return _nothing_isolated()
    named = boot_lists(host).cpus
    free = named.get("rcu_nocbs", frozenset()) | named.get("nohz_full", frozenset())
    bare = isolated - free
    if bare:
        text = f"isolated {format_list(bare)} without rcu_nocbs= or nohz_full= (/proc/cmdline)"
        return RuleResult(text, boot_remedy(f"rcu_nocbs={format_list(isolated)}"))
    return RuleResult(
        f"isolated {format_list(isolated)}, RCU callbacks on other CPUs (/proc/cmdline)"
    )


def _online(host: Host) -> RuleResult:
    """Check that all isolated CPUs are online."""
    online = host.cpus(f"{CPU}/online")
    off = (_isolated(host) | host.optional_cpus(f"{CPU}/nohz_full")) - online
    if off:
        command = f"for cpu in {' '.join(map(str, sorted(off)))}; do "
        command += f"echo 1 > {CPU}/cpu$cpu/online; done"
        text = f"isolated but offline: {format_list(off)} ({CPU}/online)"
        return RuleResult(text, root_remedy(command))
    return RuleResult(f"online: {format_list(online)} ({CPU}/online)")


def _partitions(host: Host) -> RuleResult:
    """Check that the configured partitions of control groups are active."""
    folders = unified_folders(host.root)
    if not folders:
        raise UnreadableError("no control groups of version 2 are mounted (/proc/self/mountinfo)")
    found = {path: host.text(path) for path in _partition_files(host, folders[-1])}
    if not found and not host.root.live:
        raise host.unread(f"{folders[-1]}/*/cpuset.cpus.partition")
    for path, text in found.items():
        if text.partition(" ")[0] not in ("member", "root", "isolated"):
            raise host.unread(path, f"contains an unknown state: {text[:40]!r}")
    broken = {path: text for path, text in found.items() if "invalid" in text}
    for path, text in broken.items():
        folder = path.rpartition("/")[0]
        note = f"First assign CPUs to {folder} that no sibling group uses."
        # Writing the same word again has no effect (tested on Linux 6.1).
        command = f"echo member > {path}; echo {text.split()[0]} > {path}"
        return RuleResult(f"{text} ({path})", root_remedy(command, note=note))
    active = [path for path, text in found.items() if text in ("root", "isolated")]
    return RuleResult(f"active partitions: {len(active)} (below {folders[-1]})")


def _balance(host: Host) -> RuleResult:
    """Check that the scheduler moves threads from busy to idle CPUs in this process's cpuset.

    Without it, all threads of a program stay on the CPU on which the program began. Tools that make
    exclusive cpusets clear the flag of the root, and leave it so when they are killed.
    """
    if ":" not in host.text("/proc/self/cgroup"):
        raise host.unread("/proc/self/cgroup", "names no control group")
    files = load_balance_files(host.root)
    if not files:
        return RuleResult("no cpuset of version 1 disables load balancing (/proc/self/cgroup)")
    for path in files:
        if host.number(path):
            return RuleResult(f"enabled ({path})")
    return RuleResult(
        f"disabled: threads stay on the CPU on which they begin ({files[0]})",
        root_remedy(f"echo 1 > {files[0]}"),
    )


def _partition_files(host: Host, top: str) -> Iterator[str]:
    folders = [top]
    for _ in range(_MAX_GROUPS):
        if not folders:
            return
        folder = folders.pop()
        names = host.root.listdir(folder)
        if "cpuset.cpus.partition" in names:
            yield f"{folder}/cpuset.cpus.partition"
        # Files of control groups have a dot in their names, groups rarely do.
        folders.extend(
            f"{folder}/{name}" for name in names if _is_folder(host.root, f"{folder}/{name}")
        )


def _is_folder(root: Root, path: str) -> bool:
    place = root.on_host(path)
    return place is not None and place.is_dir()


def _irqs(host: Host) -> RuleResult:
    """Check that no interrupts are routed to isolated CPUs."""
    isolated = _isolated(host)
    if not isolated:
        return _nothing_isolated()
    wrong = [number for number in host.names(_IRQS, r"\d+") if _irq_cpus(host, number) & isolated]
    default = f"{_IRQS}/default_smp_affinity"
    new = host.mask(default) & isolated if host.root.exists(default) else frozenset()
    if not wrong and not new:
        return RuleResult(
            f"no interrupt on {format_list(isolated)} ({_IRQS}/*/effective_affinity_list)"
        )
    others = _housekeeping_cpus(host, isolated)
    parts = (
        [f"IRQ {format_list(map(int, wrong))} may be routed to {format_list(isolated)}"]
        if wrong
        else []
    )
    parts += ["new interrupts may be too (default_smp_affinity)"] if new else []
    listed = format_list(others)
    command = f"for irq in {_IRQS}/*/smp_affinity_list; do echo {listed} > $irq; done; "
    command += f"echo {format_mask(others)} > {default}"
    note = (
        "If writing fails with EIO, the driver manages the interrupt: only isolcpus=managed_irq"
        " moves it."
    )
    evidence = f"{'; '.join(parts)} ({_IRQS}/*/effective_affinity_list)"
    return RuleResult(evidence, root_remedy(command, f"irq.cpus={listed}", note))


def _irq_cpus(host: Host, number: str) -> frozenset[int]:
    """Return the CPUs of an interrupt; an empty set if no driver uses it.

    ``effective_affinity_list`` was added in Linux 4.13; it is empty until an interrupt is set up.
    """
    if host.root.read_text(f"/sys/kernel/irq/{number}/actions") == "":
        return frozenset()
    effective = f"{_IRQS}/{number}/effective_affinity_list"
    if host.root.read_text(effective):
        return host.cpus(effective)
    return host.cpus(f"{_IRQS}/{number}/smp_affinity_list")


def _workqueues(host: Host) -> RuleResult:
    """Check that no unbound kernel work runs on isolated CPUs."""
    isolated = _isolated(host)
    if not isolated:
        return _nothing_isolated()
    shared = f"{_WORKQUEUES}/cpumask"
    paths = [shared]
    for name in host.root.listdir(_WORKQUEUES):
        own = f"{_WORKQUEUES}/{name}/cpumask"
        paths += [own] if host.root.exists(own) else []
    # The common mask limits the mask of each queue, so it is checked first.
    allowed = host.mask(shared)
    wrong = [path for path in paths if host.mask(path) & allowed & isolated]
    if not wrong:
        return RuleResult(f"none on {format_list(isolated)} ({shared})")
    others = _housekeeping_cpus(host, isolated)
    command = "; ".join(f"echo {format_mask(others)} > {path}" for path in wrong)
    evidence = f"kernel work may run on {format_list(isolated)} ({', '.join(wrong)})"
    return RuleResult(evidence, root_remedy(command, f"workqueue.cpus={format_list(others)}"))


def _irqbalance(host: Host) -> dict[str, str]:
    runs = "irqbalance" in host.processes()
    return {"irqbalance": "running" if runs else "stopped"}


def _irqbalance_remedy(word: str, _: tuple[str, ...]) -> Remedy:
    return root_remedy(f"systemctl {'stop' if word == 'stopped' else 'start'} irqbalance")


def _nothing_isolated() -> RuleResult:
    return RuleResult(f"no CPU is isolated ({CPU}/isolated)")


CHECKS: tuple[Check, ...] = (
    RuleCheck("isolation.cmdline", "isolation arguments of the boot are consistent", _cmdline),
    NumberCheck("isolation.cpus", "CPUs without other activity", "", _cpus, _more_isolated),
    RuleCheck("isolation.nohz_full", "CPUs without a tick are isolated", _nohz_full),
    RuleCheck("isolation.rcu_nocbs", "no RCU callbacks on isolated CPUs", _rcu_nocbs),
    RuleCheck("isolation.online", "isolated CPUs are online", _online),
    RuleCheck("isolation.partition", "partitions of control groups are active", _partitions),
    RuleCheck("isolation.balance", "the scheduler balances load among other CPUs", _balance),
    RuleCheck("isolation.irqs", "no interrupts on isolated CPUs", _irqs),
    RuleCheck("isolation.workqueues", "no unbound kernel work on isolated CPUs", _workqueues),
    WordCheck(
        "isolation.irqbalance",
        "no daemon that moves interrupts",
        _irqbalance,
        _irqbalance_remedy,
        ("running", "stopped"),
    ),
)
