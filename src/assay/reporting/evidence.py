"""EvidenceTally: summary of each kind of evidence over all samples."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import TypeVar

from assay.records.sample import ERRORS, OUTPUT
from assay.reporting.evidence_columns import EvidenceColumn, EvidenceColumns
from assay.reporting.formatting import duration, shorten
from assay.units import show_quantity
from assay.untrusted import clean

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class EvidenceTally:
    """Summary of one kind of evidence.

    Attributes:
        kind: kind of the evidence.
        unit: unit of ``median`` and ``highest``.
        external: the cause lies outside the configuration.
        samples: number of samples with it; each may have several pieces, such as processes.
        median, highest: of the values; ``None`` without values.
        note: the first note.
    """

    kind: str
    unit: str
    external: bool
    samples: int
    median: float | None
    highest: float | None
    note: str | None

    def shown(self, value: float | None) -> str:
        """Return a value with its unit."""
        if value is None:
            return "\u2013"
        if not self.unit and value.is_integer():
            return f"{value:,.0f}"
        if self.unit == "s":
            return duration(value)
        return show_quantity(value, shorten(clean(self.unit), 16))

    @property
    def label(self) -> str:
        """Return the kind in words: ``pressure: io full`` for ``pressure.io_full_s``."""
        words = self.kind.removesuffix(f"_{self.unit}") if self.unit else self.kind
        return shorten(clean(words.replace(".", ": ").replace("_", " ")), 40)


def tally(
    columns: EvidenceColumns, chosen: Sequence[int] | None = None
) -> tuple[EvidenceTally, ...]:
    """Return a summary for each kind and unit, sorted by name.

    Args:
        columns: evidence of the samples.
        chosen: flag of each sample by its place, to summarise some only.
    """
    # Digests of outputs are compared between arms, not summarised.
    keys = sorted(key for key in columns.by_key if key[0] not in _DIGESTS)
    found = (_tally(*key, columns.by_key[key], chosen) for key in keys)
    return tuple(one for one in found if one.samples)


_DIGESTS = (OUTPUT, ERRORS)


def _tally(
    kind: str, unit: str, external: bool, column: EvidenceColumn, chosen: Sequence[int] | None
) -> EvidenceTally:
    places = _chosen(column.places, column.places, chosen)
    values = _chosen(column.values, column.places, chosen)
    unvalued = _chosen(column.unvalued, column.unvalued, chosen)
    notes = _chosen(column.notes, column.noted, chosen)
    return EvidenceTally(
        kind=kind,
        unit=unit,
        external=external,
        samples=len({*places, *unvalued}),
        median=statistics.median(values) if values else None,
        highest=max(values) if values else None,
        note=notes[0] if notes else None,
    )


def _chosen(items: Sequence[T], places: Sequence[int], chosen: Sequence[int] | None) -> Sequence[T]:
    """Return the items of the chosen samples."""
    if chosen is None:
        return items
    return list(compress(items, map(chosen.__getitem__, places)))
