"""EvidenceTally: summary of each kind of evidence over all samples."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from assay.records import Evidence, Sample
from assay.records.sample import ERRORS, OUTPUT
from assay.reporting.formatting import duration, shorten
from assay.units import show_quantity
from assay.untrusted import clean


@dataclass(frozen=True, slots=True)
class EvidenceTally:
    """Summary of one kind of evidence.

    Attributes:
        kind: kind of the evidence.
        unit: unit of ``median`` and ``highest``.
        external: the cause lies outside the configuration.
        samples: number of samples with it.
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


def tally(samples: Iterable[Sample]) -> tuple[EvidenceTally, ...]:
    """Return a summary for each kind and unit, sorted by name."""
    groups: dict[tuple[str, str, bool], list[Evidence]] = {}
    for sample in samples:
        for piece in sample.evidence:
            if piece.kind in (OUTPUT, ERRORS):  # compared between arms, not summarised
                continue
            groups.setdefault((piece.kind, piece.unit, piece.external), []).append(piece)
    return tuple(_tally(*key, groups[key]) for key in sorted(groups))


def _tally(kind: str, unit: str, external: bool, pieces: list[Evidence]) -> EvidenceTally:
    values = [p.value for p in pieces if p.value is not None]
    return EvidenceTally(
        kind=kind,
        unit=unit,
        external=external,
        samples=len(pieces),
        median=statistics.median(values) if values else None,
        highest=max(values) if values else None,
        note=next((p.note for p in pieces if p.note), None),
    )
