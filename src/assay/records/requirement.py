"""Requirement: a bound on a metric, and the verdict on it for each arm."""

from __future__ import annotations

import enum
from collections.abc import Sequence

from assay.records.codec import Record

MEDIAN = 0.5


class Bound(enum.StrEnum):
    """Direction of a bound."""

    AT_MOST = "<="
    AT_LEAST = ">="


class RequirementVerdict(enum.StrEnum):
    """Verdict on a requirement from the launches of an arm."""

    HOLDS = "holds"
    BROKEN = "broken"
    UNCLEAR = "unclear"


class Requirement(Record, frozen=True, kw_only=True):
    """Bound on a quantile of a metric over the launches of an arm.

    Attributes:
        metric: name of a metric of the workload.
        bound: direction of the bound.
        limit: limit in the unit of the metric; an equal value satisfies the bound.
        quantile: quantile between 0 and 1; the median by default.
    """

    metric: str
    bound: Bound
    limit: float
    quantile: float = MEDIAN

    @property
    def share(self) -> float:
        """Return the share of launches that have to satisfy the bound.

        The p90 is at most X if at least 90 % of the launches are, and the p10 is at least X if at
        least 90 % are.
        """
        return self.quantile if self.bound is Bound.AT_MOST else 1.0 - self.quantile

    def is_met_by(self, value: float) -> bool:
        """Return whether a value satisfies the bound."""
        return value <= self.limit if self.bound is Bound.AT_MOST else value >= self.limit

    def is_undecided_between(self, lower: float, upper: float) -> bool:
        """Return whether a value with these bounds may meet the requirement or violate it."""
        return self.is_met_by(lower) != self.is_met_by(upper)


class RequirementResult(Record, frozen=True, kw_only=True):
    """Result of a requirement in one arm, from its measured launches.

    Attributes:
        arm: name of the arm.
        metric: metric of the requirement.
        bound: direction of the bound.
        limit: limit in the unit of the metric.
        verdict: whether the quantile satisfies the bound.
        launches: number of launches.
        satisfied_launches: launches that satisfy the bound.
        share_ci: interval of the share of launches that satisfy the bound, valid at every interim
            analysis.
        alpha: accepted error rate of the verdict, corrected for the number of verdicts.
        quantile: quantile between 0 and 1.
        unknown_launches: launches of unknown value: failed, stopped before the limit was reached,
            or ``bounded_launches``. They count against either verdict.
        bounded_launches: launches with a lower and an upper bound on different sides of the limit.
        value: observed quantile; absent without any value.
        worst_value: value with the largest violation, or the smallest distance from the limit.
        launches_needed: estimated total number of launches for a verdict, if *unclear* and known.
        verdict_withheld: true if the verdict is *unclear* because more than a third of the blocks
            were disturbed, so that other processes may have caused the violations.
    """

    arm: str
    metric: str
    bound: Bound
    limit: float
    verdict: RequirementVerdict
    launches: int
    satisfied_launches: int
    share_ci: tuple[float, float]
    alpha: float
    quantile: float = MEDIAN
    unknown_launches: int = 0
    bounded_launches: int = 0
    value: float | None = None
    worst_value: float | None = None
    launches_needed: int | None = None
    verdict_withheld: bool = False

    @property
    def requirement(self) -> Requirement:
        """Return the requirement."""
        return Requirement(
            metric=self.metric, bound=self.bound, limit=self.limit, quantile=self.quantile
        )

    @property
    def violating_launches(self) -> int:
        """Return the number of launches that violate the bound."""
        return self.launches - self.satisfied_launches - self.unknown_launches


def overall_verdict(results: Sequence[RequirementResult], arm: str) -> RequirementVerdict | None:
    """Return the verdict on all requirements of an arm: the worst one; ``None`` without any.

    Args:
        results: results of a study.
        arm: name of the arm.
    """
    verdicts = {result.verdict for result in results if result.arm == arm}
    order = (RequirementVerdict.BROKEN, RequirementVerdict.UNCLEAR, RequirementVerdict.HOLDS)
    return next((verdict for verdict in order if verdict in verdicts), None)
