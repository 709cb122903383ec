"""Interim analyses: the blocks after which a study evaluates its data."""

MAX_CONSECUTIVE_ANALYSES = 40
"""Number of blocks that are each followed by an interim analysis. From then on, one follows each
increase of the number by a fortieth to an eightieth. An analysis reads all blocks, so this keeps
its time per launch constant, whatever the number of launches. Intervals are valid at any interim
analysis."""
_REGULAR = MAX_CONSECUTIVE_ANALYSES**2
"""Number of blocks from which on the distance of two analyses doubles with the number of blocks."""


def is_analysis_due(blocks: int) -> bool:
    """Return whether there is an interim analysis after this number of blocks."""
    if blocks < _REGULAR:
        return blocks % max(1, blocks // MAX_CONSECUTIVE_ANALYSES) == 0
    doublings = (blocks // _REGULAR).bit_length() - 1
    return blocks % (MAX_CONSECUTIVE_ANALYSES << doublings) == 0
