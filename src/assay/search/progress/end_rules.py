"""Rules that end the launches of a study as soon as their values suffice.

All launches of a block have the same number of steady steps and the same warm-up. Both follow from
earlier blocks only, so that the ratio of two arms does not depend on them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from assay.records import Budget, EndRule, Incumbent, Launch, Metric, Sample, Stage, StudySpec
from assay.search.history.history import DEFAULT_ARM, History
from assay.search.progress.incumbent import incumbent_of, launch_sd
from assay.search.progress.steady_launches import SteadyLaunches
from assay.stats.confidence_sequence import MIN_CLAIM_VALUES as MIN_BLOCKS

if TYPE_CHECKING:
    from assay.stats.progress.launch_length import LaunchCost
    from assay.stats.progress.launch_spread import BlockValues

FIRST_LOOK_SHARE = 0.1
"""Largest share of the time budget for the first launch of a program."""
SEARCH_STAGES = (Stage.SEARCH, Stage.REDUCE)
"""Stages in which a launch that is worse than the incumbent ends early."""
SEARCH_SHARE = 0.6
"""Share of the remaining budget for the launches of a search."""
SEARCH_LAUNCHES = 20.0
"""Smallest number of launches that a search should have."""
USUAL_STEP_DEVIATION = 0.05
"""Standard deviation of a step relative to the mean, while no launch is long enough to show it."""


class EndRules:
    """Chooses the rule that ends a launch.

    Args:
        spec: specification of the study.
        history: samples of the study.
    """

    def __init__(self, spec: StudySpec, history: History) -> None:
        self._spec = spec
        self._history = history
        self._metric = spec.workload.steady_metric
        self._steady = None if self._metric is None else SteadyLaunches(self._metric)
        self._block: tuple[int, EndRule] | None = None

    def add(self, sample: Sample) -> None:
        """Take in a sample, either new or from the store."""
        if self._steady is not None:
            self._steady.add(sample)
            if sample.launch.end is not None:
                self._block = sample.launch.block, _of_block(sample.launch.end)

    def rule(self, launch: Launch, arms: Sequence[str], left: Budget) -> EndRule | None:
        """Return the rule of a launch; ``None`` if no program reports the objective.

        Args:
            launch: next launch.
            arms: names of the arms of its block.
            left: remaining budget.
        """
        if self._metric is None or self._steady is None:
            return None
        if launch.stage is Stage.SURVEY:
            return first_look(self._spec.budget)
        if self._block is None or self._block[0] != launch.block:
            rule = self._rule_of_block(self._steady, launch.stage, arms, left)
            self._block = launch.block, rule
        rule = self._block[1]
        compared = launch.stage in SEARCH_STAGES and launch.arm != DEFAULT_ARM.name
        if self._spec.until is None or not compared:
            return rule
        incumbent = self._incumbent(self._metric, self._steady, launch)
        return msgspec.structs.replace(rule, incumbent=incumbent)

    def _rule_of_block(
        self, steady: SteadyLaunches, stage: Stage, arms: Sequence[str], left: Budget
    ) -> EndRule:
        until = self._spec.until
        warm_up = steady.warm_up([arm for arm in arms if steady.samples(arm)] or steady.arms)
        if warm_up is None:
            return EndRule() if until is None else first_look(self._spec.budget)
        if until is None or until.steady_steps is not None:
            steps = None if until is None else until.steady_steps
        elif stage is Stage.CONFIRM:
            steps = self._steps_of_confirmation(steady, warm_up.period_steps, arms, left)
        else:
            steps = self._steps_of_search(steady, warm_up.period_steps, left)
        return EndRule(
            warmup_steps=warm_up.steps, period_steps=warm_up.period_steps, steady_steps=steps
        )

    def _steps_of_confirmation(
        self, steady: SteadyLaunches, unit_steps: float | None, arms: Sequence[str], left: Budget
    ) -> float:
        """Return the steady steps that minimise the time until the claim is decided."""
        from assay.stats.progress.launch_length import next_steady_steps

        blocks = self._finished_blocks(steady, arms)
        missing = max(1, MIN_BLOCKS - len(blocks))
        cost = _known(steady.cost())
        return next_steady_steps(
            blocks,
            _variance(steady),
            cost,
            unit_steps=unit_steps,
            max_steps=_affordable_steps(left, missing * len(arms), cost),
            margin=self._spec.margin,
        )

    def _steps_of_search(
        self, steady: SteadyLaunches, unit_steps: float | None, left: Budget
    ) -> float:
        """Return the steady steps from which on the variance between launches prevails.

        Longer launches would teach about their own state only; more launches are worth more.
        """
        from assay.stats.progress.launch_length import MIN_STEPS

        variance, cost = _variance(steady), _known(steady.cost())
        assert self._metric is not None
        wanted = variance / launch_sd(self._metric, steady, variance) ** 2
        launches = max(1.0, SEARCH_LAUNCHES * _share(left, self._spec.budget))
        steps = min(wanted, _affordable_steps(left, launches / SEARCH_SHARE, cost))
        unit = unit_steps or 1.0
        return max(unit * round(steps / unit), unit_steps or MIN_STEPS)

    def _finished_blocks(self, steady: SteadyLaunches, arms: Sequence[str]) -> list[BlockValues]:
        """Return the finished blocks of confirmation on which the length of the next one rests."""
        from assay.stats.progress.launch_length import blocks_that_count
        from assay.stats.progress.launch_spread import BlockValues

        blocks = []
        for number in self._history.complete(Stage.CONFIRM):
            found = [self._history.observations(Stage.CONFIRM, arm, [number])[0] for arm in arms]
            rule = self._rule_in(steady, number, arms)
            if rule is None or rule.steady_steps is None:
                continue
            values = [one.value for one in found if one is not None and not one.censored]
            if len(values) == len(arms):
                blocks.append(BlockValues(tuple(map(math.log, values)), rule.steady_steps))
        return blocks[: blocks_that_count(len(blocks))]

    def _rule_in(self, steady: SteadyLaunches, block: int, arms: Sequence[str]) -> EndRule | None:
        samples = (s for arm in arms for s in steady.samples(arm))
        return next((s.launch.end for s in samples if s.launch.block == block), None)

    def _incumbent(
        self, metric: Metric, steady: SteadyLaunches, launch: Launch
    ) -> Incumbent | None:
        found = incumbent_of(metric, steady)
        return None if found is None or found.arm == launch.arm else found.incumbent


def first_look(budget: Budget) -> EndRule:
    """Return the rule of a launch that shows how the program reports its values.

    Args:
        budget: budget of the study.
    """
    time_s = budget.time_s
    return EndRule(first_look=True, max_s=None if time_s is None else FIRST_LOOK_SHARE * time_s)


def _variance(steady: SteadyLaunches) -> float:
    """Return the long-run variance of a step, or the usual one while it is unknown."""
    known = steady.step_variance()
    return USUAL_STEP_DEVIATION**2 if known is None else known


def _known(cost: LaunchCost | None) -> LaunchCost:
    assert cost is not None  # a warm-up is known from launches
    return cost


def _affordable_steps(left: Budget, launches: float, cost: LaunchCost) -> float:
    """Return the steady steps with which a number of launches fits into the remaining budget."""
    if left.time_s is None:
        return math.inf
    return max(0.0, (left.time_s / launches - cost.fixed_s) / cost.step_s)


def _share(left: Budget, total: Budget) -> float:
    """Return the remaining share of the time budget; 1 without one."""
    if left.time_s is None or not total.time_s:
        return 1.0
    return min(1.0, max(0.0, left.time_s / total.time_s))


def _of_block(rule: EndRule) -> EndRule:
    """Return the part of a rule that all launches of a block share."""
    return msgspec.structs.replace(rule, incumbent=None)
