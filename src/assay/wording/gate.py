"""Gate: reasons why a comparison or a measurement is not accepted."""

from __future__ import annotations

from assay.records import Requirement
from assay.wording.counts import launch_count
from assay.wording.requirement import requirement_text


def requirement_reason(arm: str, requirement: Requirement) -> str:
    """Return a requirement of an arm: ``A, wall_s<=2s``."""
    return f"{arm}, {requirement_text(requirement)}"


def failed_reason(arm: str, launches: int) -> str:
    """Return the number of launches of an arm that failed."""
    return f"{launch_count(launches)} of {arm}"


def timed_out_reason(arm: str, launches: int) -> str:
    """Return the number of launches of an arm that did not end."""
    return f"{launch_count(launches)} of {arm} did not end"


def without_claim_reason(arm: str) -> str:
    """Return the reason of an arm without a claim."""
    return f"{arm} has no claim"


def difference_text(b: str, a: str, margin: float) -> str:
    """Return two conditions, and the margin that their difference exceeds.

    Args:
        b, a: names of the conditions.
        margin: 0 without one.
    """
    beyond = f", by more than the margin of {100 * margin:g} %" if margin else ""
    return f"{b} against {a}{beyond}"
