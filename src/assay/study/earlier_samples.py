"""Earlier samples: the samples of the earlier sessions of a study, read once when it resumes."""

from __future__ import annotations

from assay.executors.evidence.libraries import KIND as LIBRARIES
from assay.records import Sample, SampleDecoder
from assay.records.sample_decoder import decode_once
from assay.search.history.packed_samples import CHUNK, MAX_OBJECTS, PackedSamples
from assay.search.history.remaining_budget import LAUNCH_OVERHEAD_S
from assay.search.races.race import BlockRace
from assay.store import Store
from assay.store.sample_page import SamplePage
from assay.study.failures import FailedLaunches
from assay.study.paused_collection import paused_collection


class EarlierSamples:
    """Samples of earlier sessions in one stratum.

    A study may have 100,000 of them, so that each further pass delays its next launch by seconds.
    The race keeps old samples in the packed form of the store.

    Args:
        store: store of the study.
        study_id: complete id.
        stratum_number: number of the stratum.
        race: race of the study, which takes in the samples.

    Attributes:
        launches: number of samples.
        for_boots: the samples, if the study has boot settings, whose checks read them.
        failures: failed launches.
        with_libraries: one sample for each state of the libraries that the program loaded.
        launching_s: lower bound of the time of the launches, in seconds.
    """

    def __init__(self, store: Store, study_id: str, stratum_number: int, race: BlockRace) -> None:
        spec = race.spec
        self.launches = 0
        self.for_boots = PackedSamples()
        self.failures = FailedLaunches(spec)
        self.with_libraries: list[Sample] = []
        self.launching_s = 0.0
        self._spec = spec
        self._shared = SampleDecoder()
        self._states: set[str] = set()
        with paused_collection():
            for page in store.sample_pages(study_id, stratum_number, CHUNK):
                self._take_in(page, race)

    def _take_in(self, page: SamplePage, race: BlockRace) -> None:
        # Samples at a low fidelity are in a history of their own.
        old = self._spec.fidelity is None and page.following >= MAX_OBJECTS
        if old and race.history.samples.admits(page):
            samples = page.samples(decode_once)
            race.history.samples.append_chunk(page, samples)
        else:
            samples = page.samples(self._shared.decode)
        for sample in samples:
            race.tell(sample)
            self._add(sample)
        if self._spec.reboot_settings:
            self.for_boots.extend(samples)

    def _add(self, sample: Sample) -> None:
        self.launches += 1
        self.failures.add(sample)
        evidence = sample.evidence_by_kind()
        self.launching_s += sample.total_wall_s_with(evidence) + LAUNCH_OVERHEAD_S
        state = evidence[LIBRARIES].note if LIBRARIES in evidence else None
        if state and state not in self._states:
            self._states.add(state)
            self.with_libraries.append(sample)


def launching_s(sample: Sample) -> float:
    """Return a lower bound of the time of a launch, in seconds."""
    return sample.total_wall_s + LAUNCH_OVERHEAD_S
