"""Claim and Recommendation: what a study says in the end."""

from __future__ import annotations

import enum

import msgspec

from assay.records.budget import Budget
from assay.records.codec import Record
from assay.records.configuration import Configuration


class Verdict(enum.StrEnum):
    """What a comparison shows; it speaks of ``b``."""

    FASTER = "faster"
    SLOWER = "slower"
    SAME = "same"
    UNCLEAR = "unclear"


class SpreadVerdict(enum.StrEnum):
    """What a comparison of spreads shows; it speaks of ``b``."""

    TIGHTER = "tighter"
    WIDER = "wider"
    SAME = "same"
    UNCLEAR = "unclear"


class Spread(Record, frozen=True, kw_only=True):
    """How much more ``b`` varies from launch to launch than ``a``.

    Attributes:
        ratio: of p90 - p10, b over a, as batches of blocks show it.
        ci: interval of the ratio, valid at every look; ``None`` for an open end.
        batches: how many it rests on.
    """

    ratio: float
    ci: tuple[float | None, float | None]
    verdict: SpreadVerdict
    batches: int


class CorrelatedLoad(Record, frozen=True, kw_only=True):
    """A load of other processes that followed the arms.

    Attributes:
        a, b: share of the CPUs that other processes used while each arm ran.
    """

    a: float
    b: float


class Claim(Record, frozen=True, kw_only=True):
    """A statement on two arms.

    Attributes:
        a, b: names of the arms; ``ratio`` is b over a.
        ci: interval of the ratio, valid at every look; ``None`` for an open end.
        blocks: complete pairs that it rests on.
        blocks_needed: for *unclear*, how many it would take in all, where that can be said.
        alpha: share of wrong intervals accepted, after correction for how many are shown.
        spread_ratio: p90 - p10 of all values of b over that of a.
        spread: the same with an interval, once there are enough blocks for one.
        unstable: the arms differ in spread, or the launches of one fall into two groups: the mean
            alone does not tell what a single launch will take.
        planned: ``ci`` is for the one look that was fixed before the first block, not for every.
        withheld: no verdict is given, since a load followed the arms, or there is an objection; it
            is *unclear* then.
        followed: that load.
        objection: what speaks against the figures themselves, as part of a sentence. Where nothing
            is ``withheld``, they decide nothing either, and further ones may.
        losses: how many launches of each arm failed or did not end, as part of a sentence, where
            one arm has more of them and there is no objection.
        disturbed_blocks: disturbed blocks among ``blocks``; 0 where the claim rests on undisturbed
            blocks alone.
        beyond_margin: the arms differ by more than ``margin``: the end of ``ci`` that is nearer to
            1 lies beyond it.
        applications: the arms differ in a setting that is costly to change: each pair is one
            application of either, with the launches within it averaged.
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
    planned: bool = False
    withheld: bool = False
    followed: CorrelatedLoad | None = None
    objection: str | None = None
    losses: str | None = None
    disturbed_blocks: int = 0
    beyond_margin: bool = False
    applications: bool = False
    shift: dict[str, float] = {}

    @property
    def is_doubted(self) -> bool:
        """Whether something else than too few launches keeps it from a verdict."""
        return self.withheld or self.objection is not None


class RecommendationStatus(enum.StrEnum):
    """What a recommendation rests on."""

    PROVEN = "proven"
    """A claim from confirmation launches shows that it is better than the default."""
    UNPROVEN = "unproven"
    """A model of all launches expects it to be better; no claim shows it."""
    DEFAULT = "default"
    """The default is kept."""


class ExpectedEffect(Record, frozen=True, kw_only=True):
    """The effect that a model of all launches expects of a configuration.

    Attributes:
        ratio: of the objective, the configuration over the default; corrected for selection.
        ci: interval that holds the true ratio with probability ``level``.
        level: of the interval.
        launches: number of launches that the model rests on.
    """

    ratio: float
    ci: tuple[float, float]
    level: float
    launches: int


class Recommendation(Record, frozen=True, kw_only=True):
    """The winning configuration, reduced to the settings that matter.

    Attributes:
        settings: empty where the default is kept.
        script: runs the winner without assay.
        sentence: the answer for people.
        claim: of the last confirmation; absent if there was none.
        status: what it rests on. Documents from before it was kept hold proven ones or the default.
        expected: for an unproven configuration, its expected effect; where the default is kept
            because the budget ended, that of the best that was launched.
        proof: cost of a proof of it beyond the budget that was spent; where only the default was
            launched, the cost of an answer.
        output: how its output differs from the default's, where the two may not do the same work.
    """

    settings: Configuration
    script: str
    sentence: str
    claim: Claim | None = None
    status: RecommendationStatus = RecommendationStatus.PROVEN
    expected: ExpectedEffect | None = None
    proof: Budget | None = None
    output: str | None = None

    def __post_init__(self) -> None:
        if not self.settings:
            msgspec.structs.force_setattr(self, "status", RecommendationStatus.DEFAULT)

    @property
    def unproven(self) -> bool:
        """Whether no claim shows that it is better."""
        return self.status is RecommendationStatus.UNPROVEN
