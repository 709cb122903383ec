"""Warm start: effect of earlier studies on a search."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import EarlierStudy, Stage
from assay.search.history.history import History
from assay.search.model.warm_start import first_proposals
from assay.search.races.strategy import BATCH
from assay.wording.warm_start import unused_warm_start, warm_start_sentence


def warm_start_result(earlier: Sequence[EarlierStudy], history: History, *, guided: bool) -> str:
    """Return the effect of earlier studies on a search in one sentence; empty without any.

    Args:
        earlier: studies that guided the search.
        history: launches of the search.
        guided: whether a model chose the configurations of the search.
    """
    blocks = history.blocks(Stage.SEARCH)
    if not earlier or not blocks:
        return ""
    if not guided:
        return unused_warm_start(earlier)
    names = {str(configuration) for configuration in first_proposals(earlier, BATCH // 2)}
    first = [a for a in history.arms(Stage.SEARCH) if a.name in names]
    ran = [a for a in first if history.first_block(Stage.SEARCH, a.name) == blocks[0]]
    return warm_start_sentence(earlier, len(ran))
