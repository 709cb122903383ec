"""FrontPoint: one configuration of the result for several objectives."""

from __future__ import annotations

import enum

from assay.records.claim import Claim
from assay.records.codec import Record
from assay.records.configuration import Configuration


class FrontExclusion(enum.StrEnum):
    """Reason why a confirmed point is not part of the Pareto front."""

    DOMINATED = "dominated"
    NO_GAIN = "no gain"
    UNCLEAR = "unclear"
    FAILS = "fails"


class FrontPoint(Record, frozen=True, kw_only=True):
    """Configuration that was confirmed in several objectives.

    Attributes:
        name: name of its arm.
        settings: its settings.
        claims: claims against the default, one for each objective in the requested order; without
            objectives that have no value in both arms.
        script: shell script that runs it without assay; only for points of the front.
        exclusion: reason why it is not part of the front; absent if it is.
        dominated_by: name of a dominating arm, if there is one.
    """

    name: str
    settings: Configuration
    claims: tuple[Claim, ...] = ()
    script: str = ""
    exclusion: FrontExclusion | None = None
    dominated_by: str | None = None

    def claim_on(self, metric: str) -> Claim | None:
        """Return the claim on one objective; ``None`` where the point has no value of it."""
        return next((claim for claim in self.claims if claim.metric == metric), None)
