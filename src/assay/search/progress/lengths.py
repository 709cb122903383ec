"""Number of steady steps of the launches of a block."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.records import Budget, EndRule, Stage, StudySpec
from assay.search.history.history import History
from assay.search.progress.incumbent import spread_between_launches
from assay.search.progress.steady_launches import SteadyLaunches

if TYPE_CHECKING:
    from assay.stats.progress.launch_length import LaunchCost
    from assay.stats.progress.launch_spread import BlockValues, SpreadPrior

SEARCH_SHARE = 0.6
"""Share of the remaining budget for the launches of a search."""
CONFIRMATION_SHARE = 0.9
"""Share of the remaining budget for the fewest launches of a confirmation. The rest is for launches
that take longer than usual, so that the last of them still fits."""
EXTRA_BLOCKS = 1
"""Blocks of a confirmation beyond the fewest. Disturbed blocks halve the error rate of an interval
(``search.claims.effects``), so that it takes one block more."""
SEARCH_LAUNCHES = 60.0
"""Smallest number of launches that a search should have. Among sixty unrelated configurations, on
the time of ten whole launches, the regret was 0.17 % with 60 and 0.53 % with 20 (60 seeds)."""
USUAL_STEP_DEVIATION = 0.05
"""Standard deviation of a step relative to the mean, while no launch is long enough to show it."""
STORED_SPREAD_FACTOR = 1.5
"""Factor by which the spread between launches may differ from a calibrated one."""


def prior_of(spec: StudySpec) -> SpreadPrior | None:
    """Return the prior of the spread between launches; ``None`` for the default one."""
    from assay.stats.progress.launch_spread import SpreadPrior

    stored = spec.launch_spread
    return None if stored is None else SpreadPrior(stored.sd, math.log(STORED_SPREAD_FACTOR))


def step_variance(steady: SteadyLaunches) -> float:
    """Return the long-run variance of a step relative to the mean, or the usual one if unknown.

    Args:
        steady: launches so far.
    """
    known = steady.step_variance()
    return USUAL_STEP_DEVIATION**2 if known is None else known


class SteadySteps:
    """Chooses the number of steady steps of the launches of a block.

    Args:
        spec: specification of the study.
        history: samples of the study.
        steady: steady parts of its launches.
        min_blocks: smallest number of blocks of a confirmation.
    """

    def __init__(
        self, spec: StudySpec, history: History, steady: SteadyLaunches, min_blocks: int
    ) -> None:
        self._spec = spec
        self._history = history
        self._steady = steady
        self._min_blocks = min_blocks

    def of_confirmation(self, unit_steps: float | None, arms: Sequence[str], left: Budget) -> float:
        """Return the steady steps that minimise the time until the claim is decided.

        Args:
            unit_steps: distance of periodic dips in steps; absent without them.
            arms: names of the arms of the block.
            left: remaining budget.
        """
        from assay.stats.progress.launch_length import next_steady_steps

        return next_steady_steps(
            self._finished_blocks(arms),
            step_variance(self._steady),
            self._cost(),
            unit_steps=unit_steps,
            max_steps=self.affordable(Stage.CONFIRM, arms, left),
            margin=self._spec.margin,
            prior=prior_of(self._spec),
        )

    def of_search(self, unit_steps: float | None, left: Budget) -> float:
        """Return the steady steps from which on the variance between launches prevails.

        Longer launches would teach about their own state only; more launches are worth more.

        Args:
            unit_steps: distance of periodic dips in steps; absent without them.
            left: remaining budget.
        """
        from assay.stats.progress.launch_length import MIN_STEPS
        from assay.stats.progress.launch_spread import expected_spread

        variance = step_variance(self._steady)
        posterior = spread_between_launches(self._steady, variance, prior_of(self._spec))
        wanted = variance / expected_spread(posterior) ** 2
        steps = min(wanted, self.affordable(Stage.SEARCH, (), left))
        unit = unit_steps or 1.0
        return max(unit * round(steps / unit), unit_steps or MIN_STEPS)

    def affordable(self, stage: Stage, arms: Sequence[str], left: Budget) -> float:
        """Return the steady steps with which the necessary launches fit into the budget.

        Args:
            stage: stage of the block.
            arms: names of its arms.
            left: remaining budget.
        """
        if left.time_s is None:
            return math.inf
        if stage is Stage.CONFIRM:
            ran = len(self._history.complete(Stage.CONFIRM))
            missing = max(1, self._min_blocks + EXTRA_BLOCKS - ran)
            launches = missing * len(arms) / CONFIRMATION_SHARE
        else:
            share = _share(left, self._spec.budget)
            launches = max(1.0, SEARCH_LAUNCHES * share) / SEARCH_SHARE
        cost = self._cost()
        return max(0.0, (left.time_s / launches - cost.fixed_s) / cost.step_s)

    def _cost(self) -> LaunchCost:
        cost = self._steady.cost()
        assert cost is not None  # a warm-up is known from launches
        return cost

    def _finished_blocks(self, arms: Sequence[str]) -> list[BlockValues]:
        """Return the finished blocks of confirmation on which the length of the next one rests."""
        from assay.stats.progress.launch_length import blocks_that_count
        from assay.stats.progress.launch_spread import BlockValues

        blocks = []
        for number in self._history.complete(Stage.CONFIRM):
            found = [self._history.observations(Stage.CONFIRM, arm, [number])[0] for arm in arms]
            rule = self._rule_in(number, arms)
            if rule is None or rule.steady_steps is None:
                continue
            values = [one.value for one in found if one is not None and not one.censored]
            if len(values) == len(arms):
                blocks.append(BlockValues(tuple(map(math.log, values)), rule.steady_steps))
        return blocks[: blocks_that_count(len(blocks))]

    def _rule_in(self, block: int, arms: Sequence[str]) -> EndRule | None:
        samples = (s for arm in arms for s in self._steady.samples(arm))
        return next((s.launch.end for s in samples if s.launch.block == block), None)


def _share(left: Budget, total: Budget) -> float:
    """Return the remaining share of the time budget; 1 without one."""
    if left.time_s is None or not total.time_s:
        return 1.0
    return min(1.0, max(0.0, left.time_s / total.time_s))
