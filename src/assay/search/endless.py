"""Endless: launches that do not end, and how long is waited for them."""

from __future__ import annotations

from assay.records import Claim, Goal, StudySpec, Verdict
from assay.search.history import History
from assay.search.losses import fails_more, is_endless, may_end
from assay.units import show_count

FACTOR = 20.0
"""A launch may take this multiple of the longest first launch of its arm: a program whose slowest
launches take ten times its median is not stopped."""
LEAST_S = 10.0
"""So long any launch may take."""


def limit_s(spec: StudySpec, history: History, arm: str) -> float | None:
    """Return after how long a launch of an arm is taken not to end.

    That is ``--timeout`` where it was given. An arm that never ended well has no limit but the
    budget's.

    Args:
        spec: of the study.
        history: its samples.
        arm: name of the arm.
    """
    if spec.workload.timeout_s is not None:
        return spec.workload.timeout_s
    first_s = history.first_wall_s(arm)
    return None if first_s is None else max(LEAST_S, FACTOR * first_s)


def endless(history: History, arm: str) -> tuple[int, int]:
    """Return how many launches of an arm did not end, and how many had the time to."""
    mine = [s for s in history.launches_of(arm) if may_end(s)]
    return sum(map(is_endless, mine)), len(mine)


def favours_endless(found: Claim, history: History) -> str | None:
    """Say why a claim cannot stand that prefers an arm which ends less often; else ``None``.

    Args:
        found: the claim.
        history: of the study.
    """
    preferred = {Verdict.FASTER: (found.b, found.a), Verdict.SLOWER: (found.a, found.b)}
    if found.verdict not in preferred:
        return None
    better, other = preferred[found.verdict]
    return ends_less_often(history, better, other)


def leans_to_endless(found: Claim, goal: Goal, history: History) -> str | None:
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
    return ends_less_often(history, better, other)


def ends_less_often(history: History, arm: str, other: str) -> str | None:
    """Say how many launches of two arms did not end, where an arm ends less often; else ``None``.

    One launch without an end is enough where all of the other arm end.

    Args:
        history: of the study.
        arm, other: names.
    """
    mine, of_other = endless(history, arm), endless(history, other)
    hangs, ends = mine[0] > 0, of_other[0] == 0
    if not (hangs and ends) and not fails_more(mine, of_other):
        return None
    return f"{_told(mine, arm)}, and {_told(of_other, other)}"


def _told(counted: tuple[int, int], arm: str) -> str:
    number, launches = counted
    of = show_count(launches, "launch", "launches")
    return f"{number} of {of} of {arm} did not end" if number else f"all {of} of {arm} ended"
