"""Elsewhere: what was found in one place, held against what it does in another."""

from __future__ import annotations

from assay.records.claim import Claim
from assay.records.codec import Record


class EarlierRecommendation(Record, frozen=True, kw_only=True):
    """What an earlier study recommended where it ran.

    Attributes:
        study: its identity.
        partition: that its launches had a share of; empty where they had none.
        launches: that it made in all.
        claim: its winner against the default, in the objective; absent where there was none.
        spread: coefficient of variation of single launches of its default.
        values: launches that ``spread`` rests on.
    """

    study: str
    partition: str = ""
    launches: int
    claim: Claim | None = None
    spread: float | None = None
    values: int = 0


class CrossEnvironmentComparison(Record, frozen=True, kw_only=True):
    """The same recommendation in two places: where it was found, and where it was compared again.

    Attributes:
        found: where it was found.
        spread: coefficient of variation of single launches of the default, here.
        times: how many times the launches an answer as sure would have taken here: the ratio of
            the squared spreads.
        ci: its 90 % interval, for launches that scatter normally.
        saved: launches that this comes to for the study that found it; absent where the interval
            holds one.
    """

    found: EarlierRecommendation
    spread: float | None = None
    times: float | None = None
    ci: tuple[float, float] | None = None
    saved: int | None = None
