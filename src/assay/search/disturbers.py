"""Disturbers: who used the CPUs during the disturbed blocks of a study."""

from __future__ import annotations

import statistics
from collections.abc import Iterable

from assay.records import Disturber, Sample, Stage
from assay.search.history import History

OTHERS = "other_process"
"""Kind of the evidence on one process that used the CPUs when a launch was disturbed
(``assay.measure.others``): in ``note`` its name, in ``value`` the CPUs that it used."""
HYPERVISOR = "the hypervisor"
NAMED = 3
"""Disturbers that a conclusion names."""
LEAST_CPUS = 0.05
"""A disturber uses this much of one CPU at least."""


def disturbers_of(history: History) -> tuple[Disturber, ...]:
    """Name who disturbed the blocks that claims rest on, most first; empty where that is unknown.

    Processes are named by what samples hold of them. Time that the hypervisor took is known from
    the samples of every host that counts it.
    """
    disturbed = [
        sample
        for sample in history.samples
        if sample.launch.stage is Stage.CONFIRM
        and history.is_disturbed(Stage.CONFIRM, sample.launch.block)
    ]
    found = [*_processes(disturbed), *_hypervisor(disturbed)]
    return tuple(sorted(found, key=lambda one: -one.cpus)[:NAMED])


def _processes(samples: Iterable[Sample]) -> list[Disturber]:
    """The processes that samples tell of; each by the mean of what was seen of it."""
    seen: dict[str, list[float]] = {}
    for sample in samples:
        for piece in sample.evidence:
            if piece.kind == OTHERS and piece.note and piece.value is not None:
                seen.setdefault(piece.note, []).append(piece.value)
    return [Disturber(name=name, cpus=statistics.fmean(cpus)) for name, cpus in seen.items()]


def _hypervisor(samples: Iterable[Sample]) -> list[Disturber]:
    stolen_s = wall_s = 0.0
    for sample in samples:
        pieces = (e.value for e in sample.evidence if e.kind == "steal" and e.value is not None)
        stolen_s += sum(pieces)
        wall_s += sample.wall_s or 0.0
    cpus = stolen_s / wall_s if wall_s else 0.0
    return [Disturber(name=HYPERVISOR, cpus=cpus)] if cpus >= LEAST_CPUS else []
