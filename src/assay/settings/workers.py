"""Judgement of settings by the processes that did the work of a launch.

A wrapper that cleans the environment, changes its scheduling class or executes another program has
the settings of its start, which show nothing about the program behind it.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.records import Configuration, Grant, GrantStatus, Plan, RunFacts
from assay.records.facts import ProcessState, ReadBack
from assay.settings.base import Setting
from assay.settings.evidence import readback_of

MIN_SHARE = 0.1
"""CPU share below which processes, such as helpers, are ignored."""
MAIN_SHARE = 0.5
"""CPU share from which processes decide whether a setting was in force."""
MIN_HELD_BYTES = 32 << 20
"""Resident memory below which the memory share is ignored."""
JOB_LAUNCHERS = frozenset((
    "aprun", "hydra_bstrap_pr", "hydra_pmi_proxy", "jsrun", "mpiexec", "mpiexec.hydra", "mpirun",
    "orted", "orterun", "palsd", "prte", "prted", "prterun", "slurmstepd", "srun", "torchrun",
))  # fmt: skip
"""Launchers of parallel jobs, which do none of the work (readback.cpp has the same list); names as
the kernel truncates them, after 15 bytes.
"""
_OF_MEMORY = ("malloc", "mem.", "thp", "glibc.")
"""Name prefixes of settings that act on memory."""
_TIER = ("mem.dram", "mem.tier", "mem.numa")
"""Settings for the processes that hold the memory."""
_JUDGED_BY = ("cpus", "policy", "priority", "nice", "thp_enabled", "call_filters", "environ")
_READ = ("cpus", "policy", "nice", "thp_enabled", "environ", "maps")


class _WorkerJudgement(msgspec.Struct, frozen=True):
    """A worker, its share of the work, and the judgement on it."""

    worker: ProcessState
    cpu_share: float
    memory_share: float
    grant: Grant


def judge_by_workers(setting: Setting, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
    """Judge a setting by the processes that did the work.

    Args:
        setting: a setting of ``config``.
        config, facts, plan: as for ``Setting.judge``.

    Returns:
        *Refused* if processes with half of the CPU time refused it, *degraded* from a tenth.
        Processes with half of the memory count the same for storage behind memory, and make other
        settings of memory *degraded*.
    """
    workers = readback_of(facts).workers
    workers = tuple(w for w in workers if w.comm not in JOB_LAUNCHERS) or workers
    if len(workers) == 1:
        return setting.judge(config, _as_of(workers[0], facts), plan)
    if not workers:
        return setting.judge(config, facts, plan)
    judged = _judged(setting, config, facts, plan, workers)
    refused = [one for one in judged if one.grant.status is GrantStatus.REFUSED]
    by_cpu = sum(one.cpu_share for one in refused)
    by_memory = sum(one.memory_share for one in refused)
    if not setting.name.startswith(_OF_MEMORY):
        by_memory = 0.0
    if by_cpu >= MAIN_SHARE or (by_memory >= MAIN_SHARE and setting.name in _TIER):
        return _with_worker(_busiest(refused, by_cpu >= MAIN_SHARE), GrantStatus.REFUSED)
    if by_cpu >= MIN_SHARE or by_memory >= MAIN_SHARE:
        return _with_worker(_busiest(refused, by_cpu >= MIN_SHARE), GrantStatus.DEGRADED)
    return _judgement_of_busiest(judged)


def _judged(
    setting: Setting,
    config: Configuration,
    facts: RunFacts,
    plan: Plan,
    workers: Sequence[ProcessState],
) -> list[_WorkerJudgement]:
    cpu_s = sum(worker.cpu_s for worker in workers)
    held = sum(worker.resident_bytes for worker in workers)
    held = held if held >= MIN_HELD_BYTES else 0
    # For a launch shorter than a kernel tick, the last observed worker.
    cpu_shares = [w.cpu_s / cpu_s if cpu_s else float(w is workers[0]) for w in workers]
    return [
        _WorkerJudgement(
            worker,
            share,
            worker.resident_bytes / held if held else 0.0,
            setting.judge(config, _as_of(worker, facts), plan),
        )
        for worker, share in zip(workers, cpu_shares, strict=True)
    ]


def _as_of(worker: ProcessState, facts: RunFacts) -> RunFacts:
    """Return the facts as if only this worker had run."""
    seen = facts.readback or ReadBack()
    own = {name: getattr(worker, name) for name in _JUDGED_BY}
    if facts.instances:  # each instance has its own CPUs
        own["cpus"] = seen.cpus
    # Missing for all workers: it was not read.
    unread = worker.maps is None and any(one.maps is not None for one in seen.workers)
    own["maps"] = worker.maps if unread or worker.maps is not None else seen.maps
    why = f"{worker.comm!r} ended, or has other privileges, before it could be read"
    absent = {f"readback.{name}": why for name in _READ if own[name] is None}
    return msgspec.structs.replace(
        facts,
        readback=msgspec.structs.replace(seen, workers=(), comm=worker.comm, **own),
        unavailable={**facts.unavailable, **absent},
    )


def _busiest(judged: Sequence[_WorkerJudgement], by_cpu: bool) -> _WorkerJudgement:
    return max(judged, key=lambda worker: worker.cpu_share if by_cpu else worker.memory_share)


def _with_worker(found: _WorkerJudgement, word: GrantStatus) -> Grant:
    """Return the judgement on one worker, with its name."""
    if found.cpu_share >= found.memory_share:
        part = f"used {100 * found.cpu_share:.0f} % of the observed CPU time"
    else:
        part = f"held {100 * found.memory_share:.0f} % of the memory"
    reason = found.grant.reason or "not in force"
    worker_text = f"{found.worker.comm!r}, which {part}"
    return msgspec.structs.replace(found.grant, status=word, reason=f"{reason} ({worker_text})")


def _judgement_of_busiest(judged: Sequence[_WorkerJudgement]) -> Grant:
    """Return the judgement for most of the CPU time, taken from the busiest worker."""
    shares: dict[GrantStatus, float] = {}
    for one in judged:
        if one.grant.status is not GrantStatus.REFUSED:
            shares[one.grant.status] = shares.get(one.grant.status, 0.0) + one.cpu_share
    word = max(shares, key=lambda granted: shares[granted])
    return next(one.grant for one in judged if one.grant.status is word)
