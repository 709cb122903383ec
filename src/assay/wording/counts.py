"""Counts: numbers of blocks and launches in sentences."""

from __future__ import annotations

from assay.units import show_count


def launch_count(number: int) -> str:
    """Return a number of launches: ``1 launch``, ``12 launches``."""
    return show_count(number, "launch", "launches")


def configuration_count(number: int) -> str:
    """Return a number of configurations: ``1 configuration``."""
    return show_count(number, "configuration", "configurations")


def block_count(number: int, noun: str = "block", *, disturbed: int = 0, left_out: int = 0) -> str:
    """Return a number of blocks: ``12 blocks (3 of them disturbed)``.

    Args:
        number: blocks that an answer rests on.
        noun: name of a block.
        disturbed: disturbed blocks among them.
        left_out: disturbed blocks beside them that the answer leaves out.
    """
    if disturbed:
        part = "" if number == 1 else f"{disturbed} of them "
        return f"{show_count(number, noun)} ({part}disturbed)"
    if left_out:
        return f"{show_count(number, noun)} ({show_count(left_out, 'disturbed one')} left out)"
    return show_count(number, noun)


def share_of_launches(number: int, launches: int, arm: str) -> str:
    """Return a part of the launches of an arm: ``3 of 12 launches of A``."""
    return f"{number} of {launch_count(launches)} of {arm}"


def lower_first(sentence: str) -> str:
    """Return a sentence with a lower-case first letter, to continue another one."""
    return f"{sentence[:1].lower()}{sentence[1:]}"


def upper_first(clause: str) -> str:
    """Return a clause with an upper-case first letter, to begin a sentence."""
    return f"{clause[:1].upper()}{clause[1:]}"
