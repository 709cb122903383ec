"""Disturbers: who used the CPUs during the disturbed blocks of a study."""

from __future__ import annotations

from collections.abc import Iterable

from assay.records import DisturbanceSource, Sample, Stage
from assay.search.history.history import History

OTHER_PROCESS = "other_process"
"""Kind of the evidence on one process that used the CPUs when a launch was disturbed
(``assay.executors.evidence.other_processes``): in ``note`` its name, in ``value`` the CPUs that it used."""
HYPERVISOR = "the hypervisor"
MAX_NAMED = 3
"""Disturbers that a conclusion names."""
MIN_CPUS = 0.05
"""A disturber uses this much of one CPU at least."""


def disturbance_sources_of(
    history: History, stage: Stage = Stage.CONFIRM
) -> tuple[DisturbanceSource, ...]:
    """Name who disturbed the blocks of a stage, most first; empty where that is unknown.

    Processes are named by what samples hold of them. Time that the hypervisor took is known from
    the samples of every host that counts it.

    Args:
        history: of the study.
        stage: whose blocks; those that claims rest on, if absent.
    """
    disturbed = [
        sample
        for sample in history.samples
        if sample.launch.stage is stage and history.is_disturbed(stage, sample.launch.block)
    ]
    found = [*_processes(disturbed), *_hypervisor(disturbed)]
    return tuple(sorted(found, key=lambda one: -one.cpus)[:MAX_NAMED])


def _processes(samples: Iterable[Sample]) -> list[DisturbanceSource]:
    """Return the processes that samples tell of, each by its mean over all samples that tell.

    One that was seen once counts for little beside one that was there all the time.
    """
    used: dict[str, float] = {}
    readings = 0
    for sample in samples:
        pieces = [(e.note, e.value) for e in sample.evidence if e.kind == OTHER_PROCESS]
        found = [(name, cpus) for name, cpus in pieces if name and cpus is not None]
        readings += bool(found)
        for name, cpus in found:
            used[name] = used.get(name, 0.0) + cpus
    means = {name: cpus / readings for name, cpus in used.items()}
    return [
        DisturbanceSource(name=name, cpus=cpus) for name, cpus in means.items() if cpus >= MIN_CPUS
    ]


def _hypervisor(samples: Iterable[Sample]) -> list[DisturbanceSource]:
    stolen_s = wall_s = 0.0
    for sample in samples:
        pieces = (e.value for e in sample.evidence if e.kind == "steal" and e.value is not None)
        stolen_s += sum(pieces)
        wall_s += sample.wall_s or 0.0
    cpus = stolen_s / wall_s if wall_s else 0.0
    return [DisturbanceSource(name=HYPERVISOR, cpus=cpus)] if cpus >= MIN_CPUS else []
