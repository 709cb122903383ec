"""Disturbance sources: processes that used the CPUs during the disturbed blocks of a study."""

from __future__ import annotations

from assay.records import DisturbanceSource, Sample, Stage
from assay.search.history.history import History
from assay.search.history.packed_samples import select, where

OTHER_PROCESS = "other_process"
"""Kind of evidence on one process that used the CPUs when a launch was disturbed
(``assay.executors.evidence.other_processes``): ``note`` is its name, ``value`` the number of CPUs
used."""
HYPERVISOR = "the hypervisor"
MAX_NAMED = 3
"""Maximum number of sources named in a conclusion."""
MIN_CPUS = 0.05
"""Minimum CPU use of a source, in CPUs."""


def disturbance_sources_of(
    history: History, stage: Stage = Stage.CONFIRM
) -> tuple[DisturbanceSource, ...]:
    """Return the sources of disturbance in a stage, the largest first; empty if unknown.

    Process names come from the evidence of samples. Steal time is known on every host that counts
    it.

    Args:
        history: history of the study.
        stage: stage of the blocks; the stages behind claims if absent.
    """
    if not history.has_disturbed(stage):
        return ()
    disturbed = where(
        select(history.samples, lambda shape: shape.stage is stage),
        lambda sample: history.is_disturbed(stage, sample.launch.block),
    )
    use = _OutsideUse()
    for sample in disturbed:
        use.add(sample)
    found = [*use.processes(), *use.hypervisor()]
    return tuple(sorted(found, key=lambda source: -source.cpus)[:MAX_NAMED])


class _OutsideUse:
    """Use of the CPUs by other processes and the hypervisor, summed in one pass."""

    def __init__(self) -> None:
        self._used: dict[str, float] = {}
        self._readings = 0
        self._stolen_s = self._wall_s = 0.0

    def add(self, sample: Sample) -> None:
        """Add a launch."""
        pieces = [(e.note, e.value) for e in sample.evidence if e.kind == OTHER_PROCESS]
        found = [(name, cpus) for name, cpus in pieces if name and cpus is not None]
        self._readings += bool(found)
        for name, cpus in found:
            self._used[name] = self._used.get(name, 0.0) + cpus
        self._stolen_s += sum(
            e.value for e in sample.evidence if e.kind == "steal" and e.value is not None
        )
        self._wall_s += sample.wall_s or 0.0

    def processes(self) -> list[DisturbanceSource]:
        """Return the processes in the evidence, each with its mean over all launches with evidence.

        A process that occurs once thus counts little compared with a permanent one.
        """
        means = {name: cpus / self._readings for name, cpus in self._used.items()}
        return [
            DisturbanceSource(name=name, cpus=cpus)
            for name, cpus in means.items()
            if cpus >= MIN_CPUS
        ]

    def hypervisor(self) -> list[DisturbanceSource]:
        """Return the hypervisor if it took CPU time from the launches."""
        cpus = self._stolen_s / self._wall_s if self._wall_s else 0.0
        return [DisturbanceSource(name=HYPERVISOR, cpus=cpus)] if cpus >= MIN_CPUS else []
