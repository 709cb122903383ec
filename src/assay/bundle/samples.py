"""Samples of a stratum that are read again for each pass, and never kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, Protocol, TypeVar

from assay.bundle.redact import Redactor
from assay.records import Output, Sample, SampleDecoder, SampleRewriter, decode, encode
from assay.search.history.packed_samples import PackedSamples
from assay.store import Store

T = TypeVar("T")


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
        # Sharing equal parts takes more time, and saves memory only if the samples are kept.
        return self.decoded(partial(decode, kind=Sample))

    def __len__(self) -> int:
        return self.count

    def decoded(self, decoder: Callable[[bytes | str], T]) -> Iterator[T]:
        """Iterate over the samples in the form of a decoder (``Store.decoded_samples``)."""
        found = self.store.decoded_samples(self.study_id, self.stratum, decoder)
        return islice(found, self.count)


def kept(samples: Samples) -> PackedSamples:
    """Return samples to keep in memory; equal parts of stored ones are shared."""
    return PackedSamples(_shared(samples), kept=len(samples))


def _shared(samples: Samples) -> Iterator[Sample]:
    match samples:
        case StoredSamples():
            return samples.decoded(SampleDecoder().decode)
        case ChangedSamples():
            return map(samples.change, _shared(samples.samples))
        case _:
            return iter(samples)


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


class RedactedSamples:
    """Samples with tokens instead of names, as a bundle contains them.

    Args:
        samples: samples of a stratum.
        redactor: replaces names.
    """

    def __init__(self, samples: Samples, redactor: Redactor) -> None:
        self._samples = samples
        self._rewriter = SampleRewriter(redactor.value)

    def __iter__(self) -> Iterator[Sample]:
        return map(SampleDecoder().decode, map(encode, self.partial()))

    def __len__(self) -> int:
        return len(self._samples)

    def partial(self) -> Iterator[Any]:
        """Iterate over the samples with parts that remain encoded (``SampleRewriter.read``)."""
        if isinstance(self._samples, StoredSamples):
            return self._samples.decoded(self._rewriter.read)
        return map(self._rewriter.read, map(encode, self._samples))
