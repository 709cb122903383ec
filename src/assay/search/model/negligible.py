"""Negligible settings: settings of a winner that have no effect by the model."""

from __future__ import annotations

from assay.search.model.searcher import Estimate

MAX_LOSS_SHARE = 0.25
"""Maximum share of the margin that may be lost by removing negligible settings from a winner,"""
MAX_DEVIATION_SHARE = 0.3
"""or the loss is below its uncertainty, if that is at most this share of the gain: a prediction
without a launch is a guess."""
MAX_EARLY_DEVIATION_SHARE = 0.1
"""The share for a model of few launches, which also guesses its own uncertainty."""
EARLY_LAUNCHES = 50
"""Launches below which a model knows few. On the recorded spaces 0.3 loses nothing after 100
launches of a study and 5 % of the regret after 50; 0.1 leaves more negligible settings in
winners."""


def is_negligible(
    loss: Estimate, gain: float, tolerance: float, doubt: float, launches: int
) -> bool:
    """Return whether a loss against the whole winner is negligible, and known well enough.

    Args:
        loss: log ratio of the winner without the settings to the whole winner.
        gain: log ratio of the winner to the default.
        tolerance: logarithm of the ratio below which differences count as none.
        doubt: number of standard deviations below which a loss counts as none.
        launches: number of launches in the model.
    """
    nothing = loss.mean <= max(MAX_LOSS_SHARE * tolerance, doubt * loss.deviation)
    known = MAX_DEVIATION_SHARE if launches >= EARLY_LAUNCHES else MAX_EARLY_DEVIATION_SHARE
    return nothing and loss.deviation <= known * abs(gain)
