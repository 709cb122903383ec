"""History: the samples of a study, as blocks of paired observations."""

from __future__ import annotations

import bisect
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from assay.records import (
    Arm,
    Budget,
    Configuration,
    Goal,
    Kind,
    Metric,
    Outcome,
    Requirement,
    Sample,
    Stage,
    Statistic,
    StudySpec,
)
from assay.records.launch import NON_COMPARING_STAGES
from assay.records.sample import BUILD
from assay.search.history.different_work import DifferentWork
from assay.search.history.disturbance import ForeignLoad, OutsideLoad, is_mostly_disturbed
from assay.search.history.one_time_costs import FirstLaunches
from assay.search.history.output_comparison import ObservedOutputs
from assay.search.history.refusals import Refusals
from assay.search.history.remaining_budget import LAUNCH_OVERHEAD_S, Cost
from assay.search.history.slack import RequirementSlack
from assay.search.history.zeros import is_without_ratio
from assay.search.space.switching import (
    MAX_LAUNCHES_PER_APPLICATION,
    HardToChangeFactors,
    launches_per_application,
)
from assay.stats.paired import Observation
from assay.stats.quantile import quantile_of_sorted
from assay.stats.spread import BATCH_BLOCKS, batch_spread

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

PLANNED_BLOCKS = 12
"""Blocks of a study that goes from boot to boot: twice as many as show anything at all."""
CLAIMS_SHARE = 0.3
"""Of the budget of a ``tune`` (docs/explanation/statistics.md, rule 14)."""
DEFAULT_ARM = Arm(name="default", configuration=Configuration())
"""The arm in which nothing is set."""


def arm_of(configuration: Configuration) -> Arm:
    """The arm that a configuration is in a study without repeated arms."""
    return Arm(name=str(configuration), configuration=configuration)


def launches_per_block(statistic: Statistic, stage: Stage) -> int:
    """How often an arm runs in a block: a spread takes several launches to show."""
    looking = stage in (*NON_COMPARING_STAGES, Stage.GAUGE)
    return BATCH_BLOCKS if statistic is Statistic.SPREAD and not looking else 1


