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
        samples: number of samples.
        configurations: distinct configurations in the order of their first launches.
        launchers: versions of the launcher.
        metrics, series, steady: names of metrics with a value, with values reported during a
            launch, and with a steady part.
        values, notes: kinds of evidence with a value, and with a note.
        disturbed, excluded: blocks that were disturbed, and that are excluded from all figures.
    """

    samples: int
    configurations: tuple[Configuration, ...]
    launchers: frozenset[str]
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
    configurations: dict[Configuration, None] = {}
    launchers: set[str] = set()
    metrics: set[str] = set()
    series: set[str] = set()
    steady: set[str] = set()
    values: set[str] = set()
    notes: set[str] = set()
    count = 0
    for sample in samples:
        count += 1
        conditions.add(sample)
        configurations.setdefault(sample.launch.configuration)
        launchers.add(sample.launcher_version)
        metrics.update(sample.metrics)
        series.update(sample.series)
        steady.update(sample.steady)
        values |= {piece.kind for piece in sample.evidence if piece.value is not None}
        notes |= {piece.kind for piece in sample.evidence if piece.note is not None}
    return SampleSurvey(
        samples=count,
        configurations=tuple(configurations),
        launchers=frozenset(launchers),
        metrics=frozenset(metrics),
        series=frozenset(series),
        steady=frozenset(steady),
        values=frozenset(values),
        notes=frozenset(notes),
        disturbed=conditions.disturbed,
        excluded=conditions.excluded,
    )
