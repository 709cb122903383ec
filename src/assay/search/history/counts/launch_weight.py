"""Weight of a launch in the blocks of a search."""

from __future__ import annotations

from assay.records import Sample


def weight_of(sample: Sample) -> float:
    """Return the weight of a launch, in launches as long as those of the incumbent."""
    rule = sample.launch.end
    if rule is None or rule.incumbent is None:
        return 1.0
    from assay.stats.progress.early_stop import weight_of_ended

    early = [part for part in sample.steady.values() if part.ended_early]
    return min((weight_of_ended(part, rule.incumbent) for part in early), default=1.0)
