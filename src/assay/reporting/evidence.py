"""EvidenceTally: summary of each kind of evidence over all samples."""

from __future__ import annotations

import statistics
from array import array
from collections.abc import Iterable
from dataclasses import dataclass

from assay.records import Sample
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
    groups: dict[tuple[str, str, bool], _Group] = {}
    for sample in samples:
        for piece in sample.evidence:
            key = (piece.kind, piece.unit, piece.external)
            group = groups.get(key)
            if group is None:
                group = groups[key] = _Group()
            group.samples += 1
            if piece.value is not None:
                group.values.append(piece.value)
            if group.note is None and piece.note:
                group.note = piece.note
    # Digests of outputs are compared between arms, not summarised.
    return tuple(_tally(*key, groups[key]) for key in sorted(groups) if key[0] not in _DIGESTS)


_DIGESTS = (OUTPUT, ERRORS)


class _Group:
    """Evidence of one kind: number of pieces, their values, and the first note."""

    def __init__(self) -> None:
        self.samples = 0
        self.values = array("d")
        self.note: str | None = None


def _tally(kind: str, unit: str, external: bool, group: _Group) -> EvidenceTally:
    return EvidenceTally(
        kind=kind,
        unit=unit,
        external=external,
        samples=group.samples,
        median=statistics.median(group.values) if group.values else None,
        highest=max(group.values) if group.values else None,
        note=group.note,
    )
