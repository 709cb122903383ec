"""Requirement: a bound that a figure of the result is to keep, and whether an arm keeps it."""

from __future__ import annotations

import enum

from assay.records.codec import Record

MEDIAN = 0.5


class Bound(enum.StrEnum):
    """Which side of its limit a figure is to stay on."""

    AT_MOST = "<="
    AT_LEAST = ">="


class RequirementVerdict(enum.StrEnum):
    """What the launches of an arm show of a requirement."""

    HOLDS = "holds"
    BROKEN = "broken"
    UNCLEAR = "unclear"


class Requirement(Record, frozen=True, kw_only=True):
    """A bound on a quantile of a metric over the launches of an arm.

    Attributes:
        metric: name of a metric of the workload.
        bound: which side of the limit the quantile is to stay on.
        limit: in the unit of the metric; what is equal to it keeps it.
        quantile: between 0 and 1, the median unless said otherwise.
    """

    metric: str
    bound: Bound
    limit: float
    quantile: float = MEDIAN

    @property
    def share(self) -> float:
        """Of the launches, that are to keep the bound each by itself.

        The p90 is at most X where at least 90 % of the launches are, and the p10 is at least X
        where at least 90 % are.
        """
        return self.quantile if self.bound is Bound.AT_MOST else 1.0 - self.quantile

    def keeps(self, value: float) -> bool:
        """Whether a value is on the right side."""
        return value <= self.limit if self.bound is Bound.AT_MOST else value >= self.limit

    def is_between(self, value: float, at_most: float) -> bool:
        """Return whether a bound lies between the least and the highest that a value may be."""
        return self.keeps(value) != self.keeps(at_most)


class RequirementResult(Record, frozen=True, kw_only=True):
    """What was seen of a requirement in one arm, from its launches that count.

    Attributes:
        arm: its name.
        metric, bound, limit, quantile: of the requirement.
        verdict: whether the quantile keeps the bound.
        launches: that it rests on.
        kept: of them, that were on the right side.
        unknown: of them, whose value is not known: they failed, were stopped before the limit
            was reached, or are ``bounded``. They count against whatever is to be shown.
        bounded: of them, whose value is a lower bound on one side of the limit and has its upper
            bound on the other.
        share_ci: interval of the share of launches that keep the bound, valid at every look.
        alpha: share of wrong verdicts accepted, after correction for how many are shown.
        value: the quantile, as seen; absent without any value.
        worst: the value farthest to the wrong side.
        launches_needed: for *unclear*, how many it would take in all, where that can be said.
        withheld: more than a third of the blocks were disturbed, and what launches break may be
            broken by that load; it is *unclear* then.
    """

    arm: str
    metric: str
    bound: Bound
    limit: float
    verdict: RequirementVerdict
    launches: int
    kept: int
    share_ci: tuple[float, float]
    alpha: float
    quantile: float = MEDIAN
    unknown: int = 0
    bounded: int = 0
    value: float | None = None
    worst: float | None = None
    launches_needed: int | None = None
    withheld: bool = False

    @property
    def requirement(self) -> Requirement:
        """What was required."""
        return Requirement(
            metric=self.metric, bound=self.bound, limit=self.limit, quantile=self.quantile
        )

    @property
    def beyond(self) -> int:
        """Launches that were on the wrong side."""
        return self.launches - self.kept - self.unknown
