"""Survey of samples: properties of all samples of a stratum, which exports need beforehand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from assay.records import Configuration, Sample, StudySpec
from assay.search.history.excluded_blocks import Block, BlockConditions


@dataclass(frozen=True)
class SampleSurvey:
    """Properties of the samples of one stratum.

    Attributes:
        configurations: distinct configurations.
        metrics, series, steady: names of metrics with a value, with values reported during a
            launch, and with a steady part.
        values, notes: kinds of evidence with a value, and with a note.
        disturbed, excluded: blocks that were disturbed, and that are excluded from all figures.
    """

    configurations: frozenset[Configuration]
    metrics: frozenset[str]
    series: frozenset[str]
    steady: frozenset[str]
    values: frozenset[str]
    notes: frozenset[str]
    disturbed: frozenset[Block]
    excluded: frozenset[Block]


def survey_of(spec: StudySpec, samples: Iterable[Sample]) -> SampleSurvey:
    """Return the survey of the samples of one stratum, in one pass.

    Args:
        spec: specification of the study.
        samples: samples in the order of launch.
    """
    conditions = BlockConditions(spec)
    configurations: set[Configuration] = set()
    metrics: set[str] = set()
    series: set[str] = set()
    steady: set[str] = set()
    values: set[str] = set()
    notes: set[str] = set()
    for sample in samples:
        conditions.add(sample)
        configurations.add(sample.launch.configuration)
        metrics.update(sample.metrics)
        series.update(sample.series)
        steady.update(sample.steady)
        for piece in sample.evidence:
            if piece.value is not None:
                values.add(piece.kind)
            if piece.note is not None:
                notes.add(piece.kind)
    return SampleSurvey(
        configurations=frozenset(configurations),
        metrics=frozenset(metrics),
        series=frozenset(series),
        steady=frozenset(steady),
        values=frozenset(values),
        notes=frozenset(notes),
        disturbed=conditions.disturbed,
        excluded=conditions.excluded,
    )
