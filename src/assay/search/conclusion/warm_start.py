"""What is said of a warm start: of what is taken from where, and of what came of it."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import EarlierStudy, Stage
from assay.search.history.history import History
from assay.search.model.warm_start import first_proposals
from assay.search.races.strategy import BATCH
from assay.units import show_count


def warm_start_announcement(earlier: Sequence[EarlierStudy]) -> str:
    """What a search that begins takes from where."""
    known = len({known.configuration for one in earlier for known in one.known})
    return (
        f"begins with what {_studies(earlier)} knew of {show_count(known, 'configuration')}, "
        f"unless all can be tried; no figure of {'it' if len(earlier) == 1 else 'them'} is evidence"
    )


def warm_start_result(earlier: Sequence[EarlierStudy], history: History, *, guided: bool) -> str:
    """What earlier studies did for a search, in one sentence; empty where there are none.

    Args:
        earlier: what guided the study.
        history: of its launches.
        guided: whether a model chose what ran in the search.
    """
    blocks = history.blocks(Stage.SEARCH)
    if not earlier or not blocks:
        return ""
    if not guided:
        return f"All configurations were tried: nothing was taken from {_studies(earlier)}."
    names = {str(configuration) for configuration in first_proposals(earlier, BATCH // 2)}
    first = [a for a in history.arms(Stage.SEARCH) if a.name in names]
    ran = [a for a in first if history.first_block(Stage.SEARCH, a.name) == blocks[0]]
    who, whom = ("it", "it") if len(earlier) == 1 else ("they", "them")
    return (
        f"The search began with {show_count(len(ran), 'configuration')} of {_studies(earlier)}, "
        f"and heard what {who} knew as far as {who} proved alike; no figure of {whom} is evidence."
    )


def _studies(earlier: Sequence[EarlierStudy]) -> str:
    """``study a of this workload``, ``studies a, b and c``."""
    ids = [one.study for one in earlier]
    listed = " and ".join(filter(None, [", ".join(ids[:-1]), ids[-1]]))
    same = [one.same_workload for one in earlier]
    whose = " of this workload" if all(same) else "" if any(same) else " of another workload"
    return f"{'study' if len(ids) == 1 else 'studies'} {listed}{whose}"
