"""Timed launches: those whose times enter the figures of a report, with their evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress

from assay.records import Sample
from assay.records.launch import NON_COMPARING_STAGES
from assay.reporting.evidence_columns import EvidenceColumns
from assay.reporting.inputs import ReportInput
from assay.units import show_count
from assay.wording.conditions import CONDITION_KINDS

KINDS = CONDITION_KINDS | {"speed", "steal", "foreign_load", "throttled", "remaining_processes"}
"""Kinds of evidence that limitations of an answer rest on."""


@dataclass(frozen=True)
class TimedLaunches:
    """Launches of comparing stages in undisturbed blocks.

    Attributes:
        samples: samples of the study.
        flags: whether a sample is one of these launches, by its place.
        evidence: evidence of the samples of the kinds in ``KINDS``.
    """

    samples: Sequence[Sample]
    flags: bytearray
    evidence: EvidenceColumns

    @classmethod
    def of(cls, report: ReportInput) -> TimedLaunches:
        """Return these launches of a study."""
        flags = bytearray(
            sample.launch.stage not in NON_COMPARING_STAGES and report.counts(sample)
            for sample in report.samples
        )
        return cls(report.samples, flags, EvidenceColumns(report.samples, KINDS))

    @property
    def wall_s(self) -> list[float]:
        """Return the wall time of each launch, 0 if unknown."""
        return [sample.wall_s or 0.0 for sample in compress(self.samples, self.flags)]

    def readings(self, kind: str, unit: str | None = None) -> Iterator[tuple[int, float]]:
        """Yield the place and the value of each piece of a kind of evidence."""
        return ((at, v) for at, v in self.evidence.readings(kind, unit) if self.flags[at])

    @property
    def with_conditions(self) -> list[Sample]:
        """Return the samples of the study that ``condition_notes`` reads."""
        return [self.samples[place] for place in self.evidence.places(CONDITION_KINDS)]

    def seconds(self, kind: str) -> dict[int, float]:
        """Return the seconds of a kind of evidence by place of the launch, without zeros."""
        sums: dict[int, float] = {}
        for place, seconds in self.readings(kind, "s"):
            sums[place] = sums.get(place, 0.0) + seconds
        return {place: seconds for place, seconds in sums.items() if seconds > 0}

    def share(self, number: int) -> str:
        """Return a number of launches as a part of all."""
        return f"{number:,} of {show_count(sum(self.flags), 'launch', 'launches')}"
