"""Packed samples: many samples of a study in little memory."""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import overload

from assay.records import Sample, SampleDecoder, encode

MAX_OBJECTS = 4096
"""Maximum number of samples that are kept as objects: 8 MB. Studies below it pack nothing."""
CHUNK = 256
"""Number of samples in a chunk. Equal parts of its documents, nearly all of them, compress well:
to 110 bytes a launch of a program without metrics of its own."""
LEVEL = 1
"""Level of compression: the fastest one, since a sample is packed between two launches."""


class PackedSamples(Sequence[Sample]):
    """Samples in the order of their addition; only the newest ones are kept as objects.

    Older ones are decoded each time that they are read: about 25 us of CPU time a sample. Decisions
    between launches should therefore rest on counts, not on the samples.

    Args:
        samples: initial samples.
    """

    def __init__(self, samples: Iterable[Sample] = ()) -> None:
        self._chunks: list[bytes] = []
        self._newest: list[Sample] = []
        self._decoder = SampleDecoder()
        self._opened: tuple[int, list[Sample]] = -1, []
        self._kept = MAX_OBJECTS
        self.extend(samples)

    def keep(self, number: int) -> None:
        """Keep more samples as objects, because the caller has them in memory anyway.

        Args:
            number: number of samples of the caller.
        """
        self._kept = max(self._kept, number)

    def append(self, sample: Sample) -> None:
        """Add a sample."""
        self._newest.append(sample)
        if len(self._newest) >= self._kept + CHUNK:
            self._pack()

    def extend(self, samples: Iterable[Sample]) -> None:
        """Add samples."""
        for sample in samples:
            self.append(sample)

    def __len__(self) -> int:
        return CHUNK * len(self._chunks) + len(self._newest)

    def __iter__(self) -> Iterator[Sample]:
        for number in range(len(self._chunks)):
            yield from self._unpack(number)
        yield from self._newest

    def __reversed__(self) -> Iterator[Sample]:
        yield from reversed(self._newest)
        for number in reversed(range(len(self._chunks))):
            yield from reversed(self._unpack(number))

    @overload
    def __getitem__(self, place: int) -> Sample: ...
    @overload
    def __getitem__(self, place: slice) -> list[Sample]: ...
    def __getitem__(self, place: int | slice) -> Sample | list[Sample]:
        if isinstance(place, slice):
            return [self[at] for at in range(*place.indices(len(self)))]
        at = place + len(self) if place < 0 else place
        if not 0 <= at < len(self):
            raise IndexError(place)
        packed = CHUNK * len(self._chunks)
        return self._newest[at - packed] if at >= packed else self._opened_chunk(at)[at % CHUNK]

    def _opened_chunk(self, at: int) -> list[Sample]:
        """Return the chunk of a sample; the one opened last is kept."""
        number = at // CHUNK
        if self._opened[0] != number:
            self._opened = number, self._unpack(number)
        return self._opened[1]

    def _pack(self) -> None:
        documents = b"\n".join(map(encode, self._newest[:CHUNK]))
        self._chunks.append(zlib.compress(documents, LEVEL))
        del self._newest[:CHUNK]

    def _unpack(self, number: int) -> list[Sample]:
        documents = zlib.decompress(self._chunks[number]).split(b"\n")
        return [self._decoder.decode(document) for document in documents]


class SelectedSamples(Sequence[Sample]):
    """Some of the samples of a study, in their order.

    Args:
        samples: all samples.
    """

    def __init__(self, samples: Sequence[Sample]) -> None:
        self._samples = samples
        self._places: array[int] = array("I")

    def append(self, place: int) -> None:
        """Add the sample at a place."""
        self._places.append(place)

    def where(self, holds: Callable[[Sample], bool]) -> SelectedSamples:
        """Return the samples for which a condition holds."""
        found = SelectedSamples(self._samples)
        for place in self._places:
            if holds(self._samples[place]):
                found.append(place)
        return found

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[Sample]:
        return (self._samples[place] for place in self._places)

    @overload
    def __getitem__(self, place: int) -> Sample: ...
    @overload
    def __getitem__(self, place: slice) -> list[Sample]: ...
    def __getitem__(self, place: int | slice) -> Sample | list[Sample]:
        if isinstance(place, slice):
            return [self._samples[at] for at in self._places[place]]
        return self._samples[self._places[place]]


def where(samples: Sequence[Sample], holds: Callable[[Sample], bool]) -> Sequence[Sample]:
    """Return the samples for which a condition holds, packed where they are packed.

    Args:
        samples: samples of a study.
        holds: the condition.
    """
    if isinstance(samples, SelectedSamples):
        return samples.where(holds)
    if not isinstance(samples, PackedSamples):
        return [sample for sample in samples if holds(sample)]
    found = SelectedSamples(samples)
    for place, sample in enumerate(samples):
        if holds(sample):
            found.append(place)
    return found
