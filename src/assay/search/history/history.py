"""History: the samples of a study, as blocks of paired observations."""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from assay.records import (
    Arm,
    Budget,
    Configuration,
    Goal,
    Kind,
    Launch,
    Metric,
    Outcome,
    Requirement,
    Sample,
    Stage,
    Statistic,
    StudySpec,
    Value,
)
from assay.records.launch import NON_COMPARING_STAGES
from assay.records.sample import BUILD
from assay.search.history.block_values import RevisedBlocks
from assay.search.history.different_work import DifferentWork
from assay.search.history.disturbance import ForeignLoad, is_mostly_disturbed
from assay.search.history.one_time_costs import FirstLaunches
from assay.search.history.output_comparison import ObservedOutputs
from assay.search.history.process_means import is_process_the_block, number_of_block
from assay.search.history.refusals import Refusals
from assay.search.history.remaining_budget import LAUNCH_OVERHEAD_S, Cost
from assay.search.history.slack import RequirementSlack
from assay.search.history.stage_history import StageHistory
from assay.search.history.wall_times import WallTimes, median_of_sorted
from assay.search.history.zeros import is_without_ratio
from assay.search.space.switching import (
    MAX_LAUNCHES_PER_APPLICATION,
    HardToChangeFactors,
    launches_per_application,
)
from assay.stats.paired import Observation
from assay.stats.spread import BATCH_BLOCKS

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

PLANNED_BLOCKS = 12
"""Number of blocks of a study that needs boots: twice the minimum for any result."""
CLAIMS_SHARE = 0.3
"""Share of the budget of a ``tune`` for claims (docs/explanation/statistics.md, rule 10)."""
DEFAULT_ARM = Arm(name="default", configuration=Configuration())
"""The arm without any settings."""


def arm_of(configuration: Configuration) -> Arm:
    """Return the arm of a configuration in a study without repeated arms."""
    return Arm(name=str(configuration), configuration=configuration)


def launches_per_block(statistic: Statistic, stage: Stage) -> int:
    """Return the number of launches of an arm in a block: a spread needs several launches."""
    single = stage in (*NON_COMPARING_STAGES, Stage.GAUGE)
    return BATCH_BLOCKS if statistic is Statistic.SPREAD and not single else 1


