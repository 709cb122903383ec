"""History: the samples of a study, as blocks of paired observations."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from assay.records import (
    Arm,
    Budget,
    Configuration,
    Evidence,
    Goal,
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
from assay.search.history.block_values import RevisedBlocks
from assay.search.history.counts.block_costs import (
    DEFAULT_ARM,
    BlockCosts,
    budget_for_claims,
    launches_per_block,
)
from assay.search.history.counts.launch_counts import LaunchCounts
from assay.search.history.counts.launch_weight import weight_of
from assay.search.history.counts.stage_blocks import StageBlocks
from assay.search.history.counts.stage_history import StageHistory
from assay.search.history.counts.zero_figures import ZeroFigures
from assay.search.history.different_work import DifferentWork
from assay.search.history.disturbance import ForeignLoad
from assay.search.history.one_time_costs import FirstLaunches
from assay.search.history.output_comparison import ObservedOutputs
from assay.search.history.packed_samples import PackedSamples, SelectedSamples
from assay.search.history.process_means import is_process_the_block
from assay.search.history.refusals import Refusals
from assay.search.history.remaining_budget import Cost
from assay.search.history.slack import RequirementSlack
from assay.search.space.switching import HardToChangeFactors
from assay.stats.paired import Observation

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["DEFAULT_ARM", "History", "arm_of", "launches_per_block"]

_Place = tuple[Stage, str]
"""Stage and name of an arm."""


class _Launches:
    """Launches of an arm in a stage.

    Attributes:
        samples: their samples, in the order of their addition.
        zeros: figures of zero or less.
        foreign: CPU time of other processes.
    """

    def __init__(self, samples: PackedSamples, metric: Metric) -> None:
        self.samples = SelectedSamples(samples)
        self.zeros = ZeroFigures(metric.name)
        self.foreign = ForeignLoad()


def arm_of(configuration: Configuration) -> Arm:
    """Return the arm of a configuration in a study without repeated arms."""
    return Arm(name=str(configuration), configuration=configuration)


class History(StageBlocks):
    """Samples in the order of their addition, by block and arm.

    Decisions between launches use counts that each addition updates, so that they cost the same
    after 100 and after 100,000 launches. Older samples are packed: reading them takes longer.

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
        packed: list of these samples that the history shares; absent: it packs its own.
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
        packed: PackedSamples | None = None,
    ) -> None:
        super().__init__(
            {
                stage: StageHistory(
                    Statistic.MEAN if stage in NON_COMPARING_STAGES else statistic,
                    launches_per_block(statistic, stage),
                    disturbed_above,
                )
                for stage in Stage
            }
        )
        self.metric = metric
        self.budget = budget
        self.hard_to_change = hard_to_change or HardToChangeFactors()
        self.samples = PackedSamples() if packed is None else packed
        self._added = 0
        self._of_arm: dict[str, SelectedSamples] = {}
        self._of_place: dict[_Place, _Launches] = {}
        self._counts: dict[str, LaunchCounts] = {}
        self.before_confirmation = SelectedSamples(self.samples)
        self._statistic = statistic
        self._weights: dict[tuple[Stage, str, int], float] = {}
        self._costs = BlockCosts(statistic, self.hard_to_change, budget)
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
            budget=budget_for_claims(spec),
            packed=_all_packed(spec, samples),
        )
        found.other_work = DifferentWork.of(spec, found.outputs)
        found.revised_blocks = RevisedBlocks.of(spec)
        # Requirements hold for whole launches.
        found._empty = lambda: cls.of(msgspec.structs.replace(spec, requirements=()))
        if isinstance(samples, Sequence):
            found.samples.keep(len(samples))
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
        evidence = sample.evidence_by_kind()  # one scan for all counts
        self._list(sample, evidence)
        stage = self._stages[launch.stage]
        if is_process_the_block(launch):
            stage.add_trial(sample, self.observation(sample))
        else:
            stage.add(sample, self.observation(sample), evidence)
        if self.revised_blocks is not None:
            for (number, arm), value in self.revised_blocks.add(sample).items():
                self._stages[Stage.CONFIRM].revise(number, arm, value)
        self._costs.add(sample, evidence)
        self.first_launches.add(sample)
        self.outputs.add(sample, evidence)
        self.other_work.add(sample)
        self.refusals.add(sample)
        self.slacks.add(sample)
        if launch.end is not None and (weight := weight_of(sample)) < 1.0:
            self._weights[launch.stage, launch.arm, launch.block] = weight

    def _list(self, sample: Sample, evidence: Mapping[str, Evidence]) -> None:
        """Add a sample to the lists of its arm and stage."""
        launch = sample.launch
        if launch.arm not in self._arms:
            self._arms[launch.arm] = Arm(name=launch.arm, configuration=launch.configuration)
            self._of_arm[launch.arm] = SelectedSamples(self.samples)
            self._counts[launch.arm] = LaunchCounts(self.metric)
        place = launch.stage, launch.arm
        number = self._added
        self._added += 1
        launches = self._of_place.get(place)
        if launches is None:
            launches = self._of_place[place] = _Launches(self.samples, self.metric)
        self._of_arm[launch.arm].append(number)
        launches.samples.append(number)
        if launch.stage is not Stage.CONFIRM:
            self.before_confirmation.append(number)
        if number == len(self.samples):
            self.samples.append(sample)
        self._counts[launch.arm].add(sample)
        launches.zeros.add(sample)
        launches.foreign = launches.foreign.with_launch(sample, evidence)

    @property
    def goal(self) -> Goal:
        """Direction of improvement of the observed statistic; a spread improves downwards."""
        return Goal.LOWER if self._statistic is Statistic.SPREAD else self.metric.goal

    def foreign_load(self, stage: Stage, arm: str) -> ForeignLoad:
        """Return the CPU time of other processes while an arm ran in a stage."""
        launches = self._of_place.get((stage, arm))
        return ForeignLoad() if launches is None else launches.foreign

    def observation(self, sample: Sample) -> Observation | None:
        """Return the objective of a sample.

        A time-out is right-censored at its cap, and a launch that ended as worse during its warm-up
        at its bound.
        """
        value = sample.metrics.get(self.metric.name)
        if sample.outcome.succeeded and value is not None and 0 < value < math.inf:
            return Observation(value, censored=bool(sample.steady) and self._is_bound(sample))
        if sample.outcome is Outcome.TIMED_OUT and self.metric.name == "wall_s" and sample.wall_s:
            return Observation(sample.launch.timeout_s or sample.wall_s, censored=True)
        return None

    def weight(self, stage: Stage, arm: str, block: int) -> float:
        """Return the weight of an observation: below 1 for a launch that ended early as worse."""
        return self._weights.get((stage, arm, block), 1.0)

    def _is_bound(self, sample: Sample) -> bool:
        return any(
            part.bound
            for name, part in sample.steady.items()
            if name == self.metric.name or self.metric.derivation is not None
        )

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

    def counts_of(self, arm: str) -> LaunchCounts:
        """Return the numbers of launches of an arm by their outcome."""
        return self._counts.get(arm) or LaunchCounts(self.metric)

    def samples_of(self, stage: Stage, arm: str) -> list[Sample]:
        """Return the launches of an arm in a stage, each by its last attempt."""
        launches = self.launches_in(stage, arm)
        made = {(s.launch.block, s.launch.position): s for s in launches}
        return [sample for _, sample in sorted(made.items())]

    def launches_in(self, stage: Stage, arm: str) -> Sequence[Sample]:
        """Return all launches of an arm in a stage, in the order of their addition."""
        launches = self._of_place.get((stage, arm))
        return () if launches is None else launches.samples

    def log_matrix(self, stage: Stage, arms: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return the log objective, blocks x arms, with the sign such that lower is better.

        Entries are NaN where an arm did not run or has no value.
        """
        import numpy as np

        sign = 1.0 if self.goal is Goal.LOWER else -1.0
        row = {number: at for at, number in enumerate(self.blocks(stage))}
        matrix = np.full((len(row), len(arms)), math.nan)
        for at, name in enumerate(arms):
            for number, found in self._column(stage, name).items():
                if found is not None:
                    matrix[row[number], at] = sign * math.log(found.value)
        return matrix

    def has_failed_block(self, stage: Stage, arm: str) -> bool:
        """Return whether an arm ran in a block of the stage and has no figure from any attempt."""
        lost = self._column(stage, arm).lost
        return bool(lost) and bool(lost - self._zeros_of(stage, arm).blocks)

    def _zeros_of(self, stage: Stage, arm: str) -> ZeroFigures:
        launches = self._of_place.get((stage, arm))
        return ZeroFigures(self.metric.name) if launches is None else launches.zeros

    def has_zeros(self, arm: str, stages: Iterable[Stage] = tuple(Stage)) -> bool:
        """Return whether an arm succeeded with a non-positive figure in any of the stages."""
        return any(self._zeros_of(stage, arm) for stage in stages)

    def has_figure(self, stage: Stage, arm: str) -> bool:
        """Return whether ``figures`` has any entry."""
        return self.has_zeros(arm, (stage,)) or self._column(stage, arm).uncensored > 0

    def count_equal_figures(self, stage: Stage, arm: str) -> int:
        """Return the number of ``figures`` if all of them are equal, otherwise 0."""
        if self.has_zeros(arm, (stage,)):
            return self._zeros_of(stage, arm).equal
        column = self._column(stage, arm)
        return column.uncensored if column.is_constant else 0

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
        column = self._column(stage, arm)
        newest = column.newest(count)
        if len(newest) < count or any(column[number] is not None for number in newest):
            return False
        return not self._zeros_of(stage, arm).blocks & set(newest)

    def wall_s(self, arm: str) -> float | None:
        """Return the median wall time of an arm; its minimum if it ran only in the survey."""
        return self._costs.walls.typical(arm)

    def successful_wall_s(self, arm: str) -> float | None:
        """Return the median wall time of an arm's successful launches, without the survey."""
        return self._costs.walls.successful(arm)

    def first_wall_s(self, arm: str, *, whole: bool = False) -> float | None:
        """Return the longest wall time of an arm's successful first launches of each stage.

        Args:
            arm: name of the arm.
            whole: whether to leave out launches that assay ended.
        """
        return self._costs.walls.first(arm, whole=whole)

    @property
    def build_s(self) -> float:
        """Return the expected build time of the program of a configuration that never ran."""
        return self._costs.build_s

    def cost(self, arms: Sequence[Arm], stage: Stage = Stage.CONFIRM) -> Cost:
        """Return the expected cost of a block of these arms, including switching between them.

        Unknown arms count as the default, or without a default as the slowest arm.
        """
        parallel_launches = self.parallel_launches if stage is Stage.SEARCH else 1
        return self._costs.typical(arms, self.launches_by_arm(stage, arms), parallel_launches)

    def upper_quartile_cost(self, arms: Sequence[Arm]) -> Cost:
        """Return the cost from upper quartiles: reserves must suffice under load too."""
        return self._costs.upper_quartile(arms, self.launches_by_arm(Stage.CONFIRM, arms))

    def launches_by_arm(self, stage: Stage, arms: Sequence[Arm]) -> int:
        """See ``BlockCosts.launches_by_arm``."""
        return self._costs.launches_by_arm(stage, arms, self._stages[stage].times)

    def launches_per_arm(self, switching_s: float, once: Cost) -> int:
        """See ``BlockCosts.launches_per_arm``."""
        return self._costs.launches_per_arm(switching_s, once)


def _all_packed(spec: StudySpec, samples: Iterable[Sample]) -> PackedSamples | None:
    """Return samples that a history can share; those at a low fidelity are not in its list."""
    return samples if isinstance(samples, PackedSamples) and spec.fidelity is None else None


def _within_fidelity(launch: Launch) -> Launch:
    """Return a launch for the history of its fidelity, in which the screening is the search."""
    stage = Stage.SEARCH if launch.stage is Stage.SCREEN else launch.stage
    return msgspec.structs.replace(launch, fidelity=None, stage=stage)
