"""Choice of the CPUs of a share. Pure: the same request has the same result."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from assay.errors import InvalidInputError, NotPossibleError
from assay.machine.cpulist import format_list
from assay.machine.document import Cpu
from assay.partition.ranks import RankLayout
from assay.partition.share_request import ShareRequest
from assay.units import show_count

_LEVELS = (("package", "node", "l3"), ("node",), ("package",))
"""Levels of the topology that cores may share, from the inside out; the last-level cache of a CPU
may be unknown."""

Core = tuple[Cpu, ...]


@dataclass(frozen=True)
class CpuChoice:
    """CPUs of a share.

    Attributes:
        cpus: CPUs for the workload, ascending.
        utility: CPUs for helper threads, ascending; disjoint from ``cpus``.
    """

    cpus: tuple[int, ...]
    utility: tuple[int, ...] = ()


def choose_cpus(
    request: ShareRequest, cpus: Sequence[Cpu], free: Collection[int], seed: int = 0
) -> CpuChoice:
    """Return the CPUs that satisfy a request.

    Args:
        request: request; all free CPUs if it names none.
        cpus: CPUs of the whole partition.
        free: numbers of the free CPUs.
        seed: seed of the algorithm ``random``.

    Raises:
        InvalidInputError: a CPU is not in the partition, or it has too few.
        NotPossibleError: too few of them are free.
    """
    if request.listed:
        taken = _listed(request.listed, cpus, free)
    else:
        taken = _counted(request, cpus, set(free), seed)
    return _with_utility(request.utility, [cpu for cpu in cpus if cpu.id in taken])


def _listed(listed: tuple[int, ...], cpus: Sequence[Cpu], free: Collection[int]) -> set[int]:
    """Return exactly these CPUs (yod: EINVAL if not designated, EBUSY if in use)."""
    known = {cpu.id for cpu in cpus}
    foreign = [cpu for cpu in listed if cpu not in known]
    if foreign:
        raise InvalidInputError(
            f"CPU {format_list(foreign)} is not in the partition, which has {format_list(known)}.",
            "Choose CPUs of the partition.",
        )
    busy = [cpu for cpu in listed if cpu not in free]
    if busy:
        raise NotPossibleError(
            f"CPU {format_list(busy)} of the partition is in use.",
            f"Free CPUs: {format_list(free) or 'none'}. Wait, or request a number of CPUs.",
        )
    return set(listed)


def _counted(request: ShareRequest, cpus: Sequence[Cpu], free: set[int], seed: int) -> set[int]:
    cores = _cores(cpus)
    if request.layout is not None:
        return _laid_out(request, request.layout, cores, free)
    # A core that is shared with another user is not exclusive.
    able = [c for c in cores if (any if request.partial else all)(cpu.id in free for cpu in c)]
    if request.partial and request.cpus is not None:
        wanted = request.cpus.of(len(cpus))

        def count_free(found: Sequence[Core]) -> int:
            return sum(cpu.id in free for core in found for cpu in core)

        _demand(wanted, "CPU", len(cpus), count_free(able))
        ordered = _ordered(request, able, wanted, seed, count_free)
        numbers = [cpu.id for core in ordered for cpu in core if cpu.id in free]
        return set(numbers[:wanted])
    wanted = _requested_cores(request, cores, len(able))
    _demand(wanted, "core", len(cores), len(able))
    chosen = _ordered(request, able, wanted, seed)[:wanted]
    return {cpu.id for core in chosen for cpu in core if cpu.id in free}


def _laid_out(
    request: ShareRequest, layout: RankLayout, cores: Sequence[Core], free: set[int]
) -> set[int]:
    """Return the fixed part of the partition that belongs to a rank."""
    near = sorted(cores, key=_location)
    place = layout.place(len({core[0].node for core in cores}))
    pieces: list[Core] = near
    if request.partial and request.cpus is not None:
        pieces = [(cpu,) for core in near for cpu in core]
        wanted = request.cpus.of(len(pieces))
    else:
        wanted = _requested_cores(request, cores, len(cores))
    part = pieces[place * wanted : (place + 1) * wanted]
    if len(part) < wanted:
        raise InvalidInputError(
            f"The partition is too small for rank {layout.rank.number} of {layout.rank.count}: "
            f"each needs {show_count(wanted, 'core')} of {len(cores)}.",
            "Request fewer cores, or use share=MPI.",
        )
    numbers = [cpu.id for core in part for cpu in core]
    return _listed(tuple(numbers), [cpu for core in cores for cpu in core], free)


def _location(core: Core) -> tuple[int, int, int, int]:
    first = core[0]
    return first.package, first.node, -1 if first.l3 is None else first.l3, first.core


def _requested_cores(request: ShareRequest, cores: Sequence[Core], able: int) -> int:
    if request.cores is not None:
        return request.cores.of(len(cores))
    if request.cpus is None:
        return max(1, able)
    threads = sum(map(len, cores))
    widest = max(map(len, cores), default=1)
    return -(-request.cpus.of(threads) // widest)


def _demand(wanted: int, noun: str, total: int, free: int) -> None:
    if wanted > total:
        raise InvalidInputError(
            f"{_requested_phrase(wanted, noun)}, but the partition has {total}.",
            "Request fewer, or create a larger partition.",
        )
    if wanted > free:
        raise NotPossibleError(
            f"{_requested_phrase(wanted, noun)}, but {free or 'none'} of the {total} of the "
            f"partition {'is' if free < 2 else 'are'} free.",
            "Wait for other runs" + (", or request fewer." if free else "."),
        )


def _requested_phrase(wanted: int, noun: str) -> str:
    return f"{show_count(wanted, noun)} {'was' if wanted == 1 else 'were'} requested"


def _cores(cpus: Sequence[Cpu]) -> list[Core]:
    found: dict[int, list[Cpu]] = {}
    for cpu in sorted(cpus, key=lambda cpu: cpu.id):
        found.setdefault(cpu.core, []).append(cpu)
    return [tuple(core) for core in found.values()]


def _ordered(
    request: ShareRequest,
    able: Sequence[Core],
    wanted: int,
    seed: int,
    size: Callable[[Sequence[Core]], int] = len,
) -> list[Core]:
    """Return the cores in the order in which they are taken.

    Args:
        request: request with the algorithm.
        able: available cores.
        wanted: requested amount.
        seed: seed of the algorithm ``random``.
        size: returns the amount of some cores: their number, or that of their free CPUs.
    """
    if request.algorithm == "random":
        found = list(able)
        random.Random(seed).shuffle(found)
        return found
    return list(able) if request.algorithm == "simple" else _closest(list(able), wanted, size)


def _closest(able: list[Core], wanted: int, size: Callable[[Sequence[Core]], int]) -> list[Core]:
    """Return cores of the innermost topology level that has enough; of several the fullest one.

    This is best fit: large domains remain for large requests. If no domain has enough cores, whole
    domains are taken, the largest first.
    """
    for names in _LEVELS:
        places = [place for place in _places(able, names) if size(place) >= wanted]
        if places:
            return min(places, key=size)
    found: list[Core] = []
    for place in sorted(_places(able, ("node",)), key=size, reverse=True):
        found += place
    return found


def _places(able: list[Core], names: tuple[str, ...]) -> list[list[Core]]:
    found: dict[object, list[Core]] = {}
    for core in able:
        found.setdefault(tuple(getattr(core[0], name) for name in names), []).append(core)
    return list(found.values())


def _with_utility(count: int, taken: Sequence[Cpu]) -> CpuChoice:
    """Separate the last CPUs as utility CPUs: most programs start on the first cores."""
    if count >= len(taken):
        raise InvalidInputError(
            f"utility={count} leaves no CPU for the workload: the share has {len(taken)}.",
            "Request more CPUs, or fewer utility CPUs.",
        )
    numbers = sorted(cpu.id for cpu in taken)
    work = numbers[: len(numbers) - count]
    return CpuChoice(tuple(work), tuple(numbers[len(work) :]))
