"""Number of blocks that an answer rests on."""

from __future__ import annotations

from assay.records import Claim, Stage
from assay.search.history.history import History
from assay.wording.counts import block_count


def counted(history: History, noun: str = "block", found: Claim | None = None) -> str:
    """Return the number of blocks that an answer rests on: ``12 blocks``.

    Args:
        history: samples of the study.
        noun: name of a block.
        found: the claim; if absent, all blocks that were run count.
    """
    out = history.disturbed(Stage.CONFIRM)
    if found is None:
        return block_count(history.count_complete(Stage.CONFIRM), noun, disturbed=out)
    if found.disturbed_blocks:
        return block_count(found.blocks, noun, disturbed=found.disturbed_blocks)
    return block_count(found.blocks, noun, left_out=out)
