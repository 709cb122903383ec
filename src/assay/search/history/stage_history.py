"""Blocks of one stage: observations by arm and block."""

from __future__ import annotations

import bisect
import math
from collections import Counter
from collections.abc import Sequence

from assay.records import Arm, Sample, Statistic
from assay.search.history.disturbance import OutsideLoad
from assay.search.history.process_means import ProcessMeans, number_of_block
from assay.stats.paired import Observation
from assay.stats.spread import batch_spread


class StageHistory:
    """Blocks of one stage.

    Args:
        statistic: statistic of the objective.
        usual: launches of an arm in a block whose plan is unknown.
    """

    def __init__(self, statistic: Statistic, usual: int) -> None:
        self._combine = _spread_of if statistic is Statistic.SPREAD else _mean_of
        self._usual = usual
        self._counts: dict[int, Counter[str]] = {}
        self._parts: dict[tuple[str, int], dict[int, Observation | None]] = {}
        self.blocks: list[int] = []
        self.columns: dict[str, dict[int, Observation | None]] = {}
        self.block_arms: dict[int, tuple[Arm, ...]] = {}
        self._conditions: dict[int, OutsideLoad] = {}
        # Caches: each interim analysis asks for every block; an entry is valid until a sample is
        # added to its block.
        self._complete: dict[int, bool] = {}
        self._processes: dict[int, ProcessMeans] = {}

    def add_trial(self, sample: Sample, found: Observation | None) -> None:
        """Add a trial of a process, which is one block."""
        process = number_of_block(sample.launch)
        self._insert(process)
        means = self._processes.setdefault(process, ProcessMeans())
        means.add(sample, found)
        self.block_arms[process] = means.arms
        for arm, observation in means.columns.items():
            self.columns.setdefault(arm, {})[process] = observation
        self._complete[process] = means.is_complete

    def _insert(self, block: int) -> None:
        if block not in self.blocks[-1:]:
            at = bisect.bisect_left(self.blocks, block)
            if block not in self.blocks[at : at + 1]:
                self.blocks.insert(at, block)

    def add(self, sample: Sample, found: Observation | None) -> None:
        """Add a launch and its observation; ``None`` without a value."""
        launch = sample.launch
        block = launch.block
        self._insert(block)
        self._conditions[block] = self._conditions.get(block, OutsideLoad()).with_launch(sample)
        if launch.block_arms is not None:
            self.block_arms[block] = tuple(dict.fromkeys(launch.block_arms))
            self._counts[block] = Counter(arm.name for arm in launch.block_arms)
        counts = self._counts.get(block)
        times = self._usual if counts is None else counts[launch.arm]
        column = self.columns.setdefault(launch.arm, {})
        if times == 1:
            column[block] = found
        else:
            parts = self._parts.setdefault((launch.arm, block), {})
            parts[launch.position] = found
            if len(parts) == times or None in parts.values():
                column[block] = self._combine(list(parts.values()), times)
        arms = self.block_arms.get(block, ())
        self._complete[block] = all(block in self.columns.get(arm.name, {}) for arm in arms)

    def revise(self, block: int, arm: str, value: float) -> None:
        """Replace the value of an arm in a block in which it ran once."""
        if (arm, block) not in self._parts:
            self.columns[arm][block] = Observation(value)

    @property
    def times(self) -> int:
        """Launches of an arm in the first block; 0 if unknown."""
        counts = self._counts.get(self.blocks[0]) if self.blocks else None
        return max(counts.values()) if counts else 0

    def is_complete(self, block: int) -> bool:
        """Return whether every arm of the plan of a block ran."""
        return self._complete.get(block, True)

    def is_disturbed(self, block: int, above: float | None) -> bool:
        """Return whether other processes used more than a share of the CPUs during a block."""
        return block in self._conditions and self._conditions[block].disturbed(above)


def _spread_of(parts: Sequence[Observation | None], times: int) -> Observation | None:
    """Return the spread of an arm's launches in one block; ``None`` if one has no value."""
    values = [part.value for part in parts if part is not None and not part.censored]
    if len(values) < times:
        return None
    return Observation(batch_spread(values))


def _mean_of(parts: Sequence[Observation | None], times: int) -> Observation | None:
    """Return the mean logarithm of the launches of one application as one observation.

    With a time-out among them it is a lower bound.
    """
    known = [part for part in parts if part is not None]
    if len(known) < times:
        return None
    mean = math.exp(math.fsum(math.log(part.value) for part in known) / times)
    return Observation(mean, censored=any(part.censored for part in known))
