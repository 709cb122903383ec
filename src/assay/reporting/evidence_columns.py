"""Evidence columns: the evidence of many samples by kind, in arrays.

A launch has about twenty pieces of evidence. The parts of a page read them from here, so that a
page of 100,000 samples passes few times over them.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from assay.records import Sample

EvidenceKey = tuple[str, str, bool]
"""Kind and unit of evidence, and whether its cause lies outside the configuration."""


@dataclass(frozen=True, slots=True)
class EvidenceColumn:
    """Pieces of evidence of one key, in the order of the samples.

    Attributes:
        places: place of the sample of each piece with a value, from 0.
        values: the values, in the unit of the key.
        unvalued: places of the samples of the pieces without a value.
        noted: places of the samples of the pieces with a note.
        notes: the notes.
    """

    places: array[int] = field(default_factory=lambda: array("I"))
    values: array[float] = field(default_factory=lambda: array("d"))
    unvalued: array[int] = field(default_factory=lambda: array("I"))
    noted: array[int] = field(default_factory=lambda: array("I"))
    notes: list[str] = field(default_factory=list)


class EvidenceColumns:
    """Evidence of samples by kind.

    Args:
        samples: samples of a study; a place is the position of a sample among them.
        kinds: kinds of evidence to keep; all if absent, which takes 25 MB for 100,000 samples.
    """

    def __init__(self, samples: Iterable[Sample], kinds: Collection[str] | None = None) -> None:
        columns: dict[EvidenceKey, EvidenceColumn] = {}
        for place, sample in enumerate(samples):
            for piece in sample.evidence:
                if kinds is not None and piece.kind not in kinds:
                    continue
                key = piece.kind, piece.unit, piece.external
                column = columns.get(key)
                if column is None:
                    column = columns[key] = EvidenceColumn()
                value = piece.value
                if value is None:
                    column.unvalued.append(place)
                else:
                    column.places.append(place)
                    column.values.append(value)
                if piece.note:
                    column.noted.append(place)
                    column.notes.append(piece.note)
        self._columns = columns

    @property
    def by_key(self) -> Mapping[EvidenceKey, EvidenceColumn]:
        """Return the columns by key."""
        return MappingProxyType(self._columns)

    def readings(self, kind: str, unit: str | None = None) -> Iterator[tuple[int, float]]:
        """Yield the place of the sample and the value of each piece of a kind that has one.

        Args:
            kind: kind of the evidence.
            unit: unit of the evidence; any if absent.
        """
        for (own_kind, own_unit, _), column in self._columns.items():
            if own_kind == kind and unit in (None, own_unit):
                yield from zip(column.places, column.values, strict=True)

    def places(self, kinds: Collection[str]) -> list[int]:
        """Return the places of the samples with evidence of some kinds, ascending."""
        found: set[int] = set()
        for (kind, *_), column in self._columns.items():
            if kind in kinds:
                found.update(column.places, column.unvalued)
        return sorted(found)
