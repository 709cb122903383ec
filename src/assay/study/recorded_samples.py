"""Recorded samples: the samples that the conclusion of a session rests on."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import Kind, Sample
from assay.search.history.packed_samples import PackedSamples, SelectedSamples
from assay.search.races.race import BlockRace
from assay.store.base import Store
from assay.wording.conditions import CONDITION_KINDS


def recorded_samples(store: Store, study_id: str, stratum: int, race: BlockRace) -> PackedSamples:
    """Return the samples of a stratum, in the form in which the store returns them.

    The race of a measurement or a comparison has them all, unchanged; reading 100,000 of them takes
    seconds.

    Args:
        store: store of the study.
        study_id: complete id.
        stratum: number of the stratum.
        race: race of the study, which took in the samples of the stratum.
    """
    spec = race.spec
    if spec.kind in (Kind.MEASURE, Kind.COMPARE) and spec.fidelity is None:
        return race.history.samples.as_recorded()
    return stored_samples(store, study_id, stratum)


def stored_samples(store: Store, study_id: str, stratum: int) -> PackedSamples:
    """Return the stored samples of a stratum; only the newest ones are kept as objects."""
    return PackedSamples(store.iterate_samples(study_id, stratum))


def with_conditions(samples: Sequence[Sample]) -> Sequence[Sample]:
    """Return samples with all that ``condition_notes`` reads; packed ones are not decoded.

    Samples in memory are unchanged: their shapes take longer than the notes.
    """
    if not isinstance(samples, (PackedSamples, SelectedSamples)):
        return samples
    return samples.select(lambda shape: not CONDITION_KINDS.isdisjoint(shape.evidence))
