"""Boots: sentences on studies whose settings take effect at a boot."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import Configuration

MAX_READINGS = 4
"""Readings of one boot that a note shows."""


def boot_state_note(changed: Configuration, states: Sequence[str]) -> str:
    """Return a note on readings of a boot that differ from those at the start of the study.

    Args:
        changed: boot settings that differ from those at the start.
        states: readings, as ``NAME: TEXT``.
    """
    readings = ", ".join(_reading(state) for state in states[:MAX_READINGS])
    more = f" and {len(states) - MAX_READINGS} more" if len(states) > MAX_READINGS else ""
    return (
        f"with {changed}, other readings differ from the start of the study as well: "
        f"{readings}{more}"
    )


def boot_search_sentence(names: Sequence[str]) -> str:
    """Return a sentence on the boots of a search.

    Args:
        names: settings that take a boot to change.
    """
    return (
        f"{_take_boot(names)}: each block of the search and of the confirmation takes several boots"
    )


def single_boot_sentence(names: Sequence[str]) -> str:
    """Return a sentence on a comparison that takes one boot."""
    return f"{_take_boot(names)}: the study pauses for it"


def boots_sentence(names: Sequence[str], boots: int, blocks: int, *, fixed: bool) -> str:
    """Return a sentence on the boots of a comparison.

    Args:
        names: settings that take a boot to change.
        boots: boots of each block.
        blocks: number of blocks.
        fixed: whether the number of blocks is fixed; else it is the smallest.
    """
    return (
        f"{_take_boot(names)}: {boots} boots in each of {blocks} blocks"
        f"{'' if fixed else ' or more'}, and the study pauses for each"
    )


def _take_boot(names: Sequence[str]) -> str:
    return f"{', '.join(names)} {'takes' if len(names) == 1 else 'take'} a boot to change"


def _reading(state: str) -> str:
    name, _, text = state.partition(": ")
    return f"{name} {text or 'absent'}"
