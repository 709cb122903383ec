"""History: the samples of a study, as blocks of paired observations."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from assay.records import Arm, Configuration, Goal, Metric, Outcome, Sample, Stage
from assay.search.purse import OVERHEAD_S, Cost
from assay.stats.paired import Observation

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

DEFAULT_ARM = Arm(name="default", configuration=Configuration())
"""The arm in which nothing is set."""


def arm_of(configuration: Configuration) -> Arm:
    """The arm that a configuration is in a study without repeated arms."""
    return Arm(name=str(configuration), configuration=configuration)


class History:
    """Samples in the order told, by block and arm.

    Args:
        metric: the objective.
    """

    def __init__(self, metric: Metric, samples: Iterable[Sample] = ()) -> None:
        self.metric = metric
        self.samples: list[Sample] = []
        self._arms: dict[str, Arm] = {}
        self._blocks: dict[Stage, dict[int, dict[str, Sample]]] = {}
        self._rosters: dict[int, tuple[Arm, ...]] = {}
        for sample in samples:
            self.add(sample)

    def add(self, sample: Sample) -> None:
        """Take in one sample; a later attempt at the same place replaces the earlier one."""
        launch = sample.launch
        self.samples.append(sample)
        self._arms.setdefault(launch.arm, Arm(name=launch.arm, configuration=launch.configuration))
        block = self._blocks.setdefault(launch.stage, {}).setdefault(launch.block, {})
        block[launch.arm] = sample
        if launch.roster is not None:
            self._rosters[launch.block] = launch.roster

    def blocks(self, stage: Stage) -> list[int]:
        """Numbers of the blocks of a stage, ascending."""
        return sorted(self._blocks.get(stage, {}))

    def arms(self, stage: Stage) -> list[Arm]:
        """Arms that ran in a stage, in the order they first did."""
        names = dict.fromkeys(n for block in self.blocks(stage) for n in self._ran(stage, block))
        return [self._arms[name] for name in names]

    def _ran(self, stage: Stage, block: int) -> dict[str, Sample]:
        return self._blocks[stage][block]

    def roster(self, stage: Stage) -> list[Arm]:
        """The arms of the newest block of a stage; empty where there is none."""
        numbers = self.blocks(stage)
        if not numbers:
            return []
        known = self._rosters.get(numbers[-1])
        return list(known) if known else [self._arms[n] for n in self._ran(stage, numbers[-1])]

    def observation(self, sample: Sample | None) -> Observation | None:
        """The objective of a sample; a time-out is right-censored at its cap."""
        if sample is None:
            return None
        value = sample.metrics.get(self.metric.name)
        if sample.outcome is Outcome.OK and value is not None and value > 0:
            return Observation(value)
        if sample.outcome is Outcome.TIMED_OUT and self.metric.name == "wall_s" and sample.wall_s:
            return Observation(sample.launch.cap_s or sample.wall_s, censored=True)
        return None

    def observations(
        self, stage: Stage, arm: str, blocks: Sequence[int] | None = None
    ) -> list[Observation | None]:
        """One entry for each block of a stage, in order; ``None`` where there is no value."""
        numbers = self.blocks(stage) if blocks is None else blocks
        return [self.observation(self._ran(stage, number).get(arm)) for number in numbers]

    def log_matrix(
        self, stage: Stage, arms: Sequence[str], blocks: Sequence[int] | None = None
    ) -> npt.NDArray[np.float64]:
        """Blocks x arms: logarithms of the objective, turned so that lower is better.

        NaN where an arm did not run or gave no value.
        """
        import numpy as np

        sign = 1.0 if self.metric.goal is Goal.LOWER else -1.0
        columns = [
            [math.nan if o is None else sign * math.log(o.value) for o in column]
            for column in (self.observations(stage, arm, blocks) for arm in arms)
        ]
        return np.array(columns, dtype=np.float64).T.reshape(-1, len(arms))

    def values(self, stage: Stage, arm: str) -> list[float]:
        """Uncensored values of an arm."""
        found = self.observations(stage, arm)
        return [o.value for o in found if o is not None and not o.censored]

    def gave_up(self, stage: Stage, arm: str) -> bool:
        """Whether an arm ran in a block of the stage and gave no value at any attempt."""
        ran = [
            self._ran(stage, number)[arm]
            for number in self.blocks(stage)
            if arm in self._ran(stage, number)
        ]
        return any(self.observation(sample) is None for sample in ran)

    def wall_s(self, arm: str) -> float | None:
        """Median wall time of an arm over all stages but the survey."""
        walls = [
            s.wall_s
            for s in self.samples
            if s.launch.arm == arm and s.wall_s and s.launch.stage is not Stage.SURVEY
        ]
        return statistics.median(walls) if walls else None

    def cost(self, arms: Sequence[Arm]) -> Cost:
        """What a block of these arms is expected to take; unknown ones count as the default."""
        usual = self.wall_s(DEFAULT_ARM.name) or 0.0
        walls = [self.wall_s(arm.name) or usual for arm in arms]
        return Cost(sum(walls) + OVERHEAD_S * len(arms), len(arms))
