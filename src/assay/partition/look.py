"""Look: how partitions stand now, for whoever asks; needs no rights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from assay.host.act import observe, wanted
from assay.host.changes import Word
from assay.host.groups import ABSENT, observe_group, wanted_group
from assay.host.host import Host
from assay.host.online import alike, offline_words, online
from assay.machine.boot import BOOT_ID
from assay.machine.cpulist import parse_list
from assay.partition.apart import OF_TOP
from assay.partition.broker import State
from assay.partition.daemon import answer_of
from assay.partition.folder import partitions_folder
from assay.partition.made import Made, Steered, made_in, names, steered
from assay.partition.steer import kind_of
from assay.records.action import ControlGroup, HostAction, TaskAffinity, WriteFile

_KINDS = ("interrupts", "workqueues", "threads", "settings")


@dataclass(frozen=True)
class Seen:
    """One partition.

    Attributes:
        name: of it.
        made: as it was made; ``None`` where whoever made or deleted it did not get to the end.
        fault: why it is not in force; ``None`` where it is.
        state: what its broker tells; ``None`` where none answers.
    """

    name: str
    made: Made | None
    fault: str | None
    state: State | None


@dataclass(frozen=True)
class Steer:
    """What of one kind was kept away from the CPUs of all partitions.

    Attributes:
        kind: ``interrupts``, ``workqueues``, ``threads``, or ``settings`` for all other files.
        moved: how many go elsewhere.
        refused: what could not be, and why.
        drifted: what somebody set otherwise meanwhile, and to what.
        lapsed: how many the kernel lets run everywhere again, as after a CPU came online.
    """

    kind: str
    moved: int
    refused: dict[str, str]
    drifted: dict[str, str]
    lapsed: int = 0


def look(host: Host, env: Mapping[str, str]) -> tuple[Seen, ...]:
    """All partitions, by name."""
    found = []
    for name in names(env):
        folder = partitions_folder(env) / name
        made = made_in(folder)
        fault = fault_of(made, host) if made is not None else "it was not finished"
        found.append(Seen(name, made, fault, answer_of(folder) if made is not None else None))
    return tuple(found)


def fault_of(made: Made, host: Host) -> str | None:
    """Why the CPUs of a partition are not set apart any more; ``None`` where they are.

    A group beside that names the same CPUs ends a partition of version 2 without a word to anybody
    but who reads ``cpuset.cpus.partition`` (seen with Linux 6.1).
    """
    if made.boot_id != (host.read(BOOT_ID) or made.boot_id):
        return "it was made before the last boot"
    if (offline := offline_words(host, made.cpu_set)) is not None:
        return offline
    for group in made.groups:
        if (fault := _amiss(group, host)) is not None:
            return fault
    for name, text in OF_TOP[made.version].items():
        if host.read(f"{made.top}/{name}") != text:
            return f"load is balanced over all CPUs again ({made.top}/{name})"
    return None


def steers(host: Host, env: Mapping[str, str]) -> tuple[Steer, ...]:
    """What keeps the kernel away from the CPUs of all partitions, by kind."""
    kinds: dict[str, list[Steered]] = {kind: [] for kind in _KINDS}
    for one in steered(env, host.read(BOOT_ID)):
        kind = _kind(one.action)
        if kind is not None:
            kinds[kind].append(one)
    return tuple(_of_kind(kind, found, host) for kind, found in kinds.items())


def _amiss(group: ControlGroup, host: Host) -> str | None:
    found, wanted = observe_group(host, group), wanted_group(group)
    if found == ABSENT:
        return f"its control group {group.path} is gone"
    if found == wanted:
        return None
    differs = [
        part
        for part, asked in zip(found.split("; "), wanted.split("; "), strict=False)
        if part != asked
    ]
    name, _, text = differs[0].partition("=")
    return f"{group.path}/{name} reads {text or 'nothing'}"


def _kind(action: HostAction) -> str | None:
    """One of ``_KINDS``; ``None`` for control groups, which are looked at by themselves."""
    kind = kind_of(action)
    if kind is None:
        return "settings" if isinstance(action, WriteFile) else None
    return "interrupts" if kind == "balancer" else kind


def _of_kind(kind: str, found: list[Steered], host: Host) -> Steer:
    refused, drifted, moved, lapsed = {}, {}, 0, 0
    for one in found:
        name = target_of(one)
        now = observe(host, one.action)
        drift = one.word == Word.DRIFTED
        if not drift and one.word not in (Word.GRANTED, Word.KEPT):
            refused[name] = one.reason or f"it reads {one.read}"
        elif now is not None and not drift and _is_open(host, one, now):
            lapsed += 1
        elif now is not None and not _is_so(host, one, now):
            drifted[name] = now
        elif now is not None:
            moved += 1
    return Steer(kind, moved, refused, drifted, lapsed)


def _is_so(host: Host, one: Steered, now: str) -> bool:
    """Return whether it still is as it was put, or again as it is to be."""
    put = wanted(one.action) if one.word == Word.DRIFTED else one.read
    same = (put, wanted(one.action))
    return now == put or any(alike(host, one.action.path, now, text) for text in same)


def _is_open(host: Host, one: Steered, now: str) -> bool:
    """Return whether a thread may run on all CPUs again, as the kernel has it when one comes back.

    A thread that a user placed is on fewer.
    """
    here = online(host)
    if not isinstance(one.action, TaskAffinity) or here is None:
        return False
    return here <= frozenset(parse_list(now)) and not _is_so(host, one, now)


def target_of(one: Steered) -> str:
    """What was steered, in a word: a number of an interrupt, a queue, a thread, else a path."""
    match one.action:
        case TaskAffinity(tid=tid):
            return str(tid)
        case WriteFile(path=path):
            words = path.split("/")
            if kind_of(one.action) is None:
                return path
            return words[-2] if words[-2].isdecimal() or words[-1] == "cpumask" else words[-1]
        case other:
            return other.path