class History:
    """Samples in the order told, by block and arm.

    Args:
        metric: the objective.
        samples: to begin with.
        statistic: of the objective; where it is the spread, that of an arm's launches in a block
            is its one observation there.
        disturbed_above: share of the CPUs above which others disturb a block.
        require: what launches are to keep.
        costly: settings that are costly to change.
        budget: for what claims rest on.
    """

    def __init__(
        self,
        metric: Metric,
        samples: Iterable[Sample] = (),
        *,
        statistic: Statistic = Statistic.MEAN,
        disturbed_above: float | None = None,
        require: Sequence[Requirement] = (),
        costly: HardToChangeFactors | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.metric = metric
        self.budget = budget
        self.costly = costly or HardToChangeFactors()
        self.samples: list[Sample] = []
        self._of_arm: dict[str, list[Sample]] = {}
        self._statistic = statistic
        self._disturbed_above = disturbed_above
        self._arms: dict[str, Arm] = {}
        self._made: dict[tuple[Stage, str], dict[tuple[int, int], Sample]] = {}
        self._foreign: dict[tuple[Stage, str], ForeignLoad] = {}
        self._stages: dict[Stage, _StageHistory] = {
            stage: _StageHistory(
                Statistic.MEAN if stage in NON_COMPARING_STAGES else statistic,
                launches_per_block(statistic, stage),
            )
            for stage in Stage
        }
        self._walls = _Walls(lambda sample: sample.wall_s)
        self._costs = _Walls(lambda sample: sample.took_s)
        self._builds: list[float] = []
        self.first_launches = FirstLaunches()
        self.outputs = ObservedOutputs()
        self.other_work = DifferentWork(self.outputs)
        self.refusals = Refusals()
        self.slacks = RequirementSlack(require)
        self.abreast = 1
        """Launches of a search block that run side by side; the race says it."""
        for sample in samples:
            self.add(sample)

    @classmethod
    def of(cls, spec: StudySpec, samples: Iterable[Sample] = ()) -> History:
        """The history of a study, as its specification wants it read."""
        found = cls(
            spec.workload.objective,
            statistic=spec.statistic,
            disturbed_above=spec.disturbed_above,
            require=spec.require,
            costly=HardToChangeFactors.of(spec),
            budget=_for_claims(spec),
        )
        found.other_work = DifferentWork.of(spec, found.outputs)
        for sample in samples:
            found.add(sample)
        return found

    def add(self, sample: Sample) -> None:
        """Take in one sample; a later attempt at the same place replaces the earlier one."""
        launch = sample.launch
        self.samples.append(sample)
        self._of_arm.setdefault(launch.arm, []).append(sample)
        self._arms.setdefault(launch.arm, Arm(name=launch.arm, configuration=launch.configuration))
        self._stages[launch.stage].add(sample, self.observation(sample))
        self._walls.add(sample)
        self._costs.add(sample)
        self.first_launches.add(sample)
        self.outputs.add(sample)
        self.other_work.add(sample)
        for piece in sample.evidence:
            if piece.kind == BUILD and piece.value is not None:
                bisect.insort(self._builds, piece.value)
        self.refusals.add(sample)
        self.slacks.add(sample)
        place = launch.stage, launch.arm
        self._foreign[place] = self._foreign.get(place, ForeignLoad()).with_one(sample)
        made = self._made.setdefault(place, {})
        made[launch.block, launch.position] = sample

    @property
    def goal(self) -> Goal:
        """Which way what is observed gets better; the less a figure varies the better."""
        return Goal.LOWER if self._statistic is Statistic.SPREAD else self.metric.goal

    def blocks(self, stage: Stage) -> list[int]:
        """Numbers of the blocks of a stage, ascending."""
        return self._stages[stage].blocks

    def complete(self, stage: Stage) -> list[int]:
        """The blocks of a stage in which every arm of the roster ran."""
        return [number for number in self.blocks(stage) if self._stages[stage].is_complete(number)]

    def undisturbed_blocks(self, stage: Stage, first: int | None = None) -> list[int]:
        """The complete blocks of a stage in which nobody else used the machine.

        Args:
            stage: whose.
            first: only those among so many that were run first.
        """
        ran = self.complete(stage)[:first]
        return [number for number in ran if not self.is_disturbed(stage, number)]

    def is_disturbed(self, stage: Stage, block: int) -> bool:
        """Whether others took more of the CPUs during a block than the study admits."""
        return self._stages[stage].is_disturbed(block, self._disturbed_above)

    def disturbed(self, stage: Stage) -> int:
        """How many complete blocks of a stage were disturbed."""
        return len(self.complete(stage)) - len(self.undisturbed_blocks(stage))

    def mostly_disturbed(self, stage: Stage) -> bool:
        """Whether more than a third of the blocks of a stage were disturbed."""
        return is_mostly_disturbed(self.disturbed(stage), len(self.complete(stage)))

    def summarised(self, stage: Stage) -> list[int]:
        """The complete blocks that summaries rest on: undisturbed ones, or all where few are."""
        return (
            self.complete(stage) if self.mostly_disturbed(stage) else self.undisturbed_blocks(stage)
        )

    def foreign_load(self, stage: Stage, arm: str) -> ForeignLoad:
        """What other processes took of the CPUs while an arm ran in a stage."""
        return self._foreign.get((stage, arm), ForeignLoad())

    def arms(self, stage: Stage) -> list[Arm]:
        """Arms that ran in a stage, in the order they first did."""
        return [self._arms[name] for name in self._stages[stage].columns]

    def outcomes(self, stage: Stage) -> Iterator[tuple[Arm, int, Observation | None]]:
        """What each arm gave in each block of a stage in which it ran."""
        for name, column in self._stages[stage].columns.items():
            for block, found in sorted(column.items()):
                yield self._arms[name], block, found

    def roster(self, stage: Stage) -> list[Arm]:
        """The arms of the newest block of a stage; empty where there is none."""
        numbers = self.blocks(stage)
        if not numbers:
            return []
        known = self._stages[stage].rosters.get(numbers[-1])
        return list(known) if known else [self._arms[n] for n in self._ran(stage, numbers[-1])]

    def _ran(self, stage: Stage, block: int) -> list[str]:
        return [name for name, column in self._stages[stage].columns.items() if block in column]

    def blocks_run(self, stage: Stage, arm: str) -> int:
        """In how many blocks of a stage an arm ran, whatever came of it."""
        return len(self._stages[stage].columns.get(arm, {}))

    def first_block(self, stage: Stage, arm: str) -> int | None:
        """The block of a stage in which an arm first ran."""
        return min(self._stages[stage].columns.get(arm, {}), default=None)

    def observation(self, sample: Sample) -> Observation | None:
        """The objective of a sample; a time-out is right-censored at its cap."""
        value = sample.metrics.get(self.metric.name)
        if sample.outcome is Outcome.OK and value is not None and 0 < value < math.inf:
            return Observation(value)
        if sample.outcome is Outcome.TIMED_OUT and self.metric.name == "wall_s" and sample.wall_s:
            return Observation(sample.launch.cap_s or sample.wall_s, censored=True)
        return None

    def observations(
        self, stage: Stage, arm: str, blocks: Sequence[int] | None = None
    ) -> list[Observation | None]:
        """One entry for each block of a stage, in order; ``None`` where there is no value."""
        numbers = self.blocks(stage) if blocks is None else blocks
        column = self._stages[stage].columns.get(arm, {})
        return [column.get(number) for number in numbers]

    def newest(self, stage: Stage, arm: str, count: int) -> list[Observation | None]:
        """What the newest blocks of a stage brought in which an arm ran."""
        column = self._stages[stage].columns.get(arm, {})
        return [column[number] for number in sorted(column)[-count:]]

    def known(self, stage: Stage, arm: str) -> list[Observation]:
        """What was observed of an arm in a stage, by block."""
        column = self._stages[stage].columns.get(arm, {})
        return [found for _, found in sorted(column.items()) if found is not None]

    def values(self, stage: Stage, arm: str) -> list[float]:
        """Uncensored values of an arm."""
        return [o.value for o in self.known(stage, arm) if not o.censored]

    def summarised_values(self, stage: Stage, arm: str) -> list[float]:
        """Uncensored values of an arm from the blocks that summaries rest on, in order."""
        everything = self.mostly_disturbed(stage)
        column = self._stages[stage].columns.get(arm, {})
        return [
            found.value
            for number, found in sorted(column.items())
            if found is not None
            and not found.censored
            and (everything or not self.is_disturbed(stage, number))
        ]

    def summarised_samples(self, stage: Stage, arm: str) -> list[Sample]:
        """The launches of an arm in the blocks that summaries rest on."""
        everything = self.mostly_disturbed(stage)
        return [
            sample
            for sample in self.samples_of(stage, arm)
            if everything or not self.is_disturbed(stage, sample.launch.block)
        ]

    def launches_of(self, arm: str) -> Sequence[Sample]:
        """Return all launches of an arm, in the order told."""
        return self._of_arm.get(arm, ())

    def samples_of(self, stage: Stage, arm: str) -> list[Sample]:
        """The launches of an arm in a stage, each by its last attempt."""
        return [sample for _, sample in sorted(self._made.get((stage, arm), {}).items())]

    def log_matrix(self, stage: Stage, arms: Sequence[str]) -> npt.NDArray[np.float64]:
        """Blocks x arms: logarithms of the objective, turned so that lower is better.

        NaN where an arm did not run or gave no value.
        """
        import numpy as np

        sign = 1.0 if self.goal is Goal.LOWER else -1.0
        row = {number: at for at, number in enumerate(self.blocks(stage))}
        matrix = np.full((len(row), len(arms)), math.nan)
        for at, name in enumerate(arms):
            for number, found in self._stages[stage].columns.get(name, {}).items():
                if found is not None:
                    matrix[row[number], at] = sign * math.log(found.value)
        return matrix

    def has_failed_block(self, stage: Stage, arm: str) -> bool:
        """Whether an arm ran in a block of the stage and gave no figure at any attempt."""
        column = self._stages[stage].columns.get(arm, {})
        lost = {number for number, found in column.items() if found is None}
        return bool(lost) and bool(lost - self._zeros(stage, arm))

    def _zeros(self, stage: Stage, arm: str) -> set[int]:
        """The blocks of a stage in which an arm ended well with a figure that has no logarithm."""
        samples = self.samples_of(stage, arm)
        return {s.launch.block for s in samples if is_without_ratio(self.metric.name, s)}

    def has_zeros(self, arm: str, stages: Iterable[Stage] = tuple(Stage)) -> bool:
        """Return whether an arm ended well with a figure that has no logarithm in any stage."""
        name = self.metric.name
        return any(is_without_ratio(name, s) for at in stages for s in self.samples_of(at, arm))

    def figures(self, stage: Stage, arm: str) -> list[float]:
        """Return what ``values`` does, with the figures that have no logarithm."""
        if not self.has_zeros(arm, (stage,)):
            return self.values(stage, arm)
        return self._figures_of(self.samples_of(stage, arm))

    def summarised_figures(self, stage: Stage, arm: str) -> list[float]:
        """Return what ``summarised_values`` does, with the figures that have no logarithm."""
        if not self.has_zeros(arm, (stage,)):
            return self.summarised_values(stage, arm)
        return self._figures_of(self.summarised_samples(stage, arm))

    def _figures_of(self, samples: Iterable[Sample]) -> list[float]:
        name = self.metric.name
        good = (s for s in samples if s.outcome is Outcome.OK)
        return [s.metrics[name] for s in good if name in s.metrics]

    def lost(self, stage: Stage, arm: str, count: int) -> bool:
        """Return whether an arm gave no figure in the newest blocks of a stage in which it ran.

        One without a logarithm is a figure.

        Args:
            stage, arm: whose blocks they are.
            count: of blocks.
        """
        column = self._stages[stage].columns.get(arm, {})
        newest = sorted(column)[-count:]
        if len(newest) < count or any(column[number] is not None for number in newest):
            return False
        return not self._zeros(stage, arm) & set(newest)

    def wall_s(self, arm: str) -> float | None:
        """Return the median wall time of an arm; the least of the survey if it ran only there."""
        return self._walls.usual(arm)

    def successful_wall_s(self, arm: str) -> float | None:
        """Median wall time of the launches of an arm that ended well, the survey apart."""
        return self._walls.good(arm)

    def first_wall_s(self, arm: str) -> float | None:
        """Longest wall time of an arm's first launches, one of each stage, that ended well."""
        return self._walls.first(arm)

    @property
    def build_s(self) -> float:
        """What the program of a configuration that never ran is expected to take to be built."""
        return _median(self._builds) or 0.0

    def cost(self, arms: Sequence[Arm], stage: Stage = Stage.CONFIRM) -> Cost:
        """What a block of these arms is expected to take, switching between them included.

        Unknown ones count as the default, or where there is none as the arm that takes longest.
        """
        return self._cost(arms, self._costs.usual, stage)

    def upper_quartile_cost(self, arms: Sequence[Arm]) -> Cost:
        """The same from the upper quartiles: what is kept for a claim must do under load too."""
        return self._cost(arms, self._costs.dear, Stage.CONFIRM)

    def _cost(
        self, arms: Sequence[Arm], wall_s: Callable[[str], float | None], stage: Stage
    ) -> Cost:
        switching_s = self.costly.block_s(arms)
        launching = self._once(arms, wall_s).times(self.launches_by_arm(stage, arms))
        abreast = self.abreast if stage is Stage.SEARCH else 1
        new = sum(arm.name not in self._arms for arm in arms)
        time_s = launching.time_s / abreast + switching_s
        return Cost(time_s, launching.launches, once_s=new * self.build_s)

    def _once(self, arms: Sequence[Arm], wall_s: Callable[[str], float | None]) -> Cost:
        usual = wall_s(DEFAULT_ARM.name) or self._costs.longest() or 0.0
        walls = [wall_s(arm.name) or usual for arm in arms]
        return Cost(sum(walls) + LAUNCH_OVERHEAD_S * len(arms), len(arms))

    def launches_by_arm(self, stage: Stage, arms: Sequence[Arm]) -> int:
        """How often each of these arms runs in a block of a stage.

        Where arms of a claim differ in what is costly to change, as often as that is worth within
        one application; as often as in the first such block, so that all weigh the same.
        """
        fixed = launches_per_block(self._statistic, stage)
        if fixed > 1 or stage is not Stage.CONFIRM:
            return fixed
        switching_s = self.costly.block_with_boots_s(arms)
        if not switching_s:
            return 1
        known = self._stages[stage].times
        if known:
            return known
        return self.launches_per_arm(switching_s, self._once(arms, self._costs.usual))

    def launches_per_arm(self, switching_s: float, once: Cost) -> int:
        """How many launches of each arm one application serves.

        Args:
            switching_s: of a block, boots included.
            once: what a block takes with one launch of each arm.
        """
        return min(launches_per_application(switching_s, once.time_s), self._room(once))

    def _room(self, once: Cost) -> int:
        """How often each arm of a block may run for a study that goes from boot to boot.

        What a boot is worth does not bound what the budget has room for.
        """
        if not self.costly.pausing or self.budget is None:
            return MAX_LAUNCHES_PER_APPLICATION
        time_s, launches = self.budget.time_s, self.budget.launches
        rooms = [time_s / once.time_s] if time_s is not None and once.time_s else []
        rooms += [launches / once.launches] if launches is not None and once.launches else []
        return (
            max(1, int(min(rooms, default=math.inf) / PLANNED_BLOCKS))
            if rooms
            else MAX_LAUNCHES_PER_APPLICATION
        )


class _StageHistory:
    """The blocks of one stage: for each arm, what it gave in which block.

    Args:
        statistic: of the objective.
        usual: how often an arm runs in a block whose roster is not known.
    """

    def __init__(self, statistic: Statistic, usual: int) -> None:
        self._combine = _spread_of if statistic is Statistic.SPREAD else _mean_of
        self._usual = usual
        self._counts: dict[int, Counter[str]] = {}
        self._parts: dict[tuple[str, int], dict[int, Observation | None]] = {}
        self.blocks: list[int] = []
        self.columns: dict[str, dict[int, Observation | None]] = {}
        self.rosters: dict[int, tuple[Arm, ...]] = {}
        self._conditions: dict[int, OutsideLoad] = {}
        # Asked for of every block at every look: what is known of one holds until it is added to.
        self._complete: dict[int, bool] = {}

    def add(self, sample: Sample, found: Observation | None) -> None:
        launch = sample.launch
        block = launch.block
        if block not in self.blocks[-1:]:
            at = bisect.bisect_left(self.blocks, block)
            if block not in self.blocks[at : at + 1]:
                self.blocks.insert(at, block)
        self._conditions[block] = self._conditions.get(block, OutsideLoad()).with_one(sample)
        if launch.roster is not None:
            self.rosters[block] = tuple(dict.fromkeys(launch.roster))
            self._counts[block] = Counter(arm.name for arm in launch.roster)
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
        roster = self.rosters.get(block, ())
        self._complete[block] = all(block in self.columns.get(arm.name, {}) for arm in roster)

    @property
    def times(self) -> int:
        """How often an arm ran in the first block; 0 where that is not known."""
        counts = self._counts.get(self.blocks[0]) if self.blocks else None
        return max(counts.values()) if counts else 0

    def is_complete(self, block: int) -> bool:
        return self._complete.get(block, True)

    def is_disturbed(self, block: int, above: float | None) -> bool:
        return block in self._conditions and self._conditions[block].disturbed(above)


def _for_claims(spec: StudySpec) -> Budget:
    """The part of a budget that is meant for what claims rest on: of a ``tune``, a share."""
    if spec.kind is not Kind.TUNE:
        return spec.budget
    time_s, launches = spec.budget.time_s, spec.budget.launches
    return Budget(
        time_s=None if time_s is None else time_s * CLAIMS_SHARE,
        launches=None if launches is None else int(launches * CLAIMS_SHARE),
    )


def _spread_of(parts: Sequence[Observation | None], times: int) -> Observation | None:
    """How much the launches of an arm in one block vary; nothing where one has no value."""
    values = [part.value for part in parts if part is not None and not part.censored]
    if len(values) < times:
        return None
    return Observation(batch_spread(values))


def _mean_of(parts: Sequence[Observation | None], times: int) -> Observation | None:
    """The launches of one application as one observation: the mean of their logarithms.

    A time-out among them makes it a lower bound.
    """
    known = [part for part in parts if part is not None]
    if len(known) < times:
        return None
    mean = math.exp(math.fsum(math.log(part.value) for part in known) / times)
    return Observation(mean, censored=any(part.censored for part in known))


class _Walls:
    """Wall times by arm, kept in order, so that a median costs nothing.

    Args:
        time_s: of a launch: its wall time, or with what it took to end when it was asked to.
    """

    def __init__(self, time_s: Callable[[Sample], float | None]) -> None:
        self._time_s = time_s
        self._survey: dict[str, list[float]] = {}
        self._looks: dict[str, list[float]] = {}
        self._all: dict[str, list[float]] = {}
        self._good: dict[str, list[float]] = {}
        self._first: dict[str, dict[Stage, float]] = {}

    def add(self, sample: Sample) -> None:
        time_s = self._time_s(sample)
        if not time_s:
            return
        launch = sample.launch
        if sample.outcome is Outcome.OK:
            self._first.setdefault(launch.arm, {}).setdefault(launch.stage, time_s)
        looking = launch.stage is Stage.SURVEY
        kinds = [self._survey if looking else self._all]
        if sample.outcome is Outcome.OK and looking:
            kinds.append(self._looks)
        if sample.outcome is Outcome.OK and not looking:
            kinds.append(self._good)
        for kind in kinds:
            bisect.insort(kind.setdefault(launch.arm, []), time_s)

    def usual(self, arm: str) -> float | None:
        if arm not in self._all and arm in self._looks:
            return min(self._looks[arm])  # a first launch may do what later ones do not
        return _median(self._all.get(arm) or self._survey.get(arm))

    def dear(self, arm: str) -> float | None:
        walls = self._all.get(arm) or self._survey.get(arm)
        return walls[(3 * len(walls)) // 4] if walls else None

    def longest(self) -> float | None:
        found = (self.usual(arm) for arm in {*self._all, *self._survey})
        return max((wall_s for wall_s in found if wall_s is not None), default=None)

    def good(self, arm: str) -> float | None:
        return _median(self._good.get(arm))

    def first(self, arm: str) -> float | None:
        return max(self._first.get(arm, {}).values(), default=None)


def _median(ordered: list[float] | None) -> float | None:
    return quantile_of_sorted(ordered, 0.5) if ordered else None
