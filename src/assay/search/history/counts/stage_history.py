"""Blocks of one stage: observations by arm and block."""

from __future__ import annotations

import bisect
import math
from collections import Counter
from collections.abc import Mapping, Sequence

from assay.records import Arm, Evidence, Launch, Sample, Statistic
from assay.search.history.counts.arm_column import ArmColumn
from assay.search.history.disturbance import NO_LOAD, OutsideLoad
from assay.search.history.process_means import ProcessMeans, number_of_block
from assay.stats.paired import Observation
from assay.stats.spread import batch_spread


class StageHistory:
    """Blocks of one stage, with counts that each addition updates.

    Args:
        statistic: statistic of the objective.
        usual: launches of an arm in a block whose plan is unknown.
        disturbed_above: share of the CPUs used by other processes above which a block is disturbed;
            ``None`` if no block is.

    Attributes:
        blocks: numbers of the blocks, ascending.
        columns: observations of each arm that ran, by name.
    """

    def __init__(
        self, statistic: Statistic, usual: int, disturbed_above: float | None = None
    ) -> None:
        self._combine = _spread_of if statistic is Statistic.SPREAD else _mean_of
        self._usual = usual
        self._disturbed_above = disturbed_above
        self.blocks: list[int] = []
        self.columns: dict[str, ArmColumn] = {}
        self._plans: dict[int, _ArmsOfBlock] = {}
        self._known_plans: dict[tuple[Arm, ...], _ArmsOfBlock] = {}
        self._missing: dict[int, set[str]] = {}
        self._disturbed: set[int] = set()
        self._parts: dict[tuple[str, int], dict[int, Observation | None]] = {}
        self._loads: dict[int, OutsideLoad] = {}
        self._processes: dict[int, ProcessMeans] = {}

    def add_trial(self, sample: Sample, found: Observation | None) -> None:
        """Add a trial of a process, which is one block."""
        process = number_of_block(sample.launch)
        self._insert(process)
        means = self._processes.setdefault(process, ProcessMeans())
        means.add(sample, found)
        self._plans[process] = self._plan_of(means.arms)
        for arm, observation in means.columns.items():
            self._column(arm)[process] = observation
        if means.is_complete:
            self._missing.pop(process, None)
        else:
            self._missing[process] = {arm.name for arm in means.arms}

    def _insert(self, block: int) -> None:
        if not self.blocks or block > self.blocks[-1]:
            self.blocks.append(block)
        elif block != self.blocks[-1]:
            at = bisect.bisect_left(self.blocks, block)
            if self.blocks[at] != block:
                self.blocks.insert(at, block)

    def _column(self, arm: str) -> ArmColumn:
        if arm not in self.columns:
            self.columns[arm] = ArmColumn()
        return self.columns[arm]

    def _plan_of(self, arms: tuple[Arm, ...]) -> _ArmsOfBlock:
        """Return the plan of a block, the same object for equal plans."""
        plan = self._known_plans.get(arms)
        if plan is None:
            plan = self._known_plans[arms] = _ArmsOfBlock(arms)
        return plan

    def add(
        self, sample: Sample, found: Observation | None, evidence: Mapping[str, Evidence]
    ) -> None:
        """Add a launch.

        Args:
            sample: sample of the launch.
            found: its observation; ``None`` without a value.
            evidence: its evidence by kind.
        """
        launch = sample.launch
        block = launch.block
        self._insert(block)
        if self._disturbed_above is not None:
            self._add_load(sample, evidence)
        if launch.block_arms is not None:
            self._plans[block] = self._plan_of(launch.block_arms)
        plan = self._plans.get(block)
        times = self._usual if plan is None else plan.counts[launch.arm]
        column = self._column(launch.arm)
        if times == 1:
            column[block] = found
        else:
            parts = self._parts.setdefault((launch.arm, block), {})
            parts[launch.position] = found
            if len(parts) == times or None in parts.values():
                column[block] = self._combine(list(parts.values()), times)
        self._note_missing(launch, plan)

    def _note_missing(self, launch: Launch, plan: _ArmsOfBlock | None) -> None:
        """Note the arms that have not run in the block of a launch."""
        block = launch.block
        missing = self._missing.get(block)
        if launch.block_arms is not None and plan is not None:
            missing = {name for name in plan.counts if not self._has(name, block)}
        elif missing and self._has(launch.arm, block):
            missing.discard(launch.arm)
        if missing:
            self._missing[block] = missing
        else:
            self._missing.pop(block, None)

    def _has(self, arm: str, block: int) -> bool:
        return arm in self.columns and block in self.columns[arm]

    def _add_load(self, sample: Sample, evidence: Mapping[str, Evidence]) -> None:
        block = sample.launch.block
        load = self._loads.get(block, NO_LOAD).with_launch(sample, evidence)
        if load is not NO_LOAD:
            self._loads[block] = load
        if load.disturbed(self._disturbed_above):
            self._disturbed.add(block)
        else:
            self._disturbed.discard(block)

    def revise(self, block: int, arm: str, value: float) -> None:
        """Replace the value of an arm in a block in which it ran once."""
        if (arm, block) not in self._parts:
            self.columns[arm][block] = Observation(value)

    @property
    def times(self) -> int:
        """Launches of an arm in the first block; 0 if unknown."""
        plan = self._plans.get(self.blocks[0]) if self.blocks else None
        return max(plan.counts.values(), default=0) if plan else 0

    def arms_of(self, block: int) -> tuple[Arm, ...]:
        """Return the arms of the plan of a block; empty without a plan."""
        plan = self._plans.get(block)
        return plan.arms if plan else ()

    @property
    def complete(self) -> int:
        """Number of blocks in which every arm of the plan ran."""
        return len(self.blocks) - len(self._missing)

    @property
    def disturbed(self) -> int:
        """Number of these blocks that were disturbed."""
        return len(self._disturbed) - sum(block in self._disturbed for block in self._missing)

    def is_complete(self, block: int) -> bool:
        """Return whether every arm of the plan of a block ran."""
        return block not in self._missing

    def is_disturbed(self, block: int) -> bool:
        """Return whether other processes disturbed a block more than the study admits."""
        return block in self._disturbed


class _ArmsOfBlock:
    """Plan of a block: its arms, each once, and the launches of each."""

    __slots__ = ("arms", "counts")

    def __init__(self, arms: tuple[Arm, ...]) -> None:
        self.arms = tuple(dict.fromkeys(arms))
        self.counts = Counter(arm.name for arm in arms)


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
