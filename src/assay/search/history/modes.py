"""Modes of an arm: two groups of launches, and the evidence correlated with them."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import Modes, Sample
from assay.search.history.packed_samples import figures_of, where
from assay.stats.modes import MIN_AUC, Groups, find_correlated_figure, find_modes, separation
from assay.wording.notes import POSITION_IN_BLOCK

CUMULATIVE_UNITS = ("s", "", "events", "pages", "J")
"""Units of evidence that accumulates during a launch."""
INSTANTANEOUS_KINDS = ("threads_peak", "frequency_ratio", "node.")
"""Prefixes of kinds that have such a unit but do not accumulate; ``node.N`` is the location of
memory."""
EXCLUDED_KINDS = ("containment", "host_cpus", "other_process", "speed")
"""Evidence that is constant over all launches, or not present in each."""


def modes_of(metric: str, samples: Sequence[Sample]) -> Modes | None:
    """Return the two groups of the values of a metric, and their explanation.

    Args:
        metric: its name.
        samples: successful samples of one arm.

    Returns:
        The groups; ``None`` if the values form one group, or are not positive.
    """
    measured = (s.metrics.get(metric, 0.0) for s in figures_of(samples))
    values = [value for value in measured if value > 0.0]
    found = find_modes(values) if values else None
    if found is None:
        return None
    known = where(samples, lambda s: s.metrics.get(metric, 0.0) > 0.0)
    figures = _figures(known)
    correlated = find_correlated_figure(
        found, _independent(found, known, figures), examined=len(figures)
    )
    return Modes(
        low=found.low,
        high=found.high,
        upper_mode_share=found.high_share,
        explained_by=correlated.name if correlated else None,
        low_evidence=correlated.low if correlated else None,
        high_evidence=correlated.high if correlated else None,
    )


def _figures(samples: Sequence[Sample]) -> dict[str, list[float]]:
    """Return every kind of evidence that all samples have, and their positions in the blocks."""
    figures: dict[str, list[float]] = {kind: [] for kind in sorted(_row(samples[0]))}
    for sample in samples:
        row = _row(sample)
        figures = {kind: numbers for kind, numbers in figures.items() if kind in row}
        for kind, numbers in figures.items():
            numbers.append(row[kind])
    figures[POSITION_IN_BLOCK] = [float(s.launch.position) for s in figures_of(samples)]
    return {kind: numbers for kind, numbers in figures.items() if len(set(numbers)) > 1}


def _independent(
    found: Groups, samples: Sequence[Sample], figures: dict[str, list[float]]
) -> dict[str, list[float]]:
    """Return the figures that are not only correlated because slow launches last longer.

    A figure that accumulates must differ between the groups both as a total and as a rate: a
    constant number of page faults is a lower rate in a slow launch, and a constant rate gives more
    of them; neither is the cause.
    """
    growing = _growing(samples[0])
    walls_s = [sample.wall_s or 1.0 for sample in figures_of(samples)]
    return {
        kind: numbers
        for kind, numbers in figures.items()
        if kind not in growing or _outgrows(found, walls_s, numbers)
    }


def _row(sample: Sample) -> dict[str, float]:
    return {
        e.kind: e.value
        for e in sample.evidence
        if e.value is not None and e.kind not in EXCLUDED_KINDS
    }


def _growing(sample: Sample) -> set[str]:
    return {
        e.kind
        for e in sample.evidence
        if e.unit in CUMULATIVE_UNITS and not e.kind.startswith(INSTANTANEOUS_KINDS)
    }


def _outgrows(found: Groups, walls_s: Sequence[float], numbers: Sequence[float]) -> bool:
    """Return whether a figure and its rate differ between the groups in the same direction."""
    rates = [x / wall_s for x, wall_s in zip(numbers, walls_s, strict=True)]
    whole, by_second = separation(found, numbers), separation(found, rates)
    return min(whole, by_second) >= MIN_AUC or max(whole, by_second) <= 1.0 - MIN_AUC
