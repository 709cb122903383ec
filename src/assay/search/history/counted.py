"""Counted: how many blocks an answer rests on, in words."""

from __future__ import annotations

from assay.records import Claim, Stage
from assay.search.history.history import History
from assay.units import show_count


def counted(history: History, noun: str = "block", found: Claim | None = None) -> str:
    """Blocks that an answer rests on: ``12 blocks``, with the number of disturbed ones.

    Args:
        history: of the study.
        noun: what a block is called.
        found: the claim; all blocks that were run if absent.
    """
    out = history.disturbed(Stage.CONFIRM)
    if found is None or found.disturbed_blocks:
        blocks = len(history.complete(Stage.CONFIRM)) if found is None else found.blocks
        among = out if found is None else found.disturbed_blocks
        return show_count(blocks, noun) + (f" ({among} of them disturbed)" if among else "")
    return show_count(found.blocks, noun) + (f" ({out} disturbed ones left out)" if out else "")


def no_more(told: str) -> str:
    """Why a study ends of which something stays unclear, after so many blocks."""
    return f"After {told} no further one would tell more."
