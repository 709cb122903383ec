"""Base of races that measure a default, search a space and confirm the result."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from assay.records import Arm, Budget, Launch, Outcome, Stage, StudySpec, Value
from assay.search.history.hangs import FIRST_LAUNCH_FACTOR, MIN_HANG_TIMEOUT_S
from assay.search.history.history import DEFAULT_ARM, arm_of, launches_per_block
from assay.search.history.interference import BLOCKS, PARALLEL_ARM, interference_of
from assay.search.history.remaining_budget import (
    CONFIRMATION_RESERVE,
    LAUNCH_OVERHEAD_S,
    Cost,
    RemainingBudget,
    sufficient_budget,
)
from assay.search.history.zeros import zeros_objection_to
from assay.search.model.searcher import Searcher
from assay.search.races.block_runner import BlockPlan
from assay.search.races.race import (
    MAX_BLOCKS_WITHOUT_VALUE,
    BlockRace,
    Ending,
    EndReason,
    workload_failure,
)
from assay.search.races.strategy import BATCH_ARMS, MIN_SEARCH_BLOCKS, PROOF_SHARE
from assay.search.space.comparability import varies_instances
from assay.search.space.search_space import SearchSpace
from assay.wording.endings import (
    DEFAULT_CONFIGURATION,
    DEFAULT_FAILED,
    ONLY_DEFAULT,
    arm_ending,
    no_room_ending,
    nothing_tried_ending,
    repeated_failures,
    too_small_for_claim_ending,
)

STAGE_ORDER = (
    Stage.SURVEY,
    Stage.GAUGE,
    Stage.INTERFERENCE,
    Stage.SCREEN,
    Stage.SEARCH,
    Stage.REDUCE,
    Stage.CONFIRM,
)
SEARCH_SHARE = 0.6
"""Share of the budget within which each configuration must get three launches for all to run."""
MAX_RACING = 1000
"""Largest number of configurations of a race: the computation between two blocks grows with its
square (0.1 s at a thousand), and a model needs fewer launches."""
HANG_TIMEOUT_FACTOR = 100.0
"""Time limit over the time of the default where wall time is not the objective. A stopped launch
has no value there, and the best configuration may be slow (least memory with one thread of
many): only hanging launches are stopped."""
TIMEOUT_FACTOR = 3.0
"""Time limit of a launch of a search over the time of the incumbent. As a censored value a stopped
launch costs the model nothing (same regret, up to two thirds less run time at a factor of two)."""
FIRST_LAUNCH_SHARE = 0.05
"""Largest share of the budget for the first launch of a configuration."""
MIN_LAUNCHES_FOR_WARMUP = 12
"""Smallest budget, in launches, with room for warm-up launches."""
TIMEOUT_SLACK_S = 0.1
"""Time added to every limit, so that start-up noise of short programs never causes a time-out."""
NULL_ARM = Arm(name="default (again)", configuration=DEFAULT_ARM.configuration)
"""Repeat of the default in an A/A comparison."""
FUTILE_FACTOR = 3
"""A confirmation ends when even this multiple of the remaining budget would not decide it."""
DEFAULT_LAUNCHES = 2
"""Launches of the default before the search: survey and gauge."""
MAX_ATTEMPTS = 3
"""Blocks in which the default may fail before the workload counts as failing always."""


class SearchRace(BlockRace):
    """Base of races with a search: measures the default and passes from stage to stage.

    Args:
        spec: specification of the study.
        space: space of the study, bound to the machine.
        searcher: proposes configurations where they are too many to try all.
    """

    def __init__(self, spec: StudySpec, space: SearchSpace, searcher: Searcher) -> None:
        super().__init__(spec, Stage.SURVEY)
        self._space = space
        self._searcher = searcher

    def _next(self, budget: RemainingBudget) -> BlockPlan | Ending:
        """Return the next block, or the end; stages only advance."""
        at = STAGE_ORDER.index(self._stage)
        if at >= STAGE_ORDER.index(Stage.SEARCH) and self._lost(self._stage, DEFAULT_ARM):
            return workload_failure(
                arm_ending(DEFAULT_CONFIGURATION, repeated_failures(MAX_BLOCKS_WITHOUT_VALUE)),
                [DEFAULT_ARM],
            )
        repeated = self._repeat_deviating(budget)
        if repeated is not None:
            return repeated
        for stage in STAGE_ORDER[at:]:
            found = self._block_of(stage, budget)
            if isinstance(found, BlockPlan):
                return self._warm_up(found, budget) or found
            if found is not None:
                return found
        raise AssertionError("the confirmation always answers")

    def _enter(self, stage: Stage) -> None:
        """See ``BlockRace._enter``; warm-up launches belong to the stage that they precede."""
        self._stage = max(self._stage, stage, key=STAGE_ORDER.index)

    def _warm_up(self, following: BlockPlan, budget: RemainingBudget) -> BlockPlan | None:
        """Return the arms to launch before a block without counting them, if any.

        Hard-to-change settings are not changed for this.
        """
        first_s = self._history.first_wall_s(DEFAULT_ARM.name)
        if first_s is None or budget.spent or self._history.hard_to_change:
            return None
        if following.fidelity is not None:
            return None  # a whole launch as a warm-up would cost more than the block
        total = RemainingBudget(budget.total, budget.total)
        if not total.affords(Cost(first_s, 1).times(MIN_LAUNCHES_FOR_WARMUP)):
            return None
        arms = self._history.first_launches.arms_to_warm_up(following.arms)
        return BlockPlan(Stage.SURVEY, arms) if arms else None

    def _repeat_deviating(self, budget: RemainingBudget) -> BlockPlan | None:
        """Return the arms to repeat, since their only output differs from that of the default.

        A single difference may be an accident, as a failed launch may be. It does not justify a
        boot.
        """
        if (
            self._stage is not Stage.SEARCH
            or budget.spent
            or self._history.hard_to_change.reboot_settings
        ):
            return None
        arms = tuple(map(arm_of, self._history.other_work.launched_once))
        affordable = budget.affords(self._history.cost(arms, Stage.SURVEY), keep=PROOF_SHARE)
        return BlockPlan(Stage.SURVEY, arms) if arms and affordable else None

    def _block_of(self, stage: Stage, budget: RemainingBudget) -> BlockPlan | Ending | None:
        """Return a block of this stage, the end of the race, or ``None`` for the next stage."""
        match stage:
            case Stage.SURVEY | Stage.GAUGE:
                return self._measure_default(stage, budget)
            case Stage.INTERFERENCE:
                return self._measure_interference(budget)
            case Stage.SCREEN:
                return self._screened(budget)
            case Stage.SEARCH:
                arms = self._searched(budget)
                return BlockPlan(stage, tuple(arms)) if arms else None
            case Stage.REDUCE:
                arms = self._reducing(budget)
                return BlockPlan(stage, tuple(arms)) if arms else None
            case Stage.CONFIRM:
                return self._confirm(budget)

    def _screened(self, budget: RemainingBudget) -> BlockPlan | None:
        """Return another block at low fidelity; ``None`` at the end, or without a fidelity."""
        return None

    @abstractmethod
    def _searched(self, budget: RemainingBudget) -> Sequence[Arm] | None:
        """Return the arms of another search block; ``None`` at the end of the search."""

    def _reducing(self, budget: RemainingBudget) -> Sequence[Arm] | None:
        """Return the arms of another block of reduction; ``None`` at its end, or without one."""
        return None

    @abstractmethod
    def _confirm(self, budget: RemainingBudget) -> BlockPlan | Ending:
        """Return another block of confirmation, or the end."""

    @property
    @abstractmethod
    def _min_blocks(self) -> int:
        """Smallest number of confirmation blocks of a study."""

    @abstractmethod
    def _incumbent_cap_s(self) -> float | None:
        """Return the time limit of a launch of the search in seconds; ``None`` if unknown."""

    def _measure_default(self, stage: Stage, budget: RemainingBudget) -> BlockPlan | Ending | None:
        """Return a launch of the default: the survey warms up, the gauge measures its time."""
        seen = self._history.observations(stage, DEFAULT_ARM.name)
        if any(o is not None for o in seen):
            if stage is Stage.SURVEY and not budget.spent:
                return None
            return self._too_small(budget) or self._nothing_to_try()
        if len(seen) < MAX_ATTEMPTS and not (seen and budget.spent):
            return BlockPlan(stage, (DEFAULT_ARM,))
        samples = self._history.launches_of(DEFAULT_ARM.name)
        zeros = zeros_objection_to(self._spec.workload.objective.name, DEFAULT_ARM.name, samples)
        if zeros is not None:
            return Ending(EndReason.DECIDED, nothing_tried_ending(zeros))
        return workload_failure(DEFAULT_FAILED, [DEFAULT_ARM])

    def _measure_interference(self, budget: RemainingBudget) -> BlockPlan | None:
        """Return the default alone and in parallel with its copies, if the search is parallel."""
        slots = self._spec.parallel
        if slots is None or self._offered < slots:
            return None
        left = BLOCKS - len(self._history.blocks(Stage.INTERFERENCE))
        block = Cost(2 * self._gauge_s(), 1 + slots)
        keep = min_cost(self._min_block_cost, self._min_blocks)
        if left <= 0 or budget.spent or not budget.affords(block.times(left), min_cost=keep):
            return None
        return BlockPlan(Stage.INTERFERENCE, (DEFAULT_ARM, *[PARALLEL_ARM] * slots))

    @cached_property
    def _width(self) -> int:
        """Concurrent launches of a search block; valid only during the search."""
        found = interference_of(self._spec, self._history)
        return (
            found.concurrent_launches
            if found is not None and found.sequential_reason is None
            else 1
        )

    def _max_concurrent(self) -> int | None:
        if self._spec.parallel is None:
            return None
        if self._block.stage is Stage.SURVEY:
            return 1
        match self._stage:
            case Stage.INTERFERENCE:
                return self._spec.parallel
            case Stage.SCREEN | Stage.SEARCH:
                return self._width
            case _:
                return 1

    def _nothing_to_try(self) -> Ending | None:
        only = self._space.enumerate(1)
        if only is None:
            return None
        return Ending(EndReason.NOTHING_TO_TRY, ONLY_DEFAULT)

    def _too_small(self, budget: RemainingBudget) -> Ending | None:
        """Return the end if the reserved share is too small for a confirmation (rule 10)."""
        if self._history.blocks(Stage.SEARCH):
            return None
        block = self._min_block_cost
        needed = min_budget(self._with_builds(block), self._min_blocks)
        least, total = min_cost(block, self._min_blocks), budget.total
        if (
            not budget.spent
            and (total.time_s is None or total.time_s >= least.time_s)
            and (total.launches is None or total.launches >= least.launches)
        ):
            return None
        return self._refused(
            too_small_for_claim_ending(self._min_blocks, "confirmation block"),
            needed,
        )

    def _no_room(self, block: Cost) -> Ending:
        """Return the end where the remaining budget is too small for a claim.

        Args:
            block: cost of a confirmation block.
        """
        needed = min_budget(self._with_builds(block), self._min_blocks)
        return Ending(
            EndReason.BUDGET,
            no_room_ending(self._min_blocks, self._spec.budget, needed),
            needed,
        )

    def _with_builds(self, block: Cost) -> Cost:
        """Return a cost with the smallest number of builds of a search."""
        return replace(block, once_s=len(BATCH_ARMS) * self._history.build_s)

    @property
    def _min_block_cost(self) -> Cost:
        """Cost of a confirmation block, by the gauge alone, with changes of settings."""
        arms = 2 + self._spec.null
        switching_s = self._history.hard_to_change.pair_s
        once = Cost(self._gauge_s() * arms, arms)
        block_with_boots_s = self._history.hard_to_change.pair_with_boots_s
        times = (
            self._repeats
            if self._repeats > 1
            else self._history.launches_per_arm(block_with_boots_s, once)
        )
        launching = once.times(times)
        return Cost(launching.time_s + switching_s, launching.launches)

    def _affordable_configurations(self) -> int:
        budget = self._spec.budget
        each = Cost(self._gauge_s(), 1).times(MIN_SEARCH_BLOCKS * self._repeats)
        bounds = [float(MAX_RACING)]
        if budget.time_s is not None:
            switching_s = MIN_SEARCH_BLOCKS * self._history.hard_to_change.space_s(
                self._space, MAX_RACING
            )
            search_s = (budget.time_s * SEARCH_SHARE - switching_s) * self._width
            bounds.append(search_s / (each.time_s + self._history.build_s))
        if budget.launches is not None:
            bounds.append(budget.launches * SEARCH_SHARE / each.launches)
        return max(1, int(min(bounds)))

    @property
    def _repeats(self) -> int:
        return launches_per_block(self._spec.statistic, Stage.SEARCH)

    def _gauge_s(self) -> float:
        """Return the time of the default with overhead: the shorter one of survey and gauge.

        One of the two may have been disturbed, and the survey began cold. Failed launches do not
        count, since they may have failed immediately.
        """
        walls = [
            s.wall_s
            for stage in (Stage.SURVEY, Stage.GAUGE)
            for s in self._history.launches_in(stage, DEFAULT_ARM.name)
            if s.wall_s and (s.outcome.succeeded or s.outcome is Outcome.TIMED_OUT)
        ]
        return min(walls, default=0.0) + LAUNCH_OVERHEAD_S

    def _cap_s(self, launch: Launch) -> float | None:
        """Return the time limit of a launch, where a slow configuration would only cost time.

        The time of other arms limits neither the default nor the confirmation, whose values enter
        the claim, nor several instances, which do more work. A configuration that has not ended
        well yet may still have a one-time cost.
        """
        caps = [super()._cap_s(launch)]
        if launch.arm != DEFAULT_ARM.name:
            caps.append(self._challenger_cap_s(launch))
        return min((cap for cap in caps if cap is not None), default=None)

    def _challenger_cap_s(self, launch: Launch) -> float | None:
        """Return the time limit of a launch of another configuration than the default."""
        if launch.fidelity is not None:
            return self._low_cap_s(launch.fidelity)
        if launch.stage in (Stage.INTERFERENCE, Stage.CONFIRM):
            return None
        searching = launch.stage in (Stage.SEARCH, Stage.REDUCE)
        tried = self._history.first_launches.launched(launch.configuration)
        if self._history.first_wall_s(launch.arm) is None and not (searching and tried):
            return self._first_cap_s()
        single = not varies_instances(launch.configuration)
        return self._incumbent_cap_s() if searching and single else None

    def _low_cap_s(self, fidelity: Value) -> float | None:
        """Return the time limit of a launch at a low fidelity, by the default at the same one."""
        usual_s = self._history.at(fidelity).successful_wall_s(DEFAULT_ARM.name)
        if usual_s is None:
            return None
        end_s = max(MIN_HANG_TIMEOUT_S, FIRST_LAUNCH_FACTOR * usual_s)
        time_s = self._spec.budget.time_s
        if time_s is not None:
            end_s = min(end_s, max(TIMEOUT_FACTOR * usual_s, FIRST_LAUNCH_SHARE * time_s))
        return end_s + TIMEOUT_SLACK_S

    def _first_cap_s(self) -> float | None:
        """Return the time limit of the first launch of a configuration.

        It may use a share of the budget, independently of other configurations. A launch that takes
        twenty times the first launch of the default counts as hanging, unless later launches may
        take longer.
        """
        first_s = self._history.first_wall_s(DEFAULT_ARM.name)
        if first_s is None:
            return None
        end_s, time_s = (
            max(MIN_HANG_TIMEOUT_S, FIRST_LAUNCH_FACTOR * first_s),
            self._spec.budget.time_s,
        )
        if time_s is not None:
            end_s = min(
                end_s, max(TIMEOUT_FACTOR * first_s + TIMEOUT_SLACK_S, FIRST_LAUNCH_SHARE * time_s)
            )
        return max(end_s, self._incumbent_cap_s() or 0.0)


def min_cost(block: Cost, blocks: int) -> Cost:
    """Return the smallest cost of a study: a launch of the default, one search block, and a claim.

    Args:
        block: cost of a confirmation block.
        blocks: smallest number of blocks of a claim.
    """
    proof = block.times(CONFIRMATION_RESERVE * blocks)
    search = DEFAULT_LAUNCHES + len(BATCH_ARMS)
    each_s = block.time_s / block.launches
    return Cost(proof.time_s + search * each_s, proof.launches + search)


def min_budget(block: Cost, blocks: int) -> Budget:
    """Return the suggested budget, with room for a useful search."""
    return sufficient_budget(block.times(blocks / PROOF_SHARE))
