"""Idle: whether a model knows that settings of a winner do nothing in it."""

from __future__ import annotations

from assay.search.model.searcher import Estimate

MAX_LOSS_SHARE = 0.25
"""Settings go from a winner as long as the model expects less than this share of the margin to be
lost with all of them,"""
MAX_DEVIATION_SHARE = 0.3
"""or less than it doubts, where its doubt is no more than such a share of the gain: what was never
launched is a guess."""
MAX_EARLY_DEVIATION_SHARE = 0.1
"""The same of a model that knows few launches, which guesses its own doubt as well."""
EARLY_LAUNCHES = 50
"""Fewer launches than this are few. On the recorded spaces 0.3 loses nothing after 100 launches of
a study and 5 % of the regret after 50; 0.1 leaves more idle settings in winners."""


def is_negligible(
    loss: Estimate, gain: float, tolerance: float, doubt: float, launches: int
) -> bool:
    """Whether a loss against the whole winner is next to nothing, and known well enough.

    Args:
        loss: log ratio of the winner without the settings to the whole winner.
        gain: log ratio of the winner to the default.
        tolerance: logarithm of the ratio below which differences count as none.
        doubt: a loss of so many standard deviations of what is not known about it counts as none.
        launches: that the model knows.
    """
    nothing = loss.mean <= max(MAX_LOSS_SHARE * tolerance, doubt * loss.deviation)
    known = MAX_DEVIATION_SHARE if launches >= EARLY_LAUNCHES else MAX_EARLY_DEVIATION_SHARE
    return nothing and loss.deviation <= known * abs(gain)
