"""Reduction: a winner without the settings that do not matter.

Each setting of the winner is left out in turn, in paired blocks against the whole winner; those
whose absence costs less than the margin are left out together, and that is held against the winner
once more, since two settings may do the same good. What is put back first is what costs most.
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
from assay.search.space.space import SearchSpace
from assay.stats.eliminate import against
from assay.wording.endings import REDUCTION_CUT_SHORT, REDUCTION_NOT_AFFORDABLE, REDUCTION_UNDECIDED

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MIN_BLOCKS = 3
MAX_BLOCKS = 12
DOUBT_ERRORS = 1.5
"""Most settings do nothing for most programs: one that does nothing stays with a chance of 7 %."""
PROOF_SHARE = 0.15
"""Blocks beyond the least must leave this share of the budget: what seems idle by itself is still
to be left out together, and the confirmation gains more from a block than one setting does."""


@dataclass(frozen=True)
class ReducedWinner:
    """The winner reduced, and why where it could not be."""

    arm: Arm
    note: str | None = None


class Reduction:
    """Reduces one winner; what it answers follows from the history and the purse alone.

    Args:
        winner: the arm that the search chose; not the default.
        space: says which smaller configurations are valid.
        keeping: a loss smaller than its margin counts as none.
    """

    def __init__(self, winner: Arm, space: SearchSpace, keeping: ReservedBudget) -> None:
        self._winner = winner
        self._space = space
        self._keeping = keeping
        self._limit = math.log1p(keeping.margin)
        self._without: dict[str, Arm] = {}
        if len(winner.configuration) > 1:
            for name in winner.configuration:
                smaller = self._leaving_out([name])
                if smaller is not None and smaller != winner:
                    self._without[name] = smaller

    def roster(self, history: History, purse: RemainingBudget) -> list[Arm] | None:
        """The arms of the next block, or ``None`` when the reduction is over."""
        for trial in self._trials(history):
            done = self._blocks(history, trial[0])
            arms = list(dict.fromkeys([DEFAULT_ARM, self._winner, *trial]))
            if done < MIN_BLOCKS:
                return arms if self._affords(history, arms, MIN_BLOCKS - done, purse) else None
            more = done < MAX_BLOCKS and not self._clear(history, trial)
            if more and self._affords(history, arms, 1, purse, share=PROOF_SHARE):
                return arms
        return None

    def result(self, history: History) -> ReducedWinner:
        """The reduced winner; may be the default, when nothing of it matters."""
        if not self._without:
            return ReducedWinner(self._winner)
        if self._blocks(history, self._singles[0]) < MIN_BLOCKS:
            return ReducedWinner(self._winner, REDUCTION_NOT_AFFORDABLE)
        for candidate in self._candidates(history):
            if self._blocks(history, candidate) < MIN_BLOCKS:
                return ReducedWinner(self._best_single(history), REDUCTION_CUT_SHORT)
            if self._idle(history, candidate):
                return self._reduced_to(candidate, history)
        return ReducedWinner(self._winner)

    def _reduced_to(self, candidate: Arm, history: History) -> ReducedWinner:
        """Nothing is left of the winner only where that is shown; a doubt is for the confirmation.

        What goes for want of evidence, setting by setting, may be a real gain taken together.
        """
        if candidate != DEFAULT_ARM:
            return ReducedWinner(candidate)
        if difference_interval(self._matrix(history, DEFAULT_ARM), 0, 1).hi < self._limit:
            return ReducedWinner(DEFAULT_ARM)
        return ReducedWinner(self._winner, REDUCTION_UNDECIDED)

    @property
    def _singles(self) -> list[Arm]:
        return list(dict.fromkeys(self._without.values()))

    def _trials(self, history: History) -> Iterator[list[Arm]]:
        """What has to be looked at, in order: single omissions, then those that go together."""
        if not self._without:
            return
        yield self._singles
        if self._blocks(history, self._singles[0]) < MIN_BLOCKS:
            return
        for candidate in self._candidates(history):
            if candidate not in self._singles:
                yield [candidate]
            if self._idle(history, candidate):
                return

    def _candidates(self, history: History) -> Iterator[Arm]:
        """The winner without all that seems idle, then with the dearest of it put back, and on."""
        losses = {
            name: self._loss(history, arm)
            for name, arm in self._without.items()
            if self._idle(history, arm)
        }
        idle = sorted(losses, key=losses.__getitem__)
        for count in range(len(idle), 0, -1):
            candidate = self._leaving_out(idle[:count])
            if candidate is not None:
                yield candidate

    def _leaving_out(self, names: list[str]) -> Arm | None:
        smaller = self._space.canonical(self._winner.configuration.without(*names))
        return arm_of(smaller) if self._space.valid(smaller) else None

    def _blocks(self, history: History, arm: Arm) -> int:
        """In how many blocks of the reduction an arm ran."""
        return history.blocks_run(Stage.REDUCE, arm.name)

    def _matrix(self, history: History, arm: Arm) -> npt.NDArray[np.float64]:
        """Blocks x (arm, winner)."""
        return history.log_matrix(Stage.REDUCE, [arm.name, self._winner.name])

    def _gaps(self, history: History, arm: Arm) -> list[float]:
        """How much worse an arm was than the winner, block by block: log ratios."""
        matrix = self._matrix(history, arm)
        gaps = matrix[:, 0] - matrix[:, 1]
        return [float(gap) for gap in gaps if not math.isnan(gap)]

    def _loss(self, history: History, arm: Arm) -> float:
        """The mean of the gaps; infinite for an arm without a value."""
        gaps = self._gaps(history, arm)
        return statistics.fmean(gaps) if gaps else math.inf

    def _idle(self, history: History, arm: Arm) -> bool:
        """Whether what an arm leaves out may be left out.

        A requirement and the work of the default are kept by all means.
        """
        if history.other_work.hold(arm.configuration):
            return False
        if not history.slacks.keeps(Stage.REDUCE, arm.name):
            return False
        return may_leave_out(self._gaps(history, arm), self._limit)

    def _clear(self, history: History, trial: list[Arm]) -> bool:
        """Whether each arm is shown to lose more than the limit, or less, or to give no value."""
        able = [arm for arm in trial if self._gaps(history, arm)]
        intervals = [difference_interval(self._matrix(history, arm), 0, 1) for arm in able]
        return all(i.lo > self._limit or i.hi < self._limit for i in intervals)

    def _affords(
        self,
        history: History,
        arms: list[Arm],
        blocks: int,
        purse: RemainingBudget,
        share: float = 0.0,
    ) -> bool:
        """Whether blocks of these arms leave what the confirmation needs, and a share of all."""
        kept = self._keeping.confirmation(history, self._winner)
        cost = history.cost(arms, Stage.REDUCE).times(blocks)
        return purse.affords(cost, keep=share, least=kept)

    def _best_single(self, history: History) -> Arm:
        """The best single omission: nothing that was not measured is ever recommended."""
        losses = {arm: self._loss(history, arm) for arm in self._singles}
        best = min(losses, key=losses.__getitem__)
        return best if self._idle(history, best) else self._winner


def may_leave_out(gaps: Sequence[float], limit: float) -> bool:
    """Return whether what a smaller configuration leaves out may be left out.

    The doubt counts for the smaller one: what it leaves out stays only if the loss exceeds the
    limit by ``DOUBT_ERRORS`` standard errors.

    Args:
        gaps: by how much it was worse than the whole, block by block: log ratios.
        limit: a loss up to it counts as none.
    """
    if len(gaps) < 2:
        return False
    error = statistics.stdev(gaps) / math.sqrt(len(gaps))
    return statistics.fmean(gaps) - DOUBT_ERRORS * error <= limit
