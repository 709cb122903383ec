"""Modes of an arm: two groups of launches, and the evidence that goes along with them."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import Modes, Sample
from assay.stats.modes import companion, modes

GROWING = ("s", "", "events", "pages")
"""Units of evidence that adds up while a launch lasts: taken per second, since a launch that is
slow for another reason has more of everything."""
LEVELS = ("threads_peak", "frequency_ratio")
"""Kinds that have such a unit and do not add up."""
CONSTANT = ("containment", "host_cpus", "speed")
"""Evidence that is the same for all launches, or not of each."""


def modes_of(metric: str, samples: Sequence[Sample]) -> Modes | None:
    """The two groups that the values of a metric fall into, and what explains them.

    Args:
        metric: its name.
        samples: of one arm, all of them ended well.

    Returns:
        ``None`` where the values are one group, or not positive.
    """
    known = [s for s in samples if s.metrics.get(metric, 0.0) > 0.0]
    values = [s.metrics[metric] for s in known]
    found = modes(values) if values else None
    if found is None:
        return None
    told = companion(found, _figures(known))
    return Modes(
        low=found.low,
        high=found.high,
        high_share=found.high_share,
        explained_by=told.name if told else None,
        low_evidence=told.low if told else None,
        high_evidence=told.high if told else None,
    )


def _figures(samples: Sequence[Sample]) -> dict[str, list[float]]:
    """Every kind of evidence that all samples have, and where they stood in their blocks."""
    rows = [_row(sample) for sample in samples]
    shared = set(rows[0]).intersection(*rows[1:])
    figures = {kind: [row[kind] for row in rows] for kind in sorted(shared)}
    figures["position in the block"] = [float(s.launch.position) for s in samples]
    return {kind: numbers for kind, numbers in figures.items() if len(set(numbers)) > 1}


def _row(sample: Sample) -> dict[str, float]:
    row = {}
    for evidence in sample.evidence:
        if evidence.value is None or evidence.kind in CONSTANT:
            continue
        adds_up = evidence.unit in GROWING and evidence.kind not in LEVELS
        if adds_up and sample.wall_s:
            row[f"{evidence.kind} per second"] = evidence.value / sample.wall_s
        else:
            row[evidence.kind] = evidence.value
    return row
