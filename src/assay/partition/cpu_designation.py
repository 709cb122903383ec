"""Designation of the CPUs of a new partition. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from assay.errors import InvalidInputError, NotPossibleError
from assay.machine.cpulist import format_list, parse_list
from assay.machine.document import Cpu, Machine, Node
from assay.partition.cpu_choice import choose_cpus
from assay.partition.share_request import Amount, ShareRequest

AUTO = "auto"


@dataclass(frozen=True)
class CpuRequest:
    """Requested CPUs of a partition.

    Attributes:
        listed: list of CPUs, or ``auto``: all except one core of each socket.
        cores: number of cores instead, as close together as possible.
        partial: whether parts of cores are allowed.
    """

    listed: str | None = AUTO
    cores: int | None = None
    partial: bool = False


def designate_cpus(
    request: CpuRequest, machine: Machine, taken: Mapping[str, Iterable[int]]
) -> tuple[int, ...]:
    """Return the CPUs of a new partition, ascending.

    Args:
        request: requested CPUs.
        machine: description of the host.
        taken: CPUs of other partitions, by name.

    Raises:
        InvalidInputError: the CPUs do not exist, are parts of cores, or are all CPUs of the host.
        NotPossibleError: other partitions have them.
    """
    reserved = {cpu for cpus in taken.values() for cpu in cpus}
    if request.cores is not None:
        return _counted(request.cores, machine, reserved)
    if request.listed is None or request.listed == AUTO:
        found = [cpu.id for cpu in _automatic(machine, reserved)]
        if not found:
            raise NotPossibleError(
                "One core of each socket is reserved for the system, and no other core is free.",
                f"Choose CPUs with --cpus: this machine has {_online(machine)}; partitions use "
                f"{format_list(reserved) or 'none'}.",
            )
        return tuple(sorted(found))
    return _listed(request.listed, machine, taken, partial=request.partial)


def nodes_of(cpus: Iterable[int], machine: Machine) -> tuple[int, ...]:
    """Return the NUMA nodes that provide memory for these CPUs.

    These are the nodes of the CPUs, and nodes without CPUs whose nearest node is one of them. If
    none of these has memory, all nodes are returned.
    """
    own = set(cpus)
    homes = [node for node in machine.nodes if own & set(node.cpus)]
    near = [node for node in machine.nodes if not node.cpus and _nearest(node, machine) in homes]
    found = [node.id for node in (*homes, *near) if node.memory_bytes]
    return tuple(sorted(found)) or tuple(n.id for n in machine.nodes if n.memory_bytes) or (0,)


def _nearest(bare: Node, machine: Machine) -> Node | None:
    places = {node.id: place for place, node in enumerate(machine.nodes)}
    able = [node for node in machine.nodes if node.cpus]
    if len(bare.distances) != len(machine.nodes):
        return able[0] if able else None
    return min(able, key=lambda node: bare.distances[places[node.id]], default=None)


def _online(machine: Machine) -> str:
    return format_list(cpu.id for cpu in machine.cpus)


def _automatic(machine: Machine, reserved: set[int]) -> list[Cpu]:
    """Return all CPUs except the first core of each socket and cores of other partitions."""
    first: dict[int, int] = {}
    for cpu in machine.cpus:
        first.setdefault(cpu.package, cpu.core)
    return [
        cpu
        for cpu in machine.cpus
        if cpu.core != first[cpu.package] and not reserved & set(cpu.siblings)
    ]


def _counted(cores: int, machine: Machine, reserved: set[int]) -> tuple[int, ...]:
    able = _automatic(machine, reserved)
    left = len({cpu.core for cpu in able})
    if cores < 1:
        raise InvalidInputError(f"--cores {cores}: too few.", "Request at least one.")
    if not 0 < cores <= left:
        raise (NotPossibleError if reserved else InvalidInputError)(
            f"--cores {cores}: one core of each socket is reserved for the system, and {left} "
            f"{'is' if left == 1 else 'are'} left.",
            "Request at most that number, or choose CPUs with --cpus.",
        )
    return choose_cpus(
        ShareRequest(cores=Amount(number=cores)), able, {cpu.id for cpu in able}
    ).cpus


def _listed(
    text: str, machine: Machine, taken: Mapping[str, Iterable[int]], *, partial: bool
) -> tuple[int, ...]:
    requested = parse_list(text)
    if not requested:
        raise InvalidInputError("--cpus names no CPU.", "Examples: --cpus 2-7, --cpus auto.")
    by_id = {cpu.id: cpu for cpu in machine.cpus}
    foreign = [cpu for cpu in requested if cpu not in by_id]
    if foreign:
        raise InvalidInputError(
            f"CPU {format_list(foreign)} is not online: this machine has {_online(machine)}.",
            "Choose others, or bring it online.",
        )
    for name, cpus in taken.items():
        both = set(cpus) & set(requested)
        if both:
            raise NotPossibleError(
                f"CPU {format_list(both)} belongs to the partition {name}.",
                "Choose others: see `assay partition list`.",
            )
    if not partial:
        _demand_whole_cores([by_id[cpu] for cpu in requested])
    reserved = {cpu for cpus in taken.values() for cpu in cpus}
    rest = by_id.keys() - reserved - set(requested)
    if not rest:
        raise InvalidInputError(
            f"--cpus {text} leaves no CPU for the system.",
            "Omit a core; --cpus auto omits one of each socket.",
        )
    return requested


def _demand_whole_cores(requested: Sequence[Cpu]) -> None:
    """Refuse parts of cores: a program on the other part would slow them down.

    Raises:
        InvalidInputError: a core is incomplete; the message names the first CPU.
    """
    numbers = {cpu.id for cpu in requested}
    for cpu in requested:
        left = set(cpu.siblings) - numbers
        if left:
            raise InvalidInputError(
                f"CPU {cpu.id} shares its core with CPU {format_list(left)}, which is not in the "
                "list.",
                "List all CPUs of each core, or allow parts with --partial.",
            )
