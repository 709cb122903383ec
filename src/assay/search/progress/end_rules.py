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
from assay.search.progress.incumbent import incumbent_of
from assay.search.progress.steady_launches import SteadyLaunches

if TYPE_CHECKING:
    from assay.stats.progress.launch_length import BlockValues

FIRST_LOOK_SHARE = 0.1
"""Largest share of the time budget for the first launch of a program."""
SEARCH_STAGES = (Stage.SEARCH, Stage.REDUCE)
"""Stages in which a launch that is worse than the incumbent ends early."""
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

    def rule(self, launch: Launch, arms: Sequence[str]) -> EndRule | None:
        """Return the rule of a launch; ``None`` if no program reports the objective.

        Args:
            launch: next launch.
            arms: names of the arms of its block.
        """
        if self._metric is None or self._steady is None:
            return None
        if launch.stage is Stage.SURVEY:
            return first_look(self._spec.budget)
        if self._block is None or self._block[0] != launch.block:
            self._block = launch.block, self._rule_of_block(self._steady, launch.stage, arms)
        rule = self._block[1]
        if (
            self._spec.until is None
            or launch.stage not in SEARCH_STAGES
            or launch.arm == DEFAULT_ARM.name
        ):
            return rule
        incumbent = self._incumbent(self._metric, self._steady, launch)
        return msgspec.structs.replace(rule, incumbent=incumbent)

    def _rule_of_block(self, steady: SteadyLaunches, stage: Stage, arms: Sequence[str]) -> EndRule:
        known = [arm for arm in arms if steady.samples(arm)] or steady.arms
        warm_up = steady.warm_up(known)
        if warm_up is None:
            return EndRule() if self._spec.until is None else first_look(self._spec.budget)
        return EndRule(
            warmup_steps=warm_up.steps,
            period_steps=warm_up.period_steps,
            steady_steps=self._steady_steps(steady, stage, warm_up.period_steps, arms),
        )

    def _steady_steps(
        self,
        steady: SteadyLaunches,
        stage: Stage,
        period_steps: float | None,
        arms: Sequence[str],
    ) -> float | None:
        """Return the number of steady steps of a block; ``None`` if programs end by themselves."""
        from assay.stats.progress.launch_length import steady_steps

        until = self._spec.until
        if until is None or until.steady_steps is not None:
            return None if until is None else until.steady_steps
        variance, cost = steady.step_variance(), steady.cost()
        assert cost is not None  # a warm-up is known
        blocks = self._finished_blocks(steady, arms) if stage is Stage.CONFIRM else []
        return steady_steps(
            blocks,
            USUAL_STEP_DEVIATION**2 if variance is None else variance,
            cost,
            unit_steps=period_steps,
        )

    def _finished_blocks(self, steady: SteadyLaunches, arms: Sequence[str]) -> list[BlockValues]:
        """Return the finished blocks of confirmation on which the length of the next one rests."""
        from assay.stats.progress.launch_length import BlockValues, blocks_that_count

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


def _of_block(rule: EndRule) -> EndRule:
    """Return the part of a rule that all launches of a block share."""
    return msgspec.structs.replace(rule, incumbent=None)
