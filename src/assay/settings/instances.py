"""``instances``, ``instances.cores`` and ``instances.rank``: several of the program at once.

The recipe is that of ``torch.backends.xeon.run_cpu`` (``--ninstances``, ``--ncores-per-instance``,
``--throughput-mode``, ``--latency-mode``, ``--rank``, ``--skip-cross-node-cores``): a server that
answers from several processes, each on its own cores, often does more than one that has them all.

Interface: ``sched_setaffinity(2)`` for each instance; assay-exec starts all of them together.
Evidence: *seen*: the mask of each, read back after it had executed the program.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.machine.cpulist import format_list
from assay.machine.document import Cpu, Machine, Program
from assay.records import (
    Affinity,
    AnyText,
    Configuration,
    Domain,
    Grant,
    Instances,
    Level,
    MemPolicy,
    Plan,
    Range,
    RunFacts,
    Scope,
    Value,
)
from assay.settings.base import Refused, Resolved, Setting, Suggestion
from assay.settings.core_division import (
    CpuGroups,
    cores_by_node,
    count_cross_node,
    count_fitting,
    divide_cores,
    groups_by_node,
    max_cores_each,
)
from assay.settings.cpus import Cpus, Placement
from assay.settings.evidence import granted, refused, unread_reason, unverified
from assay.settings.per_core import ThreadsPerCore
from assay.settings.refusals import out_of_domain
from assay.units import show_count

COUNT = "instances"
CORES = "instances.cores"
RANK = "instances.rank"
THROUGHPUT = "throughput"
LATENCY = "latency"
LATENCY_CORES = 4
"""Of each instance, as in ``run_cpu --latency-mode``."""
_PLACEHOLDER = "arg.instance"


class InstanceCount(msgspec.Struct, frozen=True):
    """``instances``: how many, or one of two modes."""

    name: str = COUNT
    summary: str = "instances of the program at once: a count, throughput, latency"
    scope: Scope = Scope.PROCESS
    switch_cost_s: float = 0.0
    evidence: Level = Level.SEEN

    def domain(self, machine: Machine) -> Domain:
        """A count, or a mode; ``resolve`` says what is wrong with others."""
        return AnyText(f"a count from 1 to {len(machine.cores)}, throughput, or latency")

    def default(self, machine: Machine) -> Value | None:
        """One, which is no instance among others: it is kept to no cores."""
        return 1

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """Never unasked: several do several times the work."""
        return "several instances do several times the work: name it, and a metric that shows it"

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """A share of the cores for each instance."""
        if _is_one(config[self.name]) and CORES not in config and RANK not in config:
            return Resolved((), note="one, as without it")
        return _resolved(config, machine)

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """By the masks of the instances."""
        if _is_one(config[self.name]) and not plan.instances:
            return granted(1, Level.SEEN, "one instance")
        return _judge(config[self.name], facts, plan)


class CoresPerInstance(msgspec.Struct, frozen=True):
    """``instances.cores``: how many cores each has."""

    name: str = CORES
    summary: str = "cores of each instance; alone it starts as many as fit"
    scope: Scope = Scope.PROCESS
    switch_cost_s: float = 0.0
    evidence: Level = Level.SEEN

    def domain(self, machine: Machine) -> Domain:
        """From one to all cores."""
        return Range(1, max(1, len(machine.cores)), step=1)

    def default(self, machine: Machine) -> Value | None:
        """Left to ``instances``."""
        return None

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """Belongs to ``instances``."""
        return "goes with instances"

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Part of ``instances``; alone, as many instances as fit."""
        if COUNT in config:
            return Resolved((), note="sets how many cores each of the instances has")
        return _resolved(config, machine)

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """By the masks of the instances."""
        return _judge(config[self.name], facts, plan)


