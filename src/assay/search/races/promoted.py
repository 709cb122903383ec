"""Search at full fidelity among the configurations that low fidelities promoted."""

from __future__ import annotations

from assay.records import Arm, Goal, Stage
from assay.search.history.history import DEFAULT_ARM, History
from assay.search.history.remaining_budget import RemainingBudget
from assay.search.model.feasibility import feasible_configurations
from assay.search.model.trials import trials_of
from assay.search.progress.levels import agreement_of, estimates_of
from assay.search.races.reserved_budget import ReservedBudget
from assay.search.races.screening import FULL_BLOCKS, Screening
from assay.search.races.strategy import (
    MIN_SEARCH_BLOCKS,
    Strategy,
    best_arm,
    is_settled,
    remaining_arms,
)
from assay.stats.progress.fidelity import FidelityAgreement, promoted

MISLEADING_TAU = 0.3
"""Kendall's tau below which a low fidelity counts as misleading if its whole interval is below."""

MAX_BLOCKS = 8
"""Largest number of blocks of a search that no proof follows."""


class PromotedStrategy:
    """Race of the promoted configurations, each until its interval excludes the best value.

    If the low fidelity misled the selection, the search continues over all configurations.

    Args:
        screening: selection at low fidelity.
        otherwise: strategy over all configurations at full fidelity.
        reserve: budget of the confirmation.
    """

    def __init__(self, screening: Screening, otherwise: Strategy, reserve: ReservedBudget) -> None:
        self._screening = screening
        self._otherwise = otherwise
        self._reserve = reserve

    def prove(self) -> None:
        """See ``Strategy.prove``; the promoted configurations are few in any case."""
        self._otherwise.prove()

    def is_misled(self, history: History) -> bool:
        """Return whether no configuration works at low fidelity, or it predicts another order."""
        if not self._screening.ranked(history):
            return True
        found = self.agreement(history)
        return found is not None and found.hi is not None and found.hi < MISLEADING_TAU

    def agreement(self, history: History) -> FidelityAgreement | None:
        """Return how well the lowest fidelity predicted the order so far."""
        return agreement_of(self._screening.lowest(history), history)

    def next_arms(self, history: History, budget: RemainingBudget) -> list[Arm] | None:
        """See ``Strategy.next_arms``."""
        blocks = len(history.blocks(Stage.SEARCH))
        if budget.spent:
            return None
        if self.is_misled(history):
            return self._otherwise.next_arms(history, budget)
        if blocks == 0:
            return [DEFAULT_ARM, *self._screening.full_arms(history, budget)]
        racing = self._contenders(history)
        if racing == [DEFAULT_ARM]:
            return None
        keep = self._screening.kept_share(history, budget)
        if not budget.affords(self._reserve.confirmation(history)):
            # Without room for a proof, further launches support the recommendation.
            cost = history.cost(racing, Stage.SEARCH)
            return racing if blocks < MAX_BLOCKS and budget.affords(cost) else None
        if len(racing) <= 2 and blocks >= FULL_BLOCKS:
            return None
        if blocks >= MIN_SEARCH_BLOCKS and is_settled(history, racing, self._reserve.margin):
            return None
        return racing if self._reserve.affords(history, racing, budget, keep) else None

    def winner(self, history: History) -> Arm:
        """See ``Strategy.winner``."""
        if not history.blocks(Stage.SEARCH):
            return DEFAULT_ARM
        if self.is_misled(history):
            return self._otherwise.winner(history)
        racing = self._feasible(history, self._contenders(history))
        return best_arm(history, racing) if racing else DEFAULT_ARM

    def _contenders(self, history: History) -> list[Arm]:
        """Return the default and the arms of the newest block that may be the best."""
        racing = remaining_arms(history)
        found = estimates_of(history)
        rivals = self._feasible(history, [arm for arm in racing if arm.name in found])
        estimates = [found[arm.name] for arm in rivals]
        kept = [rivals[at] for at in promoted(estimates, goal=Goal.LOWER, share=0.0)]
        return [DEFAULT_ARM, *(arm for arm in kept if arm != DEFAULT_ARM)]

    def _feasible(self, history: History, arms: list[Arm]) -> list[Arm]:
        """Return the arms that meet the requirements, if there are any."""
        if not history.slacks.require:
            return arms
        kept = feasible_configurations(trials_of(history))
        return [arm for arm in arms if arm.configuration in kept]
