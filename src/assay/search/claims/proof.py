"""Proof: how many launches it takes to show a gain, and what it is worth beside more search."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from assay.records import Arm, Budget
from assay.search.history.history import History
from assay.search.history.remaining_budget import BUDGET_MARGIN, Cost, RemainingBudget
from assay.stats.confidence_sequence import half_width

POWER = 0.84
"""Standard errors that are added to the half width of the interval: the gain is shown in four
studies of five."""
PLANNED_WIDTH = 2.1
"""Half the width of a planned look's interval at 12 to 24 blocks, in standard errors; at fewer the
quantile of Student's t adds ``PLANNED_FEW`` / blocks."""
PLANNED_FEW = 4.0
PLANNED_ALPHA = 0.05
"""Error rate that this width is of."""
MAX_BLOCKS = 10_000
"""A gain that takes more is not shown at all."""
MAX_LAUNCHES = 2000
"""A proof that takes more is not suggested."""
PROOF_BONUS = 0.03
"""An expected gain that is proven counts this share of it more than one that is not."""


def blocks_at_planned_look(gain: float, noise: float, least: int, winners: int = 1) -> int:
    """Confirmation blocks that show a gain at the look that the budget plans.

    Args:
        gain: expected, as a difference of logarithms; the sign does not matter.
        noise: standard deviation of the logarithm of a launch.
        least: blocks below which nothing is shown.
        winners: that are held against the default, and share the error.
    """
    error = noise * math.sqrt(2.0)
    usual = PLANNED_WIDTH * _quantile(PLANNED_ALPHA / winners) / _quantile(PLANNED_ALPHA)
    blocks = least
    while blocks < MAX_BLOCKS:
        width = usual + PLANNED_FEW / blocks + POWER
        if width * error / math.sqrt(blocks) <= abs(gain):
            return blocks
        blocks += max(1, blocks // 8)
    return MAX_BLOCKS


def _quantile(alpha: float) -> float:
    """Half the width of a normal interval, in standard errors."""
    return statistics.NormalDist().inv_cdf(1.0 - alpha / 2.0)


def blocks_at_any_look(gain: float, noise: float, least: int, alpha: float) -> int:
    """The same where every block is looked at: a study that is resumed plans no look.

    Args:
        gain, noise, least: as for ``blocks_at_planned_look``.
        alpha: of the claim.
    """
    error = noise * math.sqrt(2.0)
    blocks = least
    while blocks < MAX_BLOCKS:
        width = half_width(blocks, error, alpha) + POWER * error / math.sqrt(blocks)
        if width <= abs(gain):
            return blocks
        blocks += max(1, blocks // 8)
    return MAX_BLOCKS


def proof_cost(history: History, arms: Sequence[Arm], blocks: int) -> Cost:
    """What so many confirmation blocks of these arms are expected to take."""
    return history.upper_quartile_cost(arms).times(blocks)


def suggested_proof(cost: Cost) -> Budget | None:
    """Return the same as a budget that can be asked for; ``None`` where it is too much to ask."""
    if cost.launches > MAX_LAUNCHES:
        return None
    return Budget(time_s=float(math.ceil(cost.time_s * BUDGET_MARGIN)), launches=cost.launches)


def displaced_launches(purse: RemainingBudget, proof: Cost, following: Cost) -> float:
    """Launches of the search that a proof takes the place of.

    Where each new configuration is to be built a proof, which builds nothing, displaces few.

    Args:
        purse: says whether time or launches are short.
        proof: its cost.
        following: cost of the next block of search.
    """
    shares = []
    if purse.total.time_s is not None:
        whole_s = following.time_s + following.once_s
        shares.append((proof.time_s + proof.once_s) / max(whole_s, 1e-9))
    if purse.total.launches is not None:
        shares.append(proof.launches / max(following.launches, 1))
    return following.launches * max(shares, default=1.0)


def prefers_proof(gain: float, left: float, made: int, launches: float) -> bool:
    """Whether a proof is worth more than the search that it takes the place of.

    The best of a space comes nearer in proportion to the launches made: of what is left to gain
    after ``made`` launches, the share ``launches / (made + launches)`` is expected of so many more.

    Args:
        gain: expected of the best that is known, as a difference of logarithms.
        left: by how much the best of the space is expected to be better than that.
        made: launches of the search so far.
        launches: of the search, that the proof takes the place of.
    """
    if not math.isfinite(left):
        return True
    return PROOF_BONUS * abs(gain) >= max(0.0, left) * launches / max(1, made + launches)


def is_last_chance(purse: RemainingBudget, proof: Cost, following: Cost) -> bool:
    """Whether a proof fits into what is left, and does not after another block of search."""
    return purse.affords(proof) and not purse.affords(following, least=proof)