class InstanceRank(msgspec.Struct, frozen=True):
    """``instances.rank``: one of them alone."""

    name: str = RANK
    summary: str = "start only this one of the instances, from 0 on, on the cores it would have"
    scope: Scope = Scope.PROCESS
    switch_cost_s: float = 0.0
    evidence: Level = Level.SEEN

    def domain(self, machine: Machine) -> Domain:
        """Any of as many as there can be."""
        return Range(0, max(1, len(machine.cores) - 1), step=1)

    def default(self, machine: Machine) -> Value | None:
        """All of them."""
        return None

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """Belongs to ``instances``."""
        return "goes with instances"

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Part of ``instances``."""
        if COUNT in config or CORES in config:
            return Resolved((), note="sets which of the instances is started")
        return Refused(
            "it chooses one of several instances, and there are none", "Give instances as well."
        )

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """By the mask of the one."""
        if not plan.instances:
            return unverified(config[self.name], "the plan starts no instances")
        return _judge(config[self.name], facts, plan)


INSTANCES: tuple[Setting, ...] = (InstanceCount(), CoresPerInstance(), InstanceRank())


def _resolved(config: Configuration, machine: Machine) -> Resolved | Refused:
    if _PLACEHOLDER in config:
        return Refused(
            f"{_PLACEHOLDER} and instances both fill {{instance}}",
            "Give the placeholder another name.",
        )
    if config.get("sched") == "deadline":
        return Refused(
            "sched=deadline needs all CPUs of the machine, and instances share them out",
            "Take another class.",
        )
    cpus = _left(config, machine)
    groups = _groups(config, cpus)
    if isinstance(groups, Refused):
        return groups
    rank = config.get(RANK)
    if rank is not None and not (_is_count(rank) and 0 <= int(rank) < len(groups)):
        there = show_count(len(groups), "instance")
        return Refused(
            f"{RANK} cannot be {rank!r}: there is {there}"
            if len(groups) == 1
            else f"{RANK} cannot be {rank!r}: there are {there}",
            f"Give 0 to {len(groups) - 1}." if len(groups) > 1 else "Leave it out.",
        )
    own = Instances(cpus=groups, rank=None if rank is None else int(rank))
    # One node has no other memory; a policy that the user names stands.
    local = len(machine.nodes) > 1 and "mem.policy" not in config
    actions = (own, MemPolicy(mode="local")) if local else (own,)
    crossed = count_cross_node(cpus, groups)
    if crossed:
        these = show_count(crossed, "instance has", "instances have")
        return Resolved(actions, degraded=f"{these} cores of several NUMA nodes: no node has more")
    return Resolved(actions, note=_told(cpus, groups))


def _left(config: Configuration, machine: Machine) -> tuple[Cpu, ...]:
    """The CPUs that the other settings leave; all where one of them is refused itself."""
    taken: set[int] = set()
    settings: tuple[Setting, ...] = (Cpus(), Placement(), ThreadsPerCore())
    for setting in settings:
        if setting.name in config:
            answer = setting.resolve(config, machine)
            actions = answer.actions if isinstance(answer, Resolved) else ()
            taken.update(cpu for a in actions if isinstance(a, Affinity) for cpu in a.cpus)
    return tuple(cpu for cpu in machine.usable if not taken or cpu.id in taken)


def _groups(config: Configuration, cpus: Sequence[Cpu]) -> CpuGroups | Refused:
    count, cores = config.get(COUNT), config.get(CORES)
    sizes = cores_by_node(cpus)
    total = sum(sizes.values())
    if cores is not None and not (_is_count(cores) and 1 <= int(cores) <= total):
        return Refused(
            f"{CORES} cannot be {cores!r}: {show_count(total, 'core')} may be used",
            f"Give 1 to {total}." if total > 1 else "Give 1.",
        )
    size = None if cores is None else int(cores)
    if count == THROUGHPUT:
        least = min(sizes.values())
        if size is not None and size > least:
            return Refused(
                f"a NUMA node has {show_count(least, 'core')}, and {CORES} is {size}",
                f"Give at most {least}, or a count of instances.",
            )
        return groups_by_node(cpus, size)
    if count == LATENCY or count is None:
        return _as_many(cpus, LATENCY_CORES if size is None else size, total)
    if not _is_count(count) or int(count) < 1:
        return out_of_domain(
            COUNT, count, AnyText(f"a count from 1 to {total}, throughput, latency")
        )
    return _counted(cpus, int(count), size, total)


def _as_many(cpus: Sequence[Cpu], size: int, total: int) -> CpuGroups | Refused:
    if size > total:
        return Refused(
            f"{show_count(total, 'core')} may be used, and each instance would take {size}",
            f"Give {CORES}: how many cores each is to have.",
        )
    return divide_cores(cpus, count_fitting(cpus, size) or 1, size)


def _counted(cpus: Sequence[Cpu], count: int, size: int | None, total: int) -> CpuGroups | Refused:
    if count * (size or 1) > total:
        each = "" if size is None else f" of {show_count(size, 'core')} each"
        return Refused(
            f"{show_count(count, 'instance')}{each} cannot have cores of their own: "
            f"{show_count(total, 'core')} may be used",
            f"Give at most {total // (size or 1)}.",
        )
    return divide_cores(cpus, count, size or max_cores_each(cpus, count))


def _told(cpus: Sequence[Cpu], groups: CpuGroups) -> str:
    """Which CPUs each has, and how many cores are left over."""
    used = {number for group in groups for number in group}
    idle = len({cpu.core for cpu in cpus if cpu.id not in used})
    shown = " | ".join(format_list(group) for group in groups[:_SHOWN])
    more = f" | and {len(groups) - _SHOWN} more" if len(groups) > _SHOWN else ""
    left = f"; {show_count(idle, 'core stays', 'cores stay')} idle" if idle else ""
    return f"on CPUs {shown}{more}{left}"


_SHOWN = 8


def _is_one(value: Value) -> bool:
    return _is_count(value) and value == 1


def _is_count(value: Value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _judge(value: Value, facts: RunFacts, plan: Plan) -> Grant:
    """Hold the masks that were read back against those that were to be."""
    asked = plan.instances
    masks = [one.cpus for one in facts.instances]
    if len(masks) != len(asked) or None in masks:
        return unverified(value, unread_reason(facts, "instances"))
    shown = " | ".join(format_list(mask or ()) for mask in masks[:_SHOWN])
    observed = f"{show_count(len(masks), 'instance')} on {shown}"
    observed += f" | and {len(masks) - _SHOWN} more" if len(masks) > _SHOWN else ""
    for (number, cpus), mask in zip(asked, masks, strict=True):
        if mask != cpus:
            wanted = f"instance {number} was to have {format_list(cpus)}"
            return refused(value, Level.SEEN, wanted, observed)
    return granted(value, Level.SEEN, observed)
