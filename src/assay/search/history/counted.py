"""Number of blocks behind an answer, in words."""

from __future__ import annotations

from assay.records import Claim, Stage
from assay.search.history.history import History
from assay.wording.counts import block_count


def counted(history: History, noun: str = "block", found: Claim | None = None) -> str:
    """Return the number of blocks behind an answer: ``12 blocks``, with disturbed ones.

    Args:
        history: history of the study.
        noun: name of a block.
        found: the claim; all blocks if absent.
    """
    out = history.disturbed(Stage.CONFIRM)
    if found is None or found.disturbed_blocks:
        blocks = len(history.complete(Stage.CONFIRM)) if found is None else found.blocks
        among = out if found is None else found.disturbed_blocks
        return show_count(blocks, noun) + (f" ({among} of them disturbed)" if among else "")
    return show_count(found.blocks, noun) + (f" ({out} disturbed ones left out)" if out else "")


def no_more(told: str) -> str:
    """Return the reason why a study ends with an unclear result."""
    return f"After {told} no further one would tell more."
