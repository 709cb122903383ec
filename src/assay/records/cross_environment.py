"""CrossEnvironmentComparison: a recommendation measured again in another environment."""

from __future__ import annotations

from assay.records.claim import Claim
from assay.records.codec import Record


class EarlierRecommendation(Record, frozen=True, kw_only=True):
    """Recommendation of an earlier study in its own environment.

    Attributes:
        study: id of the study.
        partition: partition of its launches; empty if they used none.
        launches: total number of launches.
        claim: claim on its winner against the default, in the objective; absent without one.
        spread: coefficient of variation of single launches of its default.
        spread_launches: number of launches behind ``spread``.
    """

    study: str
    partition: str = ""
    launches: int
    claim: Claim | None = None
    spread: float | None = None
    spread_launches: int = 0


class CrossEnvironmentComparison(Record, frozen=True, kw_only=True):
    """The same recommendation in two environments: the original one and the present one.

    Attributes:
        earlier_recommendation: the original recommendation.
        spread: coefficient of variation of single launches of the default, in the present
            environment.
        launch_factor: factor of launches that an equally precise answer would have needed here:
            ratio of the squared spreads.
        ci: 90 % interval of ``launch_factor``, for normally distributed launches.
        saved_launches: launches saved by searching in the original environment; absent if the
            interval contains 1.
    """

    earlier_recommendation: EarlierRecommendation
    spread: float | None = None
    launch_factor: float | None = None
    ci: tuple[float, float] | None = None
    saved_launches: int | None = None
