"""Samples of a stratum that are read again for each pass, and never kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from assay.records import Output, Sample
from assay.store import Store


class Samples(Protocol):
    """Samples in the order of launch, with their number; a tuple is one."""

    def __iter__(self) -> Iterator[Sample]: ...

    def __len__(self) -> int: ...


@dataclass(frozen=True)
class StoredSamples:
    """Samples of a stratum at the time of export, without later ones.

    Attributes:
        store, study_id, stratum: location of the samples.
        count: number of samples.
    """

    store: Store
    study_id: str
    stratum: int
    count: int

    def __iter__(self) -> Iterator[Sample]:
        return islice(self.store.iterate_samples(self.study_id, self.stratum), self.count)

    def __len__(self) -> int:
        return self.count


@dataclass(frozen=True)
class StoredOutputs:
    """Reads the stored outputs of the same samples."""

    store: Store
    study_id: str
    stratum: int
    count: int

    def __call__(self) -> Iterator[tuple[Output, ...]]:
        """Iterate over the outputs of each sample."""
        return islice(self.store.outputs(self.study_id, self.stratum), self.count)


@dataclass(frozen=True)
class ChangedSamples:
    """Samples that a function changes as they are read."""

    samples: Samples
    change: Callable[[Sample], Sample]

    def __iter__(self) -> Iterator[Sample]:
        return map(self.change, self.samples)

    def __len__(self) -> int:
        return len(self.samples)
