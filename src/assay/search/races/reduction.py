"""Reduction: a winner without the settings that have no effect.

Each setting of the winner is left out in turn (ablation), in paired blocks against the winner.
Settings whose absence costs less than the margin are left out together, and the result is compared
with the winner once more, since two settings may have the same effect. The costliest omission is
put back first.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.records import Arm, Stage
from assay.search.history.history import DEFAULT_ARM, History, arm_of
from assay.search.history.remaining_budget import RemainingBudget
from assay.search.races.reserved_budget import ReservedBudget
from assay.search.space.search_space import SearchSpace
from assay.stats.elimination import difference_interval
from assay.wording.endings import ABLATION_CUT_SHORT, ABLATION_NOT_AFFORDABLE, ABLATION_UNDECIDED

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MIN_BLOCKS = 3
MAX_BLOCKS = 12
DOUBT_ERRORS = 1.5
"""Standard errors in favour of leaving a setting out: most settings have no effect on most
programs. A setting without effect remains with a probability of 7 %."""
PROOF_SHARE = 0.15
"""Share of the budget that blocks beyond the smallest number must leave: settings without effect
are still to be left out together, and the confirmation gains more from a block than one setting
does."""


@dataclass(frozen=True)
class ReducedWinner:
    """Reduced winner.

    Attributes:
        arm: the winner with fewer settings, or unchanged.
        note: reason of an incomplete reduction; ``None`` for a complete one.
    """

    arm: Arm
    note: str | None = None


class Reduction:
    """Reduction of one winner; its state follows from the history and the budget alone.

    Args:
        winner: best arm of the search; not the default.
        space: space that decides which smaller configurations are valid.
        reserve: budget of the confirmation; a loss below its margin counts as none.
    """

    def __init__(self, winner: Arm, space: SearchSpace, reserve: ReservedBudget) -> None:
        self._winner = winner
        self._space = space
        self._reserve = reserve
        self._limit = math.log1p(reserve.margin)
        self._without: dict[str, Arm] = {}
        if len(winner.configuration) > 1:
            for name in winner.configuration:
                smaller = self._leaving_out([name])
                if smaller is not None and smaller != winner:
                    self._without[name] = smaller

    def next_arms(self, history: History, budget: RemainingBudget) -> list[Arm] | None:
        """Return the arms of the next block, or ``None`` at the end of the reduction."""
        for trial in self._trials(history):
            done = self._blocks(history, trial[0])
            arms = list(dict.fromkeys([DEFAULT_ARM, self._winner, *trial]))
            if done < MIN_BLOCKS:
                return arms if self._affords(history, arms, MIN_BLOCKS - done, budget) else None
            more = done < MAX_BLOCKS and not self._clear(history, trial)
            if more and self._affords(history, arms, 1, budget, share=PROOF_SHARE):
                return arms
        return None

    def result(self, history: History) -> ReducedWinner:
        """Return the reduced winner; the default if no setting has an effect."""
        if not self._without:
            return ReducedWinner(self._winner)
        if self._blocks(history, self._ablations[0]) < MIN_BLOCKS:
            return ReducedWinner(self._winner, ABLATION_NOT_AFFORDABLE)
        for candidate in self._candidates(history):
            if self._blocks(history, candidate) < MIN_BLOCKS:
                return ReducedWinner(self._best_ablation(history), ABLATION_CUT_SHORT)
            if self._is_negligible(history, candidate):
                return self._reduced_to(candidate, history)
        return ReducedWinner(self._winner)

    def _reduced_to(self, candidate: Arm, history: History) -> ReducedWinner:
        """Return a candidate; the default only with evidence, else the confirmation decides.

        Settings that each lack evidence may have a real gain together.
        """
        if candidate != DEFAULT_ARM:
            return ReducedWinner(candidate)
        if difference_interval(self._matrix(history, DEFAULT_ARM), 0, 1).hi < self._limit:
            return ReducedWinner(DEFAULT_ARM)
        return ReducedWinner(self._winner, ABLATION_UNDECIDED)

    @property
    def _ablations(self) -> list[Arm]:
        return list(dict.fromkeys(self._without.values()))

    def _trials(self, history: History) -> Iterator[list[Arm]]:
        """Yield the arms to compare, in order: ablations, then joint omissions."""
        if not self._without:
            return
        yield self._ablations
        if self._blocks(history, self._ablations[0]) < MIN_BLOCKS:
            return
        for candidate in self._candidates(history):
            if candidate not in self._ablations:
                yield [candidate]
            if self._is_negligible(history, candidate):
                return

    def _candidates(self, history: History) -> Iterator[Arm]:
        """Yield the winner without all negligible settings, then with the costliest put back."""
        losses = {
            name: self._loss(history, arm)
            for name, arm in self._without.items()
            if self._is_negligible(history, arm)
        }
        negligible = sorted(losses, key=losses.__getitem__)
        for count in range(len(negligible), 0, -1):
            candidate = self._leaving_out(negligible[:count])
            if candidate is not None:
                yield candidate

    def _leaving_out(self, names: list[str]) -> Arm | None:
        smaller = self._space.canonical(self._winner.configuration.without(*names))
        return arm_of(smaller) if self._space.valid(smaller) else None

    def _blocks(self, history: History, arm: Arm) -> int:
        """Return the number of blocks of the reduction in which an arm ran."""
        return history.blocks_run(Stage.REDUCE, arm.name)

    def _matrix(self, history: History, arm: Arm) -> npt.NDArray[np.float64]:
        """Return the values, as blocks x (arm, winner)."""
        return history.log_matrix(Stage.REDUCE, [arm.name, self._winner.name])

    def _gaps(self, history: History, arm: Arm) -> list[float]:
        """Return the loss of an arm against the winner in each block, as log ratios."""
        matrix = self._matrix(history, arm)
        gaps = matrix[:, 0] - matrix[:, 1]
        return [float(gap) for gap in gaps if not math.isnan(gap)]

    def _loss(self, history: History, arm: Arm) -> float:
        """Return the mean loss; infinite for an arm without a value."""
        gaps = self._gaps(history, arm)
        return statistics.fmean(gaps) if gaps else math.inf

    def _is_negligible(self, history: History, arm: Arm) -> bool:
        """Return whether the settings that an arm lacks may be left out.

        The arm must meet the requirements and do the work of the default.
        """
        if history.other_work.covers(arm.configuration):
            return False
        if not history.slacks.keeps(Stage.REDUCE, arm.name):
            return False
        return may_leave_out(self._gaps(history, arm), self._limit)

    def _clear(self, history: History, trial: list[Arm]) -> bool:
        """Return whether each arm is proven to lose more or less than the limit."""
        able = [arm for arm in trial if self._gaps(history, arm)]
        intervals = [difference_interval(self._matrix(history, arm), 0, 1) for arm in able]
        return all(i.lo > self._limit or i.hi < self._limit for i in intervals)

    def _affords(
        self,
        history: History,
        arms: list[Arm],
        blocks: int,
        budget: RemainingBudget,
        share: float = 0.0,
    ) -> bool:
        """Return whether blocks of these arms leave a confirmation and a share of the budget."""
        kept = self._reserve.confirmation(history, self._winner)
        cost = history.cost(arms, Stage.REDUCE).times(blocks)
        return budget.affords(cost, keep=share, min_cost=kept)

    def _best_ablation(self, history: History) -> Arm:
        """Return the best ablation: a recommended arm has always been measured."""
        losses = {arm: self._loss(history, arm) for arm in self._ablations}
        best = min(losses, key=losses.__getitem__)
        return best if self._is_negligible(history, best) else self._winner


def may_leave_out(gaps: Sequence[float], limit: float) -> bool:
    """Return whether the settings that a smaller configuration lacks may be left out.

    They remain only if the loss exceeds the limit by ``DOUBT_ERRORS`` standard errors.

    Args:
        gaps: loss of the smaller configuration in each block, as log ratios.
        limit: largest loss that counts as none.
    """
    if len(gaps) < 2:
        return False
    error = statistics.stdev(gaps) / math.sqrt(len(gaps))
    return statistics.fmean(gaps) - DOUBT_ERRORS * error <= limit
