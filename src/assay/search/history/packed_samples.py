"""Packed samples: many samples of a study in little memory."""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, overload

from assay.records import Sample, SampleDecoder, encode
from assay.records.codec import holds_bytes
from assay.search.history.sample_shape import LeanSample, SampleShape, lean_decoder, shape_of

MAX_OBJECTS = 4096
"""Maximum number of samples that are kept as objects: 8 MB. Studies below it pack nothing."""
CHUNK = 256
"""Number of samples in a chunk. Equal parts of its documents, nearly all of them, compress well:
to 110 bytes a launch of a program without metrics of its own."""
Figures = Sample | LeanSample
"""A sample of which only place, outcome and figures are read."""
_SEPARATOR = b",\n"
LEVEL = 1
"""Level of compression: the fastest one, since a sample is packed between two launches."""


class Chunk(Protocol):
    """Packed documents of successive samples, such as a page of a store."""

    def __len__(self) -> int: ...

    def documents(self) -> Sequence[bytes]:
        """Return the documents."""
        ...


class PackedSamples(Sequence[Sample]):
    """Samples in the order of their addition; only the newest ones are kept as objects.

    Older ones are decoded each time that they are read: about 25 us of CPU time a sample, or 5 us
    where only figures are needed (``figures_of``), or nothing for samples of other shapes
    (``select``). Decisions between launches should therefore rest on counts, not on the samples.

    Args:
        samples: initial samples.
        kept: number of samples to keep as objects, if it is more than usual.
    """

    def __init__(self, samples: Iterable[Sample] = (), kept: int = 0) -> None:
        self._chunks: list[Chunk] = []
        self._newest: list[Sample] = []
        self._decoder = SampleDecoder()
        self._opened: tuple[int, list[Sample]] = -1, []
        self._kept = max(kept, MAX_OBJECTS)
        self._shape_numbers: dict[SampleShape, int] = {}
        self._shapes: array[int] = array("I")
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
        numbers = self._shape_numbers
        self._shapes.append(numbers.setdefault(shape_of(sample), len(numbers)))
        if len(self._newest) >= self._kept + CHUNK:
            self._pack()

    def admits(self, chunk: Chunk) -> bool:
        """Return whether a packed chunk can be added: it is full, and no newer sample is kept."""
        return len(chunk) == CHUNK and not self._newest

    def append_chunk(self, chunk: Chunk, samples: Iterable[Sample]) -> None:
        """Add samples in packed form.

        Args:
            chunk: a chunk that ``admits`` allows.
            samples: its samples.
        """
        self._chunks.append(chunk)
        numbers = self._shape_numbers
        self._shapes.extend(numbers.setdefault(shape_of(s), len(numbers)) for s in samples)

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

    def select(
        self, holds: Callable[[SampleShape], bool], places: Iterable[int] | None = None
    ) -> SelectedSamples:
        """Return the samples whose shape meets a condition, without decoding any.

        Args:
            holds: the condition.
            places: places of the candidates, in their order; all samples if absent.
        """
        chosen = {number for shape, number in self._shape_numbers.items() if holds(shape)}
        found = SelectedSamples(self)
        shapes = self._shapes
        for place in range(len(self)) if places is None else places:
            if shapes[place] in chosen:
                found.append(place)
        return found

    def figures(self) -> Iterator[Figures]:
        """Yield the figures of all samples."""
        for number in range(len(self._chunks)):
            yield from self._unpack_figures(number)
        yield from self._newest

    def figures_at(self, places: Iterable[int]) -> Iterator[Figures]:
        """Yield the figures of the samples at ascending places."""
        packed = CHUNK * len(self._chunks)
        opened, chunk = -1, list[Figures]()
        for place in places:
            if place >= packed:
                yield self._newest[place - packed]
                continue
            if place // CHUNK != opened:
                opened = place // CHUNK
                chunk = self._unpack_figures(opened)
            yield chunk[place % CHUNK]

    def as_recorded(self) -> PackedSamples:
        """Return these samples in the form in which a store returns them.

        Numbers of a launch that has just ended may be integers; they are fractions in documents.
        """
        self._newest = [self._decoder.decode(encode(sample)) for sample in self._newest]
        return self

    def _opened_chunk(self, at: int) -> list[Sample]:
        """Return the chunk of a sample; the one opened last is kept."""
        number = at // CHUNK
        if self._opened[0] != number:
            self._opened = number, self._unpack(number)
        return self._opened[1]

    def _pack(self) -> None:
        self._chunks.append(_Deflated(map(encode, self._newest[:CHUNK])))
        del self._newest[:CHUNK]

    def _unpack(self, number: int) -> list[Sample]:
        return list(map(self._decoder.decode, self._deflated(number).documents()))

    def _unpack_figures(self, number: int) -> list[Figures]:
        array = self._deflated(number).array()
        if holds_bytes(array):
            return list(self._unpack(number))
        return list(lean_decoder().decode(array))

    def _deflated(self, number: int) -> _Deflated:
        """Return a chunk, from its first reading on in the form that is read ten times as fast."""
        chunk = self._chunks[number]
        if not isinstance(chunk, _Deflated):
            self._chunks[number] = chunk = _Deflated(chunk.documents())
        return chunk


