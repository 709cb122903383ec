"""Interim analyses: the blocks after which a study evaluates its data."""

MAX_CONSECUTIVE_ANALYSES = 40
"""Number of blocks that are each followed by an interim analysis. From then on, one follows each
increase of the number by a fortieth, so that all of them are cheap compared with the launches.
Intervals are valid at any interim analysis."""


def is_analysis_due(blocks: int) -> bool:
    """Return whether there is an interim analysis after this number of blocks."""
    return blocks % max(1, blocks // MAX_CONSECUTIVE_ANALYSES) == 0
