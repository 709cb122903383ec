"""Scoreboard: the leading arm of a running study, for the progress line.

The leader is computed between launches, when time is expensive: from sums that each sample updates.
The interval takes all blocks and is computed on request only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from assay.records import Configuration, Goal, Kind, Sample, Stage, Statistic, StudySpec
from assay.search.claims.requirement import claims_alpha
from assay.search.history.different_work import DifferentWork
from assay.search.history.history import History
from assay.search.history.output_comparison import ObservedOutputs
from assay.search.history.slack import RequirementSlack
from assay.search.races.confirmation import claim_alpha, count_winners
from assay.stats.interval import ratio_ends
from assay.stats.summary import summarise
from assay.stats.undisturbed import effect_of_blocks


@dataclass(frozen=True)
class Leader:
    """Best arm against the first, so far; data of a search support no claim.

    Attributes:
        arm: name of the arm.
        ratio: ratio of the objective, arm over baseline; without a baseline the value of the arm.
        lo, hi: interval; ``None`` for an open end, or without a request.
        blocks: number of pairs, or of launches without a baseline.
    """

    arm: str
    ratio: float
    lo: float | None
    hi: float | None
    blocks: int


class Scoreboard:
    """Leading arm of the current stage, updated in constant time per sample.

    The score of an arm is the mean of its log ratios to the baseline of the same block, which is
    the centre of its interval too.

    Args:
        spec: specification of the study.
    """

    def __init__(self, spec: StudySpec) -> None:
        self._baseline = spec.arms[0].name if spec.arms else "default"
        self._alone = len(spec.arms) == 1
        self._sign = 1.0 if spec.workload.objective.goal is Goal.LOWER else -1.0
        self._values = History(spec.workload.objective)
        self._slacks = RequirementSlack(spec.requirements if spec.kind is Kind.TUNE else ())
        self._spreads = spec.statistic is Statistic.SPREAD
        self._stage: Stage | None = None
        self._block = -1
        self._open: dict[str, float] = {}
        self._means: dict[str, _Mean] = {}
        self._outputs = ObservedOutputs()
        self._other_work = DifferentWork.of(spec, self._outputs)
        self._configurations: dict[str, Configuration] = {}

    def add(self, sample: Sample) -> None:
        """Take in a sample."""
        launch = sample.launch
        if self._spreads:
            return  # a single launch has no spread
        if launch.fidelity is not None:
            return  # the value of a whole launch differs
        self._outputs.add(sample)
        self._other_work.add(sample)
        self._configurations[launch.arm] = launch.configuration
        if launch.stage is not self._stage:
            self._stage, self._block = launch.stage, launch.block
            self._open, self._means = {}, {}
        self._begin(launch.block)
        if launch.arm != self._baseline and self._slacks.is_violated_by(sample):
            return  # an arm that violates a requirement cannot lead
        found = self._values.observation(sample)
        if found is None or (found.censored and launch.arm == self._baseline):
            return  # a baseline that timed out has no value to compare with
        self._open[launch.arm] = math.log(found.value)

    def leader(self, block: int) -> Leader | None:
        """Return the leader when a block begins; ``None`` before a comparison is possible."""
        self._begin(block)
        others = [name for name in self._means if self._alone or self._may_lead(name)]
        if not others:
            return None
        best = min(others, key=lambda name: self._sign * self._means[name].log)
        mean = self._means[best]
        return Leader(best, math.exp(mean.log), None, None, mean.count)

    def _may_lead(self, name: str) -> bool:
        """Return whether an arm may lead over the baseline."""
        other_work = self._other_work.covers(self._configurations[name])
        return name != self._baseline and not other_work

    def better(self, found: Leader) -> bool:
        """Return whether a leader is better than the baseline."""
        return self._sign * math.log(found.ratio) < 0.0

    def _begin(self, block: int) -> None:
        """Count the values of a finished block."""
        if block == self._block:
            return
        self._block = block
        base = 0.0 if self._alone else self._open.get(self._baseline)
        if base is not None:
            for arm, value in self._open.items():
                self._means[arm] = self._means.get(arm, _NONE).with_value(value - base)
        self._open = {}


@dataclass(frozen=True)
class _Mean:
    log: float
    count: int

    def with_value(self, value: float) -> _Mean:
        count = self.count + 1
        return _Mean(self.log + (value - self.log) / count, count)


_NONE = _Mean(0.0, 0)


def with_interval(spec: StudySpec, history: History, stage: Stage, found: Leader) -> Leader:
    """Return a leader with its interval, computed as for a claim.

    The cost grows with the number of blocks.
    """
    if len(spec.arms) == 1:
        summary = summarise(history.summarised_values(stage, found.arm) or [found.ratio])
        lo, hi = summary.ci or (None, None)
        return Leader(found.arm, summary.mean, lo, hi, summary.n)
    baseline = spec.arms[0].name if spec.arms else "default"
    blocks = history.complete(stage)
    seen = effect_of_blocks(
        history.observations(stage, baseline, blocks),
        history.observations(stage, found.arm, blocks),
        [history.is_disturbed(stage, block) for block in blocks],
        goal=history.goal,
        alpha=_alpha(spec, history),
        median=spec.statistic is Statistic.MEDIAN,
    ).effect
    if seen.ratio is None:
        return found
    lo, hi = ratio_ends(seen.lo, seen.hi)
    return replace(found, ratio=seen.ratio, lo=lo, hi=hi, blocks=seen.blocks)


def _alpha(spec: StudySpec, history: History) -> float:
    """Return the error rate of each claim of a study."""
    if spec.kind is Kind.TUNE and not spec.objectives:
        return claim_alpha(spec, count_winners(history.newest_arms(Stage.CONFIRM)))
    return claims_alpha(spec) / max(1, len(spec.arms) - 1 + spec.null)