class _Deflated:
    """Compressed documents of ``CHUNK`` samples: a JSON array with one document in each line.

    Args:
        documents: the documents, without line breaks, as the encoder writes them.
    """

    def __init__(self, documents: Iterable[bytes]) -> None:
        self._content = zlib.compress(_SEPARATOR.join(documents), LEVEL)

    def __len__(self) -> int:
        return CHUNK

    def documents(self) -> list[bytes]:
        return zlib.decompress(self._content).split(_SEPARATOR)

    def array(self) -> bytes:
        """Return the documents as one JSON array."""
        return b"[" + zlib.decompress(self._content) + b"]"


class SelectedSamples(Sequence[Sample]):
    """Some of the samples of a study, in their order.

    Args:
        samples: all samples.
    """

    def __init__(self, samples: PackedSamples) -> None:
        self._samples = samples
        self._places: array[int] = array("I")

    def append(self, place: int) -> None:
        """Add the sample at a place."""
        self._places.append(place)

    def select(self, holds: Callable[[SampleShape], bool]) -> SelectedSamples:
        """Return the samples whose shape meets a condition, without decoding any."""
        return self._samples.select(holds, self._places)

    def where(self, holds: Callable[[Figures], bool]) -> SelectedSamples:
        """Return the samples whose figures meet a condition."""
        found = SelectedSamples(self._samples)
        for place, figures in zip(self._places, self.figures(), strict=True):
            if holds(figures):
                found.append(place)
        return found

    def figures(self) -> Iterator[Figures]:
        """Yield the figures of the samples."""
        return self._samples.figures_at(self._places)

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


def select(samples: Sequence[Sample], holds: Callable[[SampleShape], bool]) -> Sequence[Sample]:
    """Return the samples whose shape meets a condition; packed ones are not decoded.

    Args:
        samples: samples of a study.
        holds: the condition.
    """
    if isinstance(samples, (PackedSamples, SelectedSamples)):
        return samples.select(holds)
    return [sample for sample in samples if holds(shape_of(sample))]


def with_evidence(samples: Sequence[Sample], kind: str) -> Sequence[Sample]:
    """Return the samples with a kind of evidence; packed ones are not decoded."""
    return select(samples, lambda shape: kind in shape.evidence)


def succeeded(samples: Sequence[Sample]) -> Sequence[Sample]:
    """Return the samples of successful launches; packed ones are not decoded."""
    return select(samples, lambda shape: shape.outcome.succeeded)


def figures_of(samples: Sequence[Sample]) -> Iterable[Figures]:
    """Return the figures of samples, each time decoded without evidence where they are packed."""
    if isinstance(samples, (PackedSamples, SelectedSamples)):
        return samples.figures()
    return samples


def where(samples: Sequence[Sample], holds: Callable[[Figures], bool]) -> Sequence[Sample]:
    """Return the samples whose figures meet a condition, packed where they are packed.

    Args:
        samples: samples of a study.
        holds: the condition.
    """
    if isinstance(samples, SelectedSamples):
        return samples.where(holds)
    if not isinstance(samples, PackedSamples):
        return [sample for sample in samples if holds(sample)]
    found = SelectedSamples(samples)
    for place, figures in enumerate(samples.figures()):
        if holds(figures):
            found.append(place)
    return found
