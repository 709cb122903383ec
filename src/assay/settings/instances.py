"""``instances``, ``instances.cores``, ``instances.rank``: several instances of the program.

The recipe is that of ``torch.backends.xeon.run_cpu`` (``--ninstances``, ``--ncores-per-instance``,
``--throughput-mode``, ``--latency-mode``, ``--rank``, ``--skip-cross-node-cores``): a server with
several processes, each on separate cores, often has a higher throughput than one process on all
cores.

Interface: ``sched_setaffinity(2)`` for each instance; assay-exec starts all of them together.
Evidence: *seen*: the mask of each instance, read back after it executed the program.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from assay.machine.cpulist import format_list
from assay.machine.document import Cpu, Machine
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
    Value,
)
from assay.settings.base import BaseSetting, Refused, Resolved, Setting
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
"""Cores per instance, as in ``run_cpu --latency-mode``."""
_PLACEHOLDER = "arg.instance"


class InstanceCount(BaseSetting, frozen=True):
    """``instances``: number of instances, or one of two modes."""

    name: str = COUNT
    summary: str = "number of program instances at once: a count, throughput, latency"
    not_suggested: ClassVar[str] = (
        "several instances do several times the work; name it, with a metric that reflects that"
    )

    def domain(self, machine: Machine) -> Domain:
        """Return counts and modes; ``resolve`` reports invalid ones."""
        return AnyText(f"a count from 1 to {len(machine.cores)}, throughput, or latency")

    def default(self, machine: Machine) -> Value | None:
        """Return 1: a single instance is not restricted to cores."""
        return 1

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return the cores of each instance."""
        if _is_single(config[self.name]) and CORES not in config and RANK not in config:
            return Resolved((), note="one instance, as by default")
        return _resolved(config, machine)

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Judge by the masks of the instances."""
        if _is_single(config[self.name]) and not plan.instances:
            return granted(1, Level.SEEN, "one instance")
        return _judge(config[self.name], facts, plan)


class CoresPerInstance(BaseSetting, frozen=True):
    """``instances.cores``: number of cores per instance."""

    name: str = CORES
    summary: str = "cores per instance; without instances, as many instances as fit"
    not_suggested: ClassVar[str] = "it needs instances"

    def domain(self, machine: Machine) -> Domain:
        """Return the numbers from one to all cores."""
        return Range(1, max(1, len(machine.cores)), step=1)

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return a part of ``instances``; alone, as many instances as fit."""
        if COUNT in config:
            return Resolved((), note="sets the number of cores per instance")
        return _resolved(config, machine)

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Judge by the masks of the instances."""
        return _judge(config[self.name], facts, plan)


class InstanceRank(BaseSetting, frozen=True):
    """``instances.rank``: start a single instance."""

    name: str = RANK
    summary: str = "start only the instance with this number, from 0, on its own cores"
    not_suggested: ClassVar[str] = "it needs instances"

    def domain(self, machine: Machine) -> Domain:
        """Return the possible instance numbers."""
        return Range(0, max(1, len(machine.cores) - 1), step=1)

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return a part of ``instances``."""
        if COUNT in config or CORES in config:
            return Resolved((), note="selects the instance to start")
        return Refused(
            "it selects one of several instances, but instances is not set", "Add instances."
        )

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Judge by the mask of the instance."""
        if not plan.instances:
            return unverified(config[self.name], "the plan has no instances")
        return _judge(config[self.name], facts, plan)


INSTANCES: tuple[Setting, ...] = (InstanceCount(), CoresPerInstance(), InstanceRank())


def _resolved(config: Configuration, machine: Machine) -> Resolved | Refused:
    if _PLACEHOLDER in config:
        return Refused(
            f"{_PLACEHOLDER} and instances both replace {{instance}}",
            "Rename the placeholder.",
        )
    if config.get("sched") == "deadline":
        return Refused(
            "sched=deadline needs all CPUs of the machine, but instances divide them",
            "Use another scheduling class.",
        )
    cpus = _selected_cpus(config, machine)
    groups = _groups(config, cpus)
    if isinstance(groups, Refused):
        return groups
    rank = config.get(RANK)
    if rank is not None and not (_is_count(rank) and 0 <= int(rank) < len(groups)):
        number_text = show_count(len(groups), "instance")
        return Refused(
            f"invalid value: {RANK}={rank!r}; there is {number_text}"
            if len(groups) == 1
            else f"invalid value: {RANK}={rank!r}; there are {number_text}",
            f"Use 0 to {len(groups) - 1}." if len(groups) > 1 else "Remove it.",
        )
    own = Instances(cpus=groups, rank=None if rank is None else int(rank))
    # A single node has no remote memory; a policy of the user takes precedence.
    local = len(machine.nodes) > 1 and "mem.policy" not in config
    actions = (own, MemPolicy(mode="local")) if local else (own,)
    crossed = count_cross_node(cpus, groups)
    if crossed:
        these = show_count(crossed, "instance has", "instances have")
        return Resolved(
            actions, degraded=f"{these} cores of several NUMA nodes: no node has enough cores"
        )
    return Resolved(actions, note=_describe_groups(cpus, groups))


def _selected_cpus(config: Configuration, machine: Machine) -> tuple[Cpu, ...]:
    """Return the CPUs that the other settings select; all if one of them is refused."""
    selected: set[int] = set()
    settings: tuple[Setting, ...] = (Cpus(), Placement(), ThreadsPerCore())
    for setting in settings:
        if setting.name in config:
            answer = setting.resolve(config, machine)
            actions = answer.actions if isinstance(answer, Resolved) else ()
            selected.update(cpu for a in actions if isinstance(a, Affinity) for cpu in a.cpus)
    return tuple(cpu for cpu in machine.usable if not selected or cpu.id in selected)


def _groups(config: Configuration, cpus: Sequence[Cpu]) -> CpuGroups | Refused:
    count, cores = config.get(COUNT), config.get(CORES)
    sizes = cores_by_node(cpus)
    total = sum(sizes.values())
    if cores is not None and not (_is_count(cores) and 1 <= int(cores) <= total):
        return Refused(
            f"invalid value: {CORES}={cores!r}; {show_count(total, 'core')} usable",
            f"Use 1 to {total}." if total > 1 else "Use 1.",
        )
    size = None if cores is None else int(cores)
    if count == THROUGHPUT:
        least = min(sizes.values())
        if size is not None and size > least:
            return Refused(
                f"a NUMA node has {show_count(least, 'core')}, but {CORES} is {size}",
                f"Use at most {least}, or a count of instances.",
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
            f"{show_count(total, 'core')} usable, but each instance would need {size}",
            f"Set {CORES}, the number of cores per instance.",
        )
    return divide_cores(cpus, count_fitting(cpus, size) or 1, size)


def _counted(cpus: Sequence[Cpu], count: int, size: int | None, total: int) -> CpuGroups | Refused:
    if count * (size or 1) > total:
        each = "" if size is None else f" of {show_count(size, 'core')} each"
        return Refused(
            f"{show_count(count, 'instance')}{each} do not fit: {show_count(total, 'core')} usable",
            f"Use at most {total // (size or 1)}.",
        )
    return divide_cores(cpus, count, size or max_cores_each(cpus, count))


def _describe_groups(cpus: Sequence[Cpu], groups: CpuGroups) -> str:
    """Return the CPUs of each instance, and the number of idle cores."""
    used = {number for group in groups for number in group}
    idle = len({cpu.core for cpu in cpus if cpu.id not in used})
    shown = " | ".join(format_list(group) for group in groups[:_MAX_SHOWN_GROUPS])
    more = (
        f" | and {len(groups) - _MAX_SHOWN_GROUPS} more" if len(groups) > _MAX_SHOWN_GROUPS else ""
    )
    left = f"; {show_count(idle, 'core is', 'cores are')} idle" if idle else ""
    return f"on CPUs {shown}{more}{left}"


_MAX_SHOWN_GROUPS = 8


def _is_single(value: Value) -> bool:
    return _is_count(value) and value == 1


def _is_count(value: Value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _judge(value: Value, facts: RunFacts, plan: Plan) -> Grant:
    """Compare the masks that were read back with the planned ones."""
    planned = plan.instances
    masks = [instance.cpus for instance in facts.instances]
    if len(masks) != len(planned) or None in masks:
        return unverified(value, unread_reason(facts, "instances"))
    shown = " | ".join(format_list(mask or ()) for mask in masks[:_MAX_SHOWN_GROUPS])
    observed = f"{show_count(len(masks), 'instance')} on {shown}"
    observed += (
        f" | and {len(masks) - _MAX_SHOWN_GROUPS} more" if len(masks) > _MAX_SHOWN_GROUPS else ""
    )
    for (number, cpus), mask in zip(planned, masks, strict=True):
        if mask != cpus:
            wanted = f"instance {number} was planned on {format_list(cpus)}"
            return refused(value, Level.SEEN, wanted, observed)
    return granted(value, Level.SEEN, observed)
