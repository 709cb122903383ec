"""Earlier samples: the samples of the earlier sessions of a study, read once when it resumes."""

from __future__ import annotations

from collections.abc import Iterable

from assay.executors.evidence.libraries import KIND as LIBRARIES
from assay.records import Sample, StudySpec
from assay.search.history.packed_samples import PackedSamples
from assay.search.history.remaining_budget import LAUNCH_OVERHEAD_S
from assay.search.races.race import Race
from assay.study.failures import FailedLaunches


class EarlierSamples:
    """Samples of earlier sessions in one stratum.

    A study may have 100,000 of them, so that each further pass delays its next launch by seconds.

    Args:
        spec: specification of the study.
        samples: the samples, in the order of launch.
        race: race of the study, which takes in the samples.

    Attributes:
        launches: number of samples.
        for_boots: the samples, if the study has boot settings, whose checks read them.
        failures: failed launches.
        with_libraries: one sample for each state of the libraries that the program loaded.
        launching_s: lower bound of the time of the launches, in seconds.
    """

    def __init__(self, spec: StudySpec, samples: Iterable[Sample], race: Race) -> None:
        self.launches = 0
        self.for_boots = PackedSamples()
        self.failures = FailedLaunches(spec)
        self.with_libraries: list[Sample] = []
        self.launching_s = 0.0
        self._states: set[str] = set()
        for sample in samples:
            race.tell(sample)
            self._add(sample)
            if spec.reboot_settings:
                self.for_boots.append(sample)

    def _add(self, sample: Sample) -> None:
        self.launches += 1
        self.failures.add(sample)
        self.launching_s += launching_s(sample)
        for piece in sample.evidence:
            if piece.kind == LIBRARIES and piece.note and piece.note not in self._states:
                self._states.add(piece.note)
                self.with_libraries.append(sample)


def launching_s(sample: Sample) -> float:
    """Return a lower bound of the time of a launch, in seconds."""
    return sample.total_wall_s + LAUNCH_OVERHEAD_S
