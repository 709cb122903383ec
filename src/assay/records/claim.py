"""Claim and Recommendation: the results of a study."""

from __future__ import annotations

import enum

import msgspec

from assay.records.budget import Budget
from assay.records.codec import Record
from assay.records.configuration import Configuration


class Verdict(enum.StrEnum):
    """Result of a comparison, stated for ``b``."""

    FASTER = "faster"
    SLOWER = "slower"
    SAME = "same"
    UNCLEAR = "unclear"


class SpreadVerdict(enum.StrEnum):
    """Result of a comparison of spreads, stated for ``b``."""

    TIGHTER = "tighter"
    WIDER = "wider"
    SAME = "same"
    UNCLEAR = "unclear"


class Spread(Record, frozen=True, kw_only=True):
    """Spread of the launches of ``b`` relative to ``a``.

    Attributes:
        ratio: ratio of p90 - p10, b over a, from batches of blocks.
        ci: interval of the ratio, valid at every interim analysis; ``null`` for an open end.
        verdict: result for ``b``.
        batches: number of batches.
    """

    ratio: float
    ci: tuple[float | None, float | None]
    verdict: SpreadVerdict
    batches: int


class CorrelatedLoad(Record, frozen=True, kw_only=True):
    """Load of other processes that is correlated with the arms.

    Attributes:
        a: share of the CPUs that other processes used while arm ``a`` ran, from 0 to 1.
        b: share of the CPUs that other processes used while arm ``b`` ran, from 0 to 1.
    """

    a: float
    b: float


class Claim(Record, frozen=True, kw_only=True):
    """Statement on two arms.

    Attributes:
        a: name of the arm that ``b`` is compared with.
        b: name of the arm that the verdict is about.
        metric: metric of the claim.
        ratio: ratio of the metric, b over a.
        ci: interval of the ratio, valid at every interim analysis; ``null`` for an open end.
        verdict: result for ``b``.
        blocks: number of complete pairs.
        margin: margin of equivalence of the ratio.
        alpha: accepted error rate of the interval, corrected for the number of claims.
        method: estimator of ``ratio``: ``mean`` or ``median`` of the paired logarithms, ``spread``,
            or ``none``.
        blocks_needed: estimated total number of pairs for a verdict, if *unclear* and known.
        bound_only: true if time-outs reduce the ratio to a bound.
        censored_share: share of the pairs with a time-out, from 0 to 1.
        spread_ratio: p90 - p10 of all values of b over that of a.
        spread: the same with an interval, once there are enough blocks.
        unstable: true if the arms differ in spread, or the launches of one arm are bimodal: the
            mean alone does not predict a single launch.
        single_analysis: true if ``ci`` is valid at the one analysis that was fixed before the first
            block.
        verdict_withheld: true if the verdict is *unclear* because of ``correlated_load`` or
            ``data_problem``.
        correlated_load: load of other processes that is correlated with the arms.
        data_problem: objection to the figures themselves, as part of a sentence. Without
            ``verdict_withheld`` the figures decide nothing yet, and further blocks may.
        missing_values: launches without a value of each arm, as part of a sentence, if one arm has
            more of them and there is no objection.
        disturbed_blocks: disturbed blocks among ``blocks``; 0 if all are undisturbed.
        beyond_margin: true if the end of ``ci`` that is nearer to 1 lies outside the margin of
            equivalence.
        applications: true if the arms differ in a hard-to-change setting: each pair is one
            application of each arm, averaged over its launches.
        processes: true if each pair is one process of the user, averaged over its trials.
        shift: ratio of quantiles of all values, b over a, by quantile, such as ``p90``.
    """

    a: str
    b: str
    metric: str
    ratio: float
    ci: tuple[float | None, float | None]
    verdict: Verdict
    blocks: int
    margin: float
    alpha: float
    method: str
    blocks_needed: int | None = None
    bound_only: bool = False
    censored_share: float = 0.0
    spread_ratio: float | None = None
    spread: Spread | None = None
    unstable: bool = False
    single_analysis: bool = False
    verdict_withheld: bool = False
    correlated_load: CorrelatedLoad | None = None
    data_problem: str | None = None
    missing_values: str | None = None
    disturbed_blocks: int = 0
    beyond_margin: bool = False
    applications: bool = False
    processes: bool = False
    shift: dict[str, float] = {}

    @property
    def is_doubted(self) -> bool:
        """Return whether a reason other than too few launches prevents a verdict."""
        return self.verdict_withheld or self.data_problem is not None


class RecommendationStatus(enum.StrEnum):
    """Evidence of a recommendation."""

    PROVEN = "proven"
    """A claim from confirmation launches shows that it is better than the default."""
    UNPROVEN = "unproven"
    """A model of all launches expects it to be better; no claim shows it."""
    DEFAULT = "default"
    """The default is kept."""


class ExpectedEffect(Record, frozen=True, kw_only=True):
    """Effect of a configuration as expected by a model of all launches.

    Attributes:
        ratio: objective of the configuration over that of the default; corrected for selection.
        ci: interval that contains the true ratio with probability ``level``.
        level: probability of the interval.
        launches: number of launches of the model.
    """

    ratio: float
    ci: tuple[float, float]
    level: float
    launches: int


class Recommendation(Record, frozen=True, kw_only=True):
    """The best configuration, reduced to the settings with an effect.

    Attributes:
        settings: empty if the default is kept.
        script: shell script that runs the configuration without assay.
        sentence: the answer in words.
        claim: claim of the last confirmation; absent without one.
        status: evidence of the recommendation. Older documents without it hold proven ones or the
            default.
        expected: expected effect of an unproven configuration. If the default is kept because the
            budget ended, that of the best configuration that was launched.
        proof: estimated cost of a proof beyond the spent budget. If only the default was launched,
            the cost of an answer.
        output_difference: difference of its output from that of the default, if the two may do
            different work.
    """

    settings: Configuration
    script: str
    sentence: str
    claim: Claim | None = None
    status: RecommendationStatus = RecommendationStatus.PROVEN
    expected: ExpectedEffect | None = None
    proof: Budget | None = None
    output_difference: str | None = None

    def __post_init__(self) -> None:
        if not self.settings:
            msgspec.structs.force_setattr(self, "status", RecommendationStatus.DEFAULT)

    @property
    def unproven(self) -> bool:
        """Return whether no claim shows that it is better."""
        return self.status is RecommendationStatus.UNPROVEN
