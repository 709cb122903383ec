"""Rules that end the launches of a study as soon as their values suffice.

All launches of a block have the same number of steady steps and the same warm-up. Both follow from
earlier blocks only, so that the ratio of two arms does not depend on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from assay.records import (
    Budget,
    EndRule,
    Incumbent,
    Launch,
    Metric,
    Sample,
    Stage,
    StudySpec,
    Value,
)
from assay.search.history.history import DEFAULT_ARM, History
from assay.search.progress.incumbent import incumbent_of
from assay.search.progress.lengths import SteadySteps, prior_of
from assay.search.progress.steady_launches import SteadyLaunches
from assay.stats.confidence_sequence import MIN_CLAIM_VALUES

if TYPE_CHECKING:
    from assay.stats.progress.warm_up import WarmUp

FIRST_LOOK_SHARE = 0.1
"""Largest share of the time budget for the first launch of a program."""
SEARCH_STAGES = (Stage.SCREEN, Stage.SEARCH, Stage.REDUCE)
"""Stages in which a launch that is worse than the incumbent ends early."""


class EndRules:
    """Chooses the rule that ends a launch, from earlier launches at the same fidelity.

    Args:
        spec: specification of the study.
        history: samples of the study.
    """

    def __init__(self, spec: StudySpec, history: History) -> None:
        self._spec = spec
        self._history = history
        self._metric = spec.workload.steady_metric
        self._steady: dict[Value | None, SteadyLaunches] = {}
        self._block: tuple[Launch, EndRule] | None = None

    def add(self, sample: Sample) -> None:
        """Take in a sample, either new or from the store."""
        if self._metric is not None:
            self._steady_at(self._metric, sample.launch.fidelity).add(sample)
            rule = sample.launch.end
            if rule is not None and self._is_of_block(sample.launch.stage, rule):
                self._block = sample.launch, _of_block(rule)

    def rule(
        self,
        launch: Launch,
        arms: Sequence[str],
        left: Budget,
        min_blocks: int = MIN_CLAIM_VALUES,
    ) -> EndRule | None:
        """Return the rule of a launch; ``None`` if no program reports the objective.

        Args:
            launch: next launch.
            arms: names of the arms of its block.
            left: remaining budget.
            min_blocks: smallest number of blocks of a confirmation.
        """
        if self._metric is None:
            return None
        steady = self._steady_at(self._metric, launch.fidelity)
        if launch.stage is Stage.SURVEY:
            return first_look(self._spec.budget)
        if self._block is None or self._block[0].block != launch.block:
            rule = self._rule_of_block(steady, launch, arms, left, min_blocks)
            self._block = launch, rule
        rule = self._block[1]
        compared = launch.stage in SEARCH_STAGES and launch.arm != DEFAULT_ARM.name
        if self._spec.until is None or not compared:
            return rule
        incumbent = self._incumbent(self._metric, steady, launch, rule)
        return msgspec.structs.replace(rule, incumbent=incumbent)

    def at(self, fidelity: Value | None) -> SteadyLaunches | None:
        """Return the launches at a fidelity; ``None`` if no program reports the objective."""
        return None if self._metric is None else self._steady_at(self._metric, fidelity)

    def _is_of_block(self, stage: Stage, rule: EndRule) -> bool:
        """Return whether the rule of a launch is that of its block.

        A first look is not, even if its launch counts: the others of its block are whole.
        """
        first = rule.first_look and self._spec.until is None
        return stage is not Stage.SURVEY and not first

    def _steady_at(self, metric: Metric, fidelity: Value | None) -> SteadyLaunches:
        return self._steady.setdefault(fidelity, SteadyLaunches(metric))

    def shortest_launch_s(self) -> float | None:
        """Return the time of the shortest useful launch, in seconds.

        A first look is longer than the launches that follow it.

        Returns:
            ``None`` if assay does not choose the length of launches, or does not know them yet.
        """
        from assay.stats.progress.launch_length import MIN_STEPS

        until, steady = self._spec.until, self.at(None)
        if until is None or until.steady_steps is not None or steady is None:
            return None
        warm_up, cost = steady.warm_up(steady.arms), steady.cost()
        if warm_up is None or cost is None:
            return None
        return cost.seconds(warm_up.period_steps or MIN_STEPS)

    def _rule_of_block(
        self,
        steady: SteadyLaunches,
        launch: Launch,
        arms: Sequence[str],
        left: Budget,
        min_blocks: int,
    ) -> EndRule:
        until, stage = self._spec.until, launch.stage
        known = [arm for arm in arms if steady.samples(arm)] or steady.arms
        before = self._before(launch)
        revised = before is None or stage is not Stage.CONFIRM or self._is_pilot(launch)
        found = steady.warm_up(known) if revised else None
        warm_up = _revised(before, found)
        if warm_up is None:
            return EndRule() if until is None else first_look(self._spec.budget)
        rule = EndRule(warmup_steps=warm_up.steps, period_steps=warm_up.period_steps)
        if until is None:
            return rule
        if until.steady_steps is not None:
            return msgspec.structs.replace(rule, steady_steps=until.steady_steps)
        lengths = SteadySteps(self._spec, self._history, steady, min_blocks)
        return self._with_chosen_length(rule, lengths, steady, launch, arms, left)

    def _with_chosen_length(
        self,
        rule: EndRule,
        lengths: SteadySteps,
        steady: SteadyLaunches,
        launch: Launch,
        arms: Sequence[str],
        left: Budget,
    ) -> EndRule:
        """Return a rule with the number of steady steps that assay chooses.

        Launches whose values still changed at their end grow when the warm-up is determined again.
        In between, grown launches stay as they are.
        """
        from assay.stats.progress.extension import extended_steps, still_changes

        assert rule.warmup_steps is not None
        stage, unit_steps = launch.stage, rule.period_steps
        if stage is Stage.CONFIRM:
            steps = lengths.of_confirmation(unit_steps, arms, left)
        else:
            steps = lengths.of_search(unit_steps, left)
        affordable = lengths.affordable(stage, arms, left)
        if self._is_pilot(launch):
            of_arms = arms if stage is Stage.CONFIRM else steady.arms[:1]
            curves = [one for arm in of_arms for one in steady.curves(arm)]
            grows = still_changes(curves, rule.warmup_steps, unit_steps)
            longer = extended_steps(curves, rule.warmup_steps, unit_steps) if grows else 0.0
        else:
            last = self._block[1] if self._block is not None else rule
            longer = (last.steady_steps or 0.0) if last.lengthened else 0.0
        if not steps < min(longer, affordable):
            return msgspec.structs.replace(rule, steady_steps=steps)
        longer = min(longer, affordable)
        if unit_steps:
            longer = max(steps, unit_steps * (longer // unit_steps))
        return msgspec.structs.replace(rule, steady_steps=longer, lengthened=longer > steps)

    def _before(self, next_launch: Launch) -> WarmUp | None:
        """Return the warm-up of the previous block; ``None`` if this block is the first one.

        Confirmation and each fidelity have warm-ups of their own.
        """
        from assay.stats.progress.warm_up import WarmUp

        if self._block is None:
            return None
        launch, rule = self._block
        if rule.warmup_steps is None or launch.fidelity != next_launch.fidelity:
            return None
        if (launch.stage is Stage.CONFIRM) != (next_launch.stage is Stage.CONFIRM):
            return None
        return WarmUp(rule.warmup_steps, rule.period_steps, settled=True)

    def _is_pilot(self, next_launch: Launch) -> bool:
        """Return whether the first blocks of a stage are to be looked at again.

        The warm-up of a confirmation is determined then only. After the block with the first
        analysis it stays, so that the values of further analyses do not change with it.
        """
        from assay.stats.progress.warm_up import PILOT_BLOCKS

        stage = next_launch.stage if next_launch.fidelity is None else Stage.SEARCH
        finished = self._history_of(next_launch).count_complete(stage)
        return not finished or finished in PILOT_BLOCKS

    def _incumbent(
        self, metric: Metric, steady: SteadyLaunches, launch: Launch, rule: EndRule
    ) -> Incumbent | None:
        history = self._history_of(launch)
        unfit = {arm for arm in steady.arms if _is_unfit(history, steady.samples(arm))}
        found = incumbent_of(metric, steady, rule.warmup_steps, prior_of(self._spec), unfit)
        return None if found is None or found.arm == launch.arm else found.incumbent

    def _history_of(self, launch: Launch) -> History:
        """Return the samples at the fidelity of a launch."""
        low = launch.fidelity
        return self._history if low is None else self._history.at(low)


def first_look(budget: Budget) -> EndRule:
    """Return the rule of a launch that shows how the program reports its values.

    Args:
        budget: budget of the study.
    """
    time_s = budget.time_s
    return EndRule(first_look=True, max_s=None if time_s is None else FIRST_LOOK_SHARE * time_s)


def _is_unfit(history: History, samples: Sequence[Sample]) -> bool:
    """Return whether an arm cannot win: it does other work, or has violated a requirement.

    Args:
        history: samples at its fidelity.
        samples: launches of the arm, at least one.
    """
    other = history.other_work.covers(samples[0].launch.configuration)
    return other or any(map(history.slacks.is_violated_by, samples))


def _revised(before: WarmUp | None, found: WarmUp | None) -> WarmUp | None:
    """Return the warm-up of a block, given that of the previous one."""
    from assay.stats.progress.warm_up import revised_warm_up

    return found if before is None else revised_warm_up(before, found)


def _of_block(rule: EndRule) -> EndRule:
    """Return the part of a rule that all launches of a block share."""
    return msgspec.structs.replace(rule, incumbent=None)
