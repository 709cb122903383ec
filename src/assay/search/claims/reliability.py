"""Reliability: arms that fail or time out more often than their reference."""

from __future__ import annotations

from assay.records import Claim, Goal, Verdict
from assay.search.history.hangs import count_hangs
from assay.search.history.history import History
from assay.search.history.losses import fails_more
from assay.wording.objections import (
    DID_NOT_END,
    ENDED,
    ENDED_WELL,
    FAILED,
    FAILED_OR_DID_NOT_END,
    losses_clause,
    losses_objection,
)

MIN_FAILED = 2
"""Smallest number of failures that count against an arm whose reference has none. A single launch
without an end always counts."""
MAX_ACCIDENTAL_SHARE = 0.05
"""Largest share of the launches of an arm at which a single failure may be an accident."""
_Count = tuple[int, int]
"""Number of lost launches of an arm, and of all that count."""


def objection_to_preferred(found: Claim, history: History) -> str | None:
    """Return the objection to a claim that prefers an arm with more losses; ``None`` without one.

    Args:
        found: the claim.
        history: samples of the study.
    """
    preferred = {Verdict.FASTER: (found.b, found.a), Verdict.SLOWER: (found.a, found.b)}
    if found.verdict not in preferred:
        return None
    return excess_losses(history, *preferred[found.verdict])


def objection_to_leading(found: Claim, goal: Goal, history: History) -> str | None:
    """Return the objection to an undecided claim with a lossy leader; ``None`` without one.

    Args:
        found: the claim.
        goal: goal of its metric.
        history: samples of the study.
    """
    if found.verdict is not Verdict.UNCLEAR or found.bound_only or found.ratio == 1.0:
        return None
    b_stands_better = (found.ratio < 1.0) == (goal is Goal.LOWER)
    better, other = (found.b, found.a) if b_stands_better else (found.a, found.b)
    return excess_losses(history, better, other)


def excess_losses(history: History, arm: str, other: str) -> str | None:
    """Return the losses of two arms, if the first loses more launches; else ``None``.

    If all launches of the other arm end well, one launch without an end suffices, ``MIN_FAILED``
    failures, or one failure of few launches (``MAX_ACCIDENTAL_SHARE``). Otherwise the difference
    must exceed chance.

    Args:
        history: samples of the study.
        arm, other: names of the arms.
    """
    hangs = count_hangs(history, arm), count_hangs(history, other)
    if _more(*hangs, min_difference=1):
        return _objection(hangs, (arm, other), DID_NOT_END, ENDED)
    lost = _lost(history, arm), _lost(history, other)
    if not _more(*lost, min_difference=MIN_FAILED):
        return None
    loss = FAILED_OR_DID_NOT_END if any(number for number, _ in hangs) else FAILED
    return _objection(lost, (arm, other), loss, ENDED_WELL)


def may_be_by_chance(found: Claim, history: History) -> bool:
    """Return whether further launches may show that neither of two arms fails more often.

    Launches that do not end are not repeated: each takes long.

    Args:
        found: claim without a verdict.
        history: samples of the study.
    """
    a, b = _lost(history, found.a), _lost(history, found.b)
    if count_hangs(history, found.a)[0] or count_hangs(history, found.b)[0]:
        return False
    return (a[0] > 0 or b[0] > 0) and not fails_more(a, b) and not fails_more(b, a)


def _more(own: _Count, others: _Count, *, min_difference: int) -> bool:
    enough = own[0] >= min_difference or own[0] > MAX_ACCIDENTAL_SHARE * own[1]
    return (enough and others[0] == 0) or fails_more(own, others)


def _lost(history: History, arm: str) -> _Count:
    """Return the number of launches of an arm that failed or did not end, and of all."""
    counts = history.counts_of(arm)
    return counts.failed, counts.counted


def _objection(
    counts: tuple[_Count, _Count], names: tuple[str, str], loss: str, success: str
) -> str:
    return losses_objection(
        losses_clause(name, number, launches, loss, success)
        for (number, launches), name in zip(counts, names, strict=True)
    )
