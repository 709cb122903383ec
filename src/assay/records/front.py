"""FrontPoint: one configuration of the answer to several objectives."""

from __future__ import annotations

import enum

from assay.records.claim import Claim
from assay.records.codec import Record
from assay.records.configuration import Configuration


class FrontExclusion(enum.StrEnum):
    """Why a confirmed point is no part of the front."""

    DOMINATED = "dominated"
    NO_GAIN = "no gain"
    UNCLEAR = "unclear"
    FAILS = "fails"


class FrontPoint(Record, frozen=True, kw_only=True):
    """A configuration that was confirmed in several objectives at once.

    Attributes:
        name: of its arm.
        settings: what it sets.
        claims: against the default, one for each objective in the order they were asked for; one
            without a value in both arms is left out.
        script: runs it without assay; of points of the front alone.
        off: why it is no part of the front; absent where it is.
        dominated_by: name of the arm that is shown to be better, where one is.
    """

    name: str
    settings: Configuration
    claims: tuple[Claim, ...] = ()
    script: str = ""
    off: FrontExclusion | None = None
    dominated_by: str | None = None
