"""Unreliable: arms that do not end, or fail, more often than what they are held against."""

from __future__ import annotations

from assay.records import Claim, Goal, Outcome, Sample, Stage, Verdict
from assay.search.history.hangs import count_hangs
from assay.search.history.history import History
from assay.search.history.losses import fails_more, is_endless
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
"""Failed launches that are held against an arm whose counterpart has none, however many ended well.
A launch without an end is held against it in any case."""
MAX_ACCIDENTAL_SHARE = 0.05
"""Share of an arm's launches up to which a single failure may be an accident of the machine."""
_Count = tuple[int, int]
"""How many launches of an arm were lost, and how many could be."""


def objection_to_preferred(found: Claim, history: History) -> str | None:
    """Say why a claim cannot stand that prefers an arm with more losses; else ``None``.

    Args:
        found: the claim.
        history: of the study.
    """
    preferred = {Verdict.FASTER: (found.b, found.a), Verdict.SLOWER: (found.a, found.b)}
    if found.verdict not in preferred:
        return None
    return excess_losses(history, *preferred[found.verdict])


def objection_to_leading(found: Claim, goal: Goal, history: History) -> str | None:
    """Say why no launches will show an arm to be better that stands better so far; else ``None``.

    Args:
        found: the claim.
        goal: of its metric.
        history: of the study.
    """
    if found.verdict is not Verdict.UNCLEAR or found.bound_only or found.ratio == 1.0:
        return None
    b_stands_better = (found.ratio < 1.0) == (goal is Goal.LOWER)
    better, other = (found.b, found.a) if b_stands_better else (found.a, found.b)
    return excess_losses(history, better, other)


def excess_losses(history: History, arm: str, other: str) -> str | None:
    """Say how many launches of two arms did not end or failed, where an arm loses more of them.

    Where all of the other arm end well, one launch without an end is enough, ``MIN_FAILED`` that
    failed, or one that failed of few (``MAX_ACCIDENTAL_SHARE``). Otherwise
    the difference must exceed chance.

    Args:
        history: of the study.
        arm, other: names.
    """
    hangs = count_hangs(history, arm), count_hangs(history, other)
    if _more(*hangs, least=1):
        return _objection(hangs, (arm, other), DID_NOT_END, ENDED)
    lost = _lost(history, arm), _lost(history, other)
    if not _more(*lost, least=MIN_FAILED):
        return None
    loss = FAILED_OR_DID_NOT_END if any(number for number, _ in hangs) else FAILED
    return _objection(lost, (arm, other), loss, ENDED_WELL)


def may_be_by_chance(found: Claim, history: History) -> bool:
    """Return whether further launches may show that neither of two arms fails more often.

    Launches that do not end are not waited for: each takes long.

    Args:
        found: a claim that is withheld.
        history: of the study.
    """
    a, b = _lost(history, found.a), _lost(history, found.b)
    if count_hangs(history, found.a)[0] or count_hangs(history, found.b)[0]:
        return False
    return (a[0] > 0 or b[0] > 0) and not fails_more(a, b) and not fails_more(b, a)


def _more(mine: _Count, others: _Count, *, least: int) -> bool:
    enough = mine[0] >= least or mine[0] > MAX_ACCIDENTAL_SHARE * mine[1]
    return (enough and others[0] == 0) or fails_more(mine, others)


def _lost(history: History, arm: str) -> _Count:
    """Return how many launches of an arm failed or did not end, and how many there were."""
    mine = [s for s in history.launches_of(arm) if _counts(s)]
    return sum(sample.outcome is not Outcome.OK for sample in mine), len(mine)


def _counts(sample: Sample) -> bool:
    """Whether the end of a launch tells something of its arm: no warm-up, no failed build."""
    if sample.outcome is Outcome.TIMED_OUT:
        return is_hung(sample)
    return sample.launch.stage is not Stage.SURVEY and not sample.unbuilt


def _objection(
    counts: tuple[_Count, _Count], names: tuple[str, str], loss: str, success: str
) -> str:
    return losses_objection(
        losses_clause(name, number, launches, loss, success)
        for (number, launches), name in zip(counts, names, strict=True)
    )