class History:
    """Samples in the order of their addition, by block and arm.

    Samples at a low fidelity are a quantity of their own. They enter the history of that fidelity
    (``low_fidelity``) and no other part of this one.

    Args:
        metric: the objective.
        samples: initial samples.
        statistic: statistic of the objective. For the spread, the spread of an arm's launches in a
            block is one observation.
        disturbed_above: share of the CPUs used by other processes above which a block is disturbed.
        require: requirements on launches.
        hard_to_change: hard-to-change settings.
        budget: budget of the launches for claims.
    """

    def __init__(
        self,
        metric: Metric,
        samples: Iterable[Sample] = (),
        *,
        statistic: Statistic = Statistic.MEAN,
        disturbed_above: float | None = None,
        require: Sequence[Requirement] = (),
        hard_to_change: HardToChangeFactors | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.metric = metric
        self.budget = budget
        self.hard_to_change = hard_to_change or HardToChangeFactors()
        self.samples: list[Sample] = []
        self._of_arm: dict[str, list[Sample]] = {}
        self._statistic = statistic
        self._disturbed_above = disturbed_above
        self._arms: dict[str, Arm] = {}
        self._weights: dict[tuple[Stage, str, int], float] = {}
        self._made: dict[tuple[Stage, str], dict[tuple[int, int], Sample]] = {}
        self._foreign: dict[tuple[Stage, str], ForeignLoad] = {}
        self._stages: dict[Stage, StageHistory] = {
            stage: StageHistory(
                Statistic.MEAN if stage in NON_COMPARING_STAGES else statistic,
                launches_per_block(statistic, stage),
            )
            for stage in Stage
        }
        self._walls = WallTimes(lambda sample: sample.wall_s)
        self._costs = WallTimes(lambda sample: sample.total_wall_s)
        self._builds: list[float] = []
        self.first_launches = FirstLaunches()
        self.outputs = ObservedOutputs()
        self.other_work = DifferentWork(self.outputs)
        self.refusals = Refusals()
        self.slacks = RequirementSlack(require)
        self.revised_blocks: RevisedBlocks | None = None
        self.parallel_launches = 1
        """Number of parallel launches of a search block; the race sets it."""
        self.low_fidelity: dict[Value, History] = {}
        """Histories of the samples at low fidelities, by fidelity."""
        self._empty: Callable[[], History] = lambda: History(metric, statistic=statistic)
        for sample in samples:
            self.add(sample)

    @classmethod
    def of(cls, spec: StudySpec, samples: Iterable[Sample] = ()) -> History:
        """Return the history of a study with the statistic and limits of its specification."""
        found = cls(
            spec.workload.objective,
            statistic=spec.statistic,
            disturbed_above=spec.disturbed_above,
            require=spec.requirements,
            hard_to_change=HardToChangeFactors.of(spec),
            budget=_for_claims(spec),
        )
        found.other_work = DifferentWork.of(spec, found.outputs)
        found.revised_blocks = RevisedBlocks.of(spec)
        # Requirements hold for whole launches.
        found._empty = lambda: cls.of(msgspec.structs.replace(spec, requirements=()))
        for sample in samples:
            found.add(sample)
        return found

    def at(self, fidelity: Value) -> History:
        """Return the history of a low fidelity, possibly an empty one."""
        low = self.low_fidelity.get(fidelity) or self._empty()
        low.parallel_launches = self.parallel_launches
        return low

    def add(self, sample: Sample) -> None:
        """Add one sample; a later attempt at the same position replaces the earlier one."""
        launch = sample.launch
        if launch.fidelity is not None:
            if launch.fidelity not in self.low_fidelity:
                self.low_fidelity[launch.fidelity] = self._empty()
            low = self.low_fidelity[launch.fidelity]
            low.add(msgspec.structs.replace(sample, launch=_within_fidelity(launch)))
            return
        self.samples.append(sample)
        self._of_arm.setdefault(launch.arm, []).append(sample)
        self._arms.setdefault(launch.arm, Arm(name=launch.arm, configuration=launch.configuration))
        stage = self._stages[launch.stage]
        if is_process_the_block(launch):
            stage.add_trial(sample, self.observation(sample))
        else:
            stage.add(sample, self.observation(sample))
        if self.revised_blocks is not None:
            for (number, arm), value in self.revised_blocks.add(sample).items():
                self._stages[Stage.CONFIRM].revise(number, arm, value)
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
        weight = _weight_of(sample)
        if weight < 1.0:
            self._weights[launch.stage, launch.arm, launch.block] = weight
        place = launch.stage, launch.arm
        self._foreign[place] = self._foreign.get(place, ForeignLoad()).with_launch(sample)
        made = self._made.setdefault(place, {})
        made[launch.block, launch.position] = sample

    @property
    def goal(self) -> Goal:
        """Direction of improvement of the observed statistic; a spread improves downwards."""
        return Goal.LOWER if self._statistic is Statistic.SPREAD else self.metric.goal

    def blocks(self, stage: Stage) -> list[int]:
        """Return the numbers of the blocks of a stage, ascending."""
        return self._stages[stage].blocks

    def complete(self, stage: Stage) -> list[int]:
        """Return the blocks of a stage in which every arm of the block plan ran."""
        return [number for number in self.blocks(stage) if self._stages[stage].is_complete(number)]

    def undisturbed_blocks(self, stage: Stage, first: int | None = None) -> list[int]:
        """Return the complete, undisturbed blocks of a stage.

        Args:
            stage: stage of the blocks.
            first: limit to this number of blocks that ran first.
        """
        ran = self.complete(stage)[:first]
        return [number for number in ran if not self.is_disturbed(stage, number)]

    def is_disturbed(self, stage: Stage, block: int) -> bool:
        """Return whether other processes disturbed a block more than the study admits."""
        return self._stages[stage].is_disturbed(block, self._disturbed_above)

    def disturbed(self, stage: Stage) -> int:
        """Return the number of complete disturbed blocks of a stage."""
        return len(self.complete(stage)) - len(self.undisturbed_blocks(stage))

    def mostly_disturbed(self, stage: Stage) -> bool:
        """Return whether more than a third of the blocks of a stage were disturbed."""
        return is_mostly_disturbed(self.disturbed(stage), len(self.complete(stage)))

    def summarised(self, stage: Stage) -> list[int]:
        """Return the blocks behind summaries: undisturbed ones, or all if most were disturbed."""
        return (
            self.complete(stage) if self.mostly_disturbed(stage) else self.undisturbed_blocks(stage)
        )

    def foreign_load(self, stage: Stage, arm: str) -> ForeignLoad:
        """Return the CPU time of other processes while an arm ran in a stage."""
        return self._foreign.get((stage, arm), ForeignLoad())

    def arms(self, stage: Stage) -> list[Arm]:
        """Return the arms of a stage, in the order of their first launch."""
        return [self._arms[name] for name in self._stages[stage].columns]

    def outcomes(self, stage: Stage) -> Iterator[tuple[Arm, int, Observation | None]]:
        """Yield the observations of each arm in each block of a stage in which it ran."""
        for name, column in self._stages[stage].columns.items():
            for block, found in sorted(column.items()):
                yield self._arms[name], block, found

    def newest_arms(self, stage: Stage) -> list[Arm]:
        """Return the arms of the newest block of a stage; empty without a block."""
        numbers = self.blocks(stage)
        if not numbers:
            return []
        known = self._stages[stage].block_arms.get(numbers[-1])
        return list(known) if known else [self._arms[n] for n in self._ran(stage, numbers[-1])]

    def _ran(self, stage: Stage, block: int) -> list[str]:
        return [name for name, column in self._stages[stage].columns.items() if block in column]

    def blocks_run(self, stage: Stage, arm: str) -> int:
        """Return the number of blocks of a stage in which an arm ran, with any outcome."""
        return len(self._stages[stage].columns.get(arm, {}))

    def first_block(self, stage: Stage, arm: str) -> int | None:
        """Return the block of a stage in which an arm first ran."""
        return min(self._stages[stage].columns.get(arm, {}), default=None)

    def observation(self, sample: Sample) -> Observation | None:
        """Return the objective of a sample.

        A time-out is right-censored at its cap, and a launch that ended as worse during its warm-up
        at its bound.
        """
        value = sample.metrics.get(self.metric.name)
        if sample.outcome.succeeded and value is not None and 0 < value < math.inf:
            return Observation(value, censored=self._is_bound(sample))
        if sample.outcome is Outcome.TIMED_OUT and self.metric.name == "wall_s" and sample.wall_s:
            return Observation(sample.launch.timeout_s or sample.wall_s, censored=True)
        return None

    def weight(self, stage: Stage, arm: str, block: int) -> float:
        """Return the weight of an observation: below 1 for a launch that ended early as worse."""
        return self._weights.get((stage, arm, block), 1.0)

    def _is_bound(self, sample: Sample) -> bool:
        return bool(sample.steady) and any(
            part.bound
            for name, part in sample.steady.items()
            if name == self.metric.name or self.metric.derivation is not None
        )

    def observations(
        self, stage: Stage, arm: str, blocks: Sequence[int] | None = None
    ) -> list[Observation | None]:
        """Return an observation for each block of a stage, in order; ``None`` without a value."""
        numbers = self.blocks(stage) if blocks is None else blocks
        column = self._stages[stage].columns.get(arm, {})
        return [column.get(number) for number in numbers]

    def newest(self, stage: Stage, arm: str, count: int) -> list[Observation | None]:
        """Return the observations of an arm in its newest blocks of a stage."""
        column = self._stages[stage].columns.get(arm, {})
        return [column[number] for number in sorted(column)[-count:]]

    def known(self, stage: Stage, arm: str) -> list[Observation]:
        """Return the observations of an arm in a stage, by block."""
        column = self._stages[stage].columns.get(arm, {})
        return [found for _, found in sorted(column.items()) if found is not None]

    def values(self, stage: Stage, arm: str) -> list[float]:
        """Return the uncensored values of an arm."""
        return [o.value for o in self.known(stage, arm) if not o.censored]

    def summarised_values(self, stage: Stage, arm: str) -> list[float]:
        """Return the uncensored values of an arm from the blocks behind summaries, in order."""
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
        """Return the launches of an arm in the blocks behind summaries."""
        everything = self.mostly_disturbed(stage)
        return [
            sample
            for sample in self.samples_of(stage, arm)
            if everything or not self.is_disturbed(stage, sample.launch.block)
        ]

    def launches_of(self, arm: str) -> Sequence[Sample]:
        """Return all launches of an arm, in the order of their addition."""
        return self._of_arm.get(arm, ())

    def samples_of(self, stage: Stage, arm: str) -> list[Sample]:
        """Return the launches of an arm in a stage, each by its last attempt."""
        return [sample for _, sample in sorted(self._made.get((stage, arm), {}).items())]

    def log_matrix(self, stage: Stage, arms: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return the log objective, blocks x arms, with the sign such that lower is better.

        Entries are NaN where an arm did not run or has no value.
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
        """Return whether an arm ran in a block of the stage and has no figure from any attempt."""
        column = self._stages[stage].columns.get(arm, {})
        lost = {number for number, found in column.items() if found is None}
        return bool(lost) and bool(lost - self._zeros(stage, arm))

    def _zeros(self, stage: Stage, arm: str) -> set[int]:
        """Return the blocks of a stage in which an arm succeeded with a non-positive figure."""
        samples = self.samples_of(stage, arm)
        return {number_of_block(s.launch) for s in samples if is_without_ratio(self.metric.name, s)}

    def has_zeros(self, arm: str, stages: Iterable[Stage] = tuple(Stage)) -> bool:
        """Return whether an arm succeeded with a non-positive figure in any of the stages."""
        name = self.metric.name
        return any(is_without_ratio(name, s) for at in stages for s in self.samples_of(at, arm))

    def figures(self, stage: Stage, arm: str) -> list[float]:
        """Return ``values`` including non-positive figures."""
        if not self.has_zeros(arm, (stage,)):
            return self.values(stage, arm)
        return self._figures_of(self.samples_of(stage, arm))

    def summarised_figures(self, stage: Stage, arm: str) -> list[float]:
        """Return ``summarised_values`` including non-positive figures."""
        if not self.has_zeros(arm, (stage,)):
            return self.summarised_values(stage, arm)
        return self._figures_of(self.summarised_samples(stage, arm))

    def _figures_of(self, samples: Iterable[Sample]) -> list[float]:
        name = self.metric.name
        good = (s for s in samples if s.outcome.succeeded)
        return [s.metrics[name] for s in good if name in s.metrics]

    def lost(self, stage: Stage, arm: str, count: int) -> bool:
        """Return whether an arm has no figure in its newest blocks of a stage.

        A non-positive figure counts as a figure.

        Args:
            stage, arm: stage and arm of the blocks.
            count: number of blocks.
        """
        column = self._stages[stage].columns.get(arm, {})
        newest = sorted(column)[-count:]
        if len(newest) < count or any(column[number] is not None for number in newest):
            return False
        return not self._zeros(stage, arm) & set(newest)

    def wall_s(self, arm: str) -> float | None:
        """Return the median wall time of an arm; its minimum if it ran only in the survey."""
        return self._walls.typical(arm)

    def successful_wall_s(self, arm: str) -> float | None:
        """Return the median wall time of an arm's successful launches, without the survey."""
        return self._walls.successful(arm)

    def first_wall_s(self, arm: str, *, whole: bool = False) -> float | None:
        """Return the longest wall time of an arm's successful first launches of each stage.

        Args:
            arm: name of the arm.
            whole: whether to leave out launches that assay ended.
        """
        return self._walls.first(arm, whole=whole)

    @property
    def build_s(self) -> float:
        """Return the expected build time of the program of a configuration that never ran."""
        return median_of_sorted(self._builds) or 0.0

    def cost(self, arms: Sequence[Arm], stage: Stage = Stage.CONFIRM) -> Cost:
        """Return the expected cost of a block of these arms, including switching between them.

        Unknown arms count as the default, or without a default as the slowest arm.
        """
        return self._cost(arms, self._costs.typical, stage)

    def upper_quartile_cost(self, arms: Sequence[Arm]) -> Cost:
        """Return the cost from upper quartiles: reserves must suffice under load too."""
        return self._cost(arms, self._costs.upper_quartile, Stage.CONFIRM)

    def _cost(
        self, arms: Sequence[Arm], wall_s: Callable[[str], float | None], stage: Stage
    ) -> Cost:
        switching_s = self.hard_to_change.block_s(arms)
        launching = self._once(arms, wall_s).times(self.launches_by_arm(stage, arms))
        parallel_launches = self.parallel_launches if stage is Stage.SEARCH else 1
        new = sum(arm.name not in self._arms for arm in arms)
        time_s = launching.time_s / parallel_launches + switching_s
        return Cost(time_s, launching.launches, once_s=new * self.build_s)

    def _once(self, arms: Sequence[Arm], wall_s: Callable[[str], float | None]) -> Cost:
        usual = wall_s(DEFAULT_ARM.name) or self._costs.longest() or 0.0
        walls = [wall_s(arm.name) or usual for arm in arms]
        return Cost(sum(walls) + LAUNCH_OVERHEAD_S * len(arms), len(arms))

    def launches_by_arm(self, stage: Stage, arms: Sequence[Arm]) -> int:
        """Return the number of launches of each arm in a block of a stage.

        If arms of a claim differ in hard-to-change settings, the number follows from the cost of an
        application; it is the same as in the first such block, so that all blocks have equal
        weight.
        """
        fixed = launches_per_block(self._statistic, stage)
        if fixed > 1 or stage is not Stage.CONFIRM:
            return fixed
        switching_s = self.hard_to_change.block_with_boots_s(arms)
        if not switching_s:
            return 1
        known = self._stages[stage].times
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
        if not self.hard_to_change.reboot_settings or self.budget is None:
            return MAX_LAUNCHES_PER_APPLICATION
        time_s, launches = self.budget.time_s, self.budget.launches
        rooms = [time_s / once.time_s] if time_s is not None and once.time_s else []
        rooms += [launches / once.launches] if launches is not None and once.launches else []
        return (
            max(1, int(min(rooms, default=math.inf) / PLANNED_BLOCKS))
            if rooms
            else MAX_LAUNCHES_PER_APPLICATION
        )


def _weight_of(sample: Sample) -> float:
    """Return the weight of a launch, in launches as long as those of the incumbent."""
    rule = sample.launch.end
    if rule is None or rule.incumbent is None:
        return 1.0
    from assay.stats.progress.early_stop import weight_of_ended

    early = [part for part in sample.steady.values() if part.ended_early]
    return min((weight_of_ended(part, rule.incumbent) for part in early), default=1.0)


def _within_fidelity(launch: Launch) -> Launch:
    """Return a launch for the history of its fidelity, in which the screening is the search."""
    stage = Stage.SEARCH if launch.stage is Stage.SCREEN else launch.stage
    return msgspec.structs.replace(launch, fidelity=None, stage=stage)


def _for_claims(spec: StudySpec) -> Budget:
    """Return the part of a budget for claims: a share of it for a ``tune``."""
    if spec.kind is not Kind.TUNE:
        return spec.budget
    time_s, launches = spec.budget.time_s, spec.budget.launches
    return Budget(
        time_s=None if time_s is None else time_s * CLAIMS_SHARE,
        launches=None if launches is None else int(launches * CLAIMS_SHARE),
    )
