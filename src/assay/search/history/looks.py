"""Looks: the blocks after which a study evaluates its data."""

MAX_CONSECUTIVE_LOOKS = 40
"""Number of blocks with a look after each. From then on there is a look after each increase by a
fortieth, so that all looks are cheap compared with the launches. Intervals are valid at any
look."""


def is_look_due(blocks: int) -> bool:
    """Return whether there is a look after this number of blocks."""
    return blocks % max(1, blocks // MAX_CONSECUTIVE_LOOKS) == 0
