"""Counted: how many blocks an answer rests on, in words."""

from __future__ import annotations

from assay.records import Stage
from assay.search.history import History
from assay.units import show_count


def counted(history: History, noun: str = "block", blocks: int | None = None) -> str:
    """Blocks that count: ``12 blocks``, and how many others there were, ``(3 more left out)``.

    Args:
        history: of the study.
        noun: what a block is called.
        blocks: that a claim rests on; all undisturbed ones if absent.
    """
    count = len(history.sound(Stage.CONFIRM)) if blocks is None else blocks
    out = history.disturbed(Stage.CONFIRM)
    return show_count(count, noun) + (f" ({out} more left out)" if out else "")


def no_more(told: str) -> str:
    """Why a study ends of which something stays unclear, after so many blocks."""
    return f"After {told} no further one would tell more."
