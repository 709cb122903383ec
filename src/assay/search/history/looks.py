"""Looks: after which blocks the data are looked at."""

MAX_CONSECUTIVE_LOOKS = 40
"""Up to this many blocks the data are looked at after each; from there on after each fortieth part
more, so that all looks together cost little beside the launches. The intervals hold at any look."""


def is_look_due(blocks: int) -> bool:
    """Whether the data are looked at after this many blocks."""
    return blocks % max(1, blocks // MAX_CONSECUTIVE_LOOKS) == 0
