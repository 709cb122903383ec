"""Reserved budget: the part that earlier stages must leave for the confirmation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.records import Arm, Stage
from assay.search.claims.claims import MIN_BLOCKS
from assay.search.claims.proof import (
    blocks_at_any_analysis,
    blocks_at_planned_analysis,
    is_reserved,
    proof_cost,
)
from assay.search.history.history import DEFAULT_ARM, History
from assay.search.history.remaining_budget import CONFIRMATION_RESERVE, Cost, RemainingBudget
from assay.stats.confidence_sequence import min_values
from assay.stats.undisturbed import ALPHA_SHARE


@dataclass(frozen=True)
class ReservedBudget:
    """Budget of the confirmation, and the smallest difference that matters.

    Attributes:
        margin: ratio differences below it count as none.
        arms: arms of a confirmation block.
        blocks: smallest number of blocks of a claim.
        core_blocks: smallest number of blocks of claims on a winner and its core; ``None`` if no
            core may run.
        alpha: error rate that the claims on a winner and its core share where assay chooses the
            length of launches, so that no analysis is planned; ``None`` elsewhere.
    """

    margin: float
    arms: int = 2
    blocks: int = MIN_BLOCKS
    core_blocks: int | None = None
    alpha: float | None = None

    def confirmation(self, history: History, arm: Arm = DEFAULT_ARM) -> Cost:
        """Return the cost of the smallest confirmation of an arm, with a reserve."""
        block = history.upper_quartile_cost([arm, *[DEFAULT_ARM] * (self.arms - 1)])
        return block.times(CONFIRMATION_RESERVE * self.blocks)

    def proof(self, history: History, winners: Sequence[Arm], gain: float, noise: float) -> Cost:
        """Return the expected cost of a proof of a gain.

        Args:
            history: samples so far.
            winners: the arm that gains, and its core if that runs as well.
            gain: expected gain, as a difference of logarithms.
            noise: standard deviation of the logarithm of a launch.
        """
        least = self.blocks
        if len(winners) > 1 and self.core_blocks is not None:
            least = self.core_blocks
        if self.alpha is None:
            blocks = blocks_at_planned_analysis(gain, noise, least, len(winners))
        else:
            # An interval with disturbed blocks and one without them share the error rate.
            share = ALPHA_SHARE if history.disturbed(Stage.SEARCH) else 1.0
            alpha = share * self.alpha / len(winners)
            least = max(least, min_values(alpha))
            blocks = blocks_at_any_analysis(gain, noise, least, alpha)
        return proof_cost(history, [*winners, *[DEFAULT_ARM] * (self.arms - 1)], blocks)

    def least_proof(self, history: History) -> Cost:
        """Return a cost that no proof undercuts: the default's part of the fewest blocks."""
        return proof_cost(history, [DEFAULT_ARM] * (self.arms - 1), self.blocks)

    def keeps(self, budget: RemainingBudget, proof: Cost) -> bool:
        """Return whether a search leaves the cost of a proof, whatever it may still find.

        Other searches weigh the proof of a small budget against the launches that it displaces.

        Args:
            budget: budget, of which the whole counts.
            proof: cost of the proof.
        """
        return self.alpha is not None and is_reserved(budget, proof)

    def affords(
        self, history: History, arms: Sequence[Arm], budget: RemainingBudget, share: float = 0.0
    ) -> bool:
        """Return whether a search block leaves a share of the budget and a confirmation."""
        block = history.cost(arms, Stage.SEARCH)
        return budget.affords(block, keep=share, min_cost=self.confirmation(history))
