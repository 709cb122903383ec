"""CPUs: which of a host's become a partition's. Pure."""

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
    """What is asked for.

    Attributes:
        listed: a list of CPUs, or ``auto``: all but a core of each socket.
        cores: so many cores instead, as close together as can be.
        partial: parts of cores may be taken.
    """

    listed: str | None = AUTO
    cores: int | None = None
    partial: bool = False


def designate_cpus(
    request: CpuRequest, machine: Machine, taken: Mapping[str, Iterable[int]]
) -> tuple[int, ...]:
    """The CPUs of a new partition, ascending.

    Args:
        wish: what is asked for.
        machine: of the host.
        taken: CPUs of other partitions by name.

    Raises:
        InvalidInputError: no such CPUs, parts of cores, or all that there are.
        NotPossibleError: other partitions have too many of them.
    """
    apart = {cpu for cpus in taken.values() for cpu in cpus}
    if request.cores is not None:
        return _counted(request.cores, machine, apart)
    if request.listed is None or request.listed == AUTO:
        found = [cpu.id for cpu in _automatic(machine, apart)]
        if not found:
            raise NotPossibleError(
                "A core of each socket stays with the system, and no other is left.",
                f"Name CPUs: this machine has {_online(machine)}, and partitions have "
                f"{format_list(apart) or 'none'}.",
            )
        return tuple(sorted(found))
    return _listed(request.listed, machine, taken, partial=request.partial)


def nodes_of(cpus: Iterable[int], machine: Machine) -> tuple[int, ...]:
    """The NUMA nodes that memory for these CPUs comes from.

    Those that the CPUs are of, and nodes without CPUs that are nearest to one of them; all nodes
    where none of these has memory.
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


def _automatic(machine: Machine, apart: set[int]) -> list[Cpu]:
    """All but the first core of each socket, and what other partitions have a part of."""
    first: dict[int, int] = {}
    for cpu in machine.cpus:
        first.setdefault(cpu.package, cpu.core)
    return [
        cpu
        for cpu in machine.cpus
        if cpu.core != first[cpu.package] and not apart & set(cpu.siblings)
    ]


def _counted(cores: int, machine: Machine, apart: set[int]) -> tuple[int, ...]:
    able = _automatic(machine, apart)
    there = len({cpu.core for cpu in able})
    if cores < 1:
        raise InvalidInputError(f"--cores {cores} is no partition.", "Ask for one at least.")
    if not 0 < cores <= there:
        raise (NotPossibleError if apart else InvalidInputError)(
            f"--cores {cores}: a core of each socket stays with the system, and {there} "
            f"{'is' if there == 1 else 'are'} left.",
            "Ask for as many at most, or name CPUs with --cpus.",
        )
    return choose_cpus(
        ShareRequest(cores=Amount(number=cores)), able, {cpu.id for cpu in able}
    ).cpus


def _listed(
    text: str, machine: Machine, taken: Mapping[str, Iterable[int]], *, partial: bool
) -> tuple[int, ...]:
    asked = parse_list(text)
    if not asked:
        raise InvalidInputError("--cpus names no CPU.", "Write as in --cpus 2-7, or --cpus auto.")
    by_id = {cpu.id: cpu for cpu in machine.cpus}
    foreign = [cpu for cpu in asked if cpu not in by_id]
    if foreign:
        raise InvalidInputError(
            f"CPU {format_list(foreign)} is not online here: this machine has {_online(machine)}.",
            "Name others, or bring it online.",
        )
    for name, cpus in taken.items():
        both = set(cpus) & set(asked)
        if both:
            raise NotPossibleError(
                f"CPU {format_list(both)} is of the partition {name}.",
                "Name others: `assay partition list` shows who has which.",
            )
    if not partial:
        _demand_whole([by_id[cpu] for cpu in asked])
    apart = {cpu for cpus in taken.values() for cpu in cpus}
    rest = by_id.keys() - apart - set(asked)
    if not rest:
        raise InvalidInputError(
            f"--cpus {text} leaves no CPU to the system, which needs one for all else.",
            "Leave a core out; --cpus auto leaves one of each socket.",
        )
    return asked


def _demand_whole(asked: Sequence[Cpu]) -> None:
    """Refuse half a core: what runs on the other half slows it down.

    Raises:
        InvalidInputError: names the first.
    """
    numbers = {cpu.id for cpu in asked}
    for cpu in asked:
        left = set(cpu.siblings) - numbers
        if left:
            raise InvalidInputError(
                f"CPU {cpu.id} is a part of a core whose other part, CPU {format_list(left)}, is "
                "not named.",
                "Name all CPUs of each core; --partial takes parts.",
            )
