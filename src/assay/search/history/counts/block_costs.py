"""Block costs: expected time and launches of the next block of a study."""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Mapping, Sequence

from assay.records import (
    Arm,
    Budget,
    Configuration,
    Evidence,
    Kind,
    Sample,
    Stage,
    Statistic,
    StudySpec,
)
from assay.records.launch import NON_COMPARING_STAGES
from assay.records.sample import BUILD
from assay.search.history.counts.wall_times import WallTimes, median_of_sorted
from assay.search.history.remaining_budget import LAUNCH_OVERHEAD_S, Cost
from assay.search.space.switching import (
    MAX_LAUNCHES_PER_APPLICATION,
    HardToChangeFactors,
    launches_per_application,
)
from assay.stats.spread import BATCH_BLOCKS

PLANNED_BLOCKS = 12
"""Number of blocks of a study that needs boots: twice the minimum for any result."""
CLAIMS_SHARE = 0.3
"""Share of the budget of a ``tune`` for claims (docs/explanation/statistics.md, rule 10)."""
DEFAULT_ARM = Arm(name="default", configuration=Configuration())
"""The arm without any settings."""


class BlockCosts:
    """Expected costs of blocks, from the times of the launches so far.

    Args:
        statistic: statistic of the objective; a spread needs several launches of an arm in a block.
        hard_to_change: hard-to-change settings.
        budget: budget of the launches for claims.
    """

    def __init__(
        self, statistic: Statistic, hard_to_change: HardToChangeFactors, budget: Budget | None
    ) -> None:
        self._statistic = statistic
        self._hard_to_change = hard_to_change
        self._budget = budget
        self._walls = WallTimes()
        self._costs = WallTimes()
        self._builds: list[float] = []
        self._arms: set[str] = set()

    def add(self, sample: Sample, evidence: Mapping[str, Evidence]) -> None:
        """Add a sample.

        Args:
            sample: sample of a launch.
            evidence: its evidence by kind.
        """
        self._arms.add(sample.launch.arm)
        self._walls.add(sample, sample.wall_s)
        self._costs.add(sample, sample.total_wall_s_with(evidence))
        for piece in sample.evidence if BUILD in evidence else ():
            if piece.kind == BUILD and piece.value is not None:
                bisect.insort(self._builds, piece.value)

    @property
    def walls(self) -> WallTimes:
        """Wall times of the launches, without termination times."""
        return self._walls

    @property
    def build_s(self) -> float:
        """Expected build time of the program of a configuration that never ran, in seconds."""
        return median_of_sorted(self._builds) or 0.0

    def typical(self, arms: Sequence[Arm], times: int, parallel_launches: int = 1) -> Cost:
        """Return the expected cost of a block, including switching between its arms.

        Unknown arms count as the default, or without a default as the slowest arm.

        Args:
            arms: arms of the block.
            times: launches of each arm.
            parallel_launches: number of launches that run at the same time.
        """
        return self._cost(arms, self._costs.typical, times, parallel_launches)

    def upper_quartile(self, arms: Sequence[Arm], times: int) -> Cost:
        """Return the cost from upper quartiles: reserves must suffice under load too.

        Args:
            arms, times: see ``typical``.
        """
        return self._cost(arms, self._costs.upper_quartile, times, 1)

    def _cost(
        self,
        arms: Sequence[Arm],
        wall_s: Callable[[str], float | None],
        times: int,
        parallel_launches: int,
    ) -> Cost:
        switching_s = self._hard_to_change.block_s(arms)
        launching = self._once(arms, wall_s).times(times)
        new = sum(arm.name not in self._arms for arm in arms)
        time_s = launching.time_s / parallel_launches + switching_s
        return Cost(time_s, launching.launches, once_s=new * self.build_s)

    def _once(self, arms: Sequence[Arm], wall_s: Callable[[str], float | None]) -> Cost:
        walls = [wall_s(arm.name) or 0.0 for arm in arms]
        if not all(walls):
            usual = wall_s(DEFAULT_ARM.name) or self._costs.longest() or 0.0
            walls = [wall or usual for wall in walls]
        return Cost(sum(walls) + LAUNCH_OVERHEAD_S * len(arms), len(arms))

    def launches_by_arm(self, stage: Stage, arms: Sequence[Arm], known: int) -> int:
        """Return the number of launches of each arm in a block of a stage.

        If arms of a claim differ in hard-to-change settings, the number follows from the cost of an
        application; it is the same as in the first such block, so that all blocks have equal
        weight.

        Args:
            stage, arms: stage and arms of the block.
            known: number of launches in the first block of the stage; 0 before it.
        """
        fixed = launches_per_block(self._statistic, stage)
        if fixed > 1 or stage is not Stage.CONFIRM:
            return fixed
        switching_s = self._hard_to_change.block_with_boots_s(arms)
        if not switching_s:
            return 1
        if known:
            return known
        return self.launches_per_arm(switching_s, self._once(arms, self._costs.typical))

    def launches_per_arm(self, switching_s: float, once: Cost) -> int:
        """Return the number of launches of each arm for one application.

        Args:
            switching_s: switching time of a block including boots, in seconds.
            once: cost of a block with one launch of each arm.
        """
        return min(launches_per_application(switching_s, once.time_s), self._room(once))

    def _room(self, once: Cost) -> int:
        """Return the affordable launches of each arm in a block of a study that needs boots.

        Here the budget is the limit, not the cost of a boot.
        """
        if not self._hard_to_change.reboot_settings or self._budget is None:
            return MAX_LAUNCHES_PER_APPLICATION
        time_s, launches = self._budget.time_s, self._budget.launches
        rooms = [time_s / once.time_s] if time_s is not None and once.time_s else []
        rooms += [launches / once.launches] if launches is not None and once.launches else []
        return (
            max(1, int(min(rooms, default=math.inf) / PLANNED_BLOCKS))
            if rooms
            else MAX_LAUNCHES_PER_APPLICATION
        )


def launches_per_block(statistic: Statistic, stage: Stage) -> int:
    """Return the number of launches of an arm in a block: a spread needs several launches."""
    single = stage in (*NON_COMPARING_STAGES, Stage.GAUGE)
    return BATCH_BLOCKS if statistic is Statistic.SPREAD and not single else 1


def budget_for_claims(spec: StudySpec) -> Budget:
    """Return the part of a budget for claims: a share of it for a ``tune``."""
    if spec.kind is not Kind.TUNE:
        return spec.budget
    time_s, launches = spec.budget.time_s, spec.budget.launches
    return Budget(
        time_s=None if time_s is None else time_s * CLAIMS_SHARE,
        launches=None if launches is None else int(launches * CLAIMS_SHARE),
    )
