"""SearchRace: what all races share that look at a default, search a space and confirm."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from assay.records import Arm, Budget, Launch, Outcome, Stage, StudySpec
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
from assay.search.history.zeros import zero_objection
from assay.search.model.searcher import Searcher
from assay.search.races.race import (
    MAX_BLOCKS_WITHOUT_VALUE,
    BlockPlan,
    BlockRace,
    Ending,
    EndReason,
    workload_failure,
)
from assay.search.races.strategy import BATCH_ARMS, MIN_SEARCH_BLOCKS, PROOF_SHARE
from assay.search.space.comparable import varies_instances
from assay.search.space.space import SearchSpace
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
    Stage.SEARCH,
    Stage.REDUCE,
    Stage.CONFIRM,
)
SEARCH_SHARE = 0.6
"""All configurations run only if each gets three launches within this share of the budget."""
MAX_RACING = 1000
"""More configurations than this never race: what is worked out between two blocks grows with the
square of their number (0.1 s at a thousand), and a model needs fewer launches."""
HANG_TIMEOUT_FACTOR = 100.0
"""A launch is stopped at this multiple of the default's time where wall time is not what decides. A
stopped launch has no value there, and the best configuration may be a slow one (least memory with
one thread of many): only what hangs is stopped."""
TIMEOUT_FACTOR = 3.0
"""A launch of a search is stopped at this multiple of the incumbent's time: told as a capped value,
it costs the model nothing (research: same regret, up to two thirds less run time at a factor of
two)."""
FIRST_LAUNCH_SHARE = 0.05
"""Share of the budget that the first launch of a configuration may take."""
MIN_LAUNCHES_FOR_WARMUP = 12
"""Launches from which on a budget has room for launches that do not count."""
TIMEOUT_SLACK_S = 0.1
"""Added to every cap, so that start-up noise of short programs never looks like a time-out."""
NULL_ARM = Arm(name="default (again)", configuration=DEFAULT_ARM.configuration)
"""The second name of the default in an A/A comparison."""
FUTILE_FACTOR = 3
"""A confirmation ends when even this many times the budget that is left would not decide."""
DEFAULT_LAUNCHES = 2
"""Launches of the default before the search: survey and gauge."""
MAX_ATTEMPTS = 3
"""Blocks in which the default may fail before the workload counts as failing always."""


class SearchRace(BlockRace):
    """Looks at the default, and goes from stage to stage; what each is made of is its own.

    Args:
        spec: of the study.
        space: the study's space, bound to the machine.
        searcher: proposes where there are too many configurations to try all.
    """

    def __init__(self, spec: StudySpec, space: SearchSpace, searcher: Searcher) -> None:
        super().__init__(spec, Stage.SURVEY)
        self._space = space
        self._searcher = searcher

    def _next(self, purse: RemainingBudget) -> BlockPlan | Ending:
        """The next block; stages only ever go forward."""
        at = STAGE_ORDER.index(self._stage)
        if at >= STAGE_ORDER.index(Stage.SEARCH) and self._lost(self._stage, DEFAULT_ARM):
            return workload_failure(
                arm_ending(DEFAULT_CONFIGURATION, repeated_failures(MAX_BLOCKS_WITHOUT_VALUE)),
                [DEFAULT_ARM],
            )
        second_look = self._look_again(purse)
        if second_look is not None:
            return second_look
        for stage in STAGE_ORDER[at:]:
            found = self._block_of(stage, purse)
            if isinstance(found, BlockPlan):
                return self._warm_up(found, purse) or found
            if found is not None:
                return found
        raise AssertionError("the confirmation always answers")

    def _enter(self, stage: Stage) -> None:
        """See ``BlockRace._enter``; launches that warm up belong to the stage they come before."""
        self._stage = max(self._stage, stage, key=STAGE_ORDER.index)

    def _warm_up(self, following: BlockPlan, purse: RemainingBudget) -> BlockPlan | None:
        """Return the arms to launch before a block without counting them, if there are any.

        Settings that are costly to change are not changed for this.
        """
        first_s = self._history.first_wall_s(DEFAULT_ARM.name)
        if first_s is None or purse.spent or self._history.costly:
            return None
        total = RemainingBudget(purse.total, purse.total)
        if not total.affords(Cost(first_s, 1).times(MIN_LAUNCHES_FOR_WARMUP)):
            return None
        arms = self._history.first_launches.arms_to_warm_up(following.arms)
        return BlockPlan(Stage.SURVEY, arms) if arms else None

    def _look_again(self, purse: RemainingBudget) -> BlockPlan | None:
        """Return the arms of a search whose single output is not the default's, to launch again.

        A failed launch is repeated for the same reason: one may be an accident. No boot is worth
        that.
        """
        if self._stage is not Stage.SEARCH or purse.spent or self._history.costly.pausing:
            return None
        arms = tuple(map(arm_of, self._history.other_work.launched_once))
        affordable = purse.affords(self._history.cost(arms, Stage.SURVEY), keep=PROOF_SHARE)
        return BlockPlan(Stage.SURVEY, arms) if arms and affordable else None

    def _block_of(self, stage: Stage, purse: RemainingBudget) -> BlockPlan | Ending | None:
        """A block of this stage, the end of the race, or ``None`` to go on to the next stage."""
        match stage:
            case Stage.SURVEY | Stage.GAUGE:
                return self._look_at_default(stage, purse)
            case Stage.INTERFERENCE:
                return self._look_side_by_side(purse)
            case Stage.SEARCH:
                arms = self._searched(purse)
                return BlockPlan(stage, tuple(arms)) if arms else None
            case Stage.REDUCE:
                arms = self._reducing(purse)
                return BlockPlan(stage, tuple(arms)) if arms else None
            case Stage.CONFIRM:
                return self._confirm(purse)

    @abstractmethod
    def _searched(self, purse: RemainingBudget) -> Sequence[Arm] | None:
        """The arms of another block of search; none where that is over."""

    def _reducing(self, purse: RemainingBudget) -> Sequence[Arm] | None:
        """The arms of another block of reduction; none where that is over, or there is none."""
        return None

    @abstractmethod
    def _confirm(self, purse: RemainingBudget) -> BlockPlan | Ending:
        """Another block of confirmation, or the end."""

    @property
    @abstractmethod
    def _least(self) -> int:
        """Blocks of confirmation that a study takes at least."""

    @abstractmethod
    def _incumbent_cap_s(self) -> float | None:
        """After how long a launch of the search is stopped; ``None`` where that is not known."""

    def _look_at_default(self, stage: Stage, purse: RemainingBudget) -> BlockPlan | Ending | None:
        """One launch each: the survey warms up and looks, the gauge tells how long it takes."""
        seen = self._history.observations(stage, DEFAULT_ARM.name)
        if any(o is not None for o in seen):
            if stage is Stage.SURVEY and not purse.spent:
                return None
            return self._too_small(purse) or self._nothing_to_try()
        if len(seen) < MAX_ATTEMPTS and not (seen and purse.spent):
            return BlockPlan(stage, (DEFAULT_ARM,))
        samples = self._history.launches_of(DEFAULT_ARM.name)
        zeros = zero_objection(self._spec.workload.objective.name, DEFAULT_ARM.name, samples)
        if zeros is not None:
            return Ending(EndReason.DECIDED, nothing_tried_ending(zeros))
        return workload_failure(DEFAULT_FAILED, [DEFAULT_ARM])

    def _look_side_by_side(self, purse: RemainingBudget) -> BlockPlan | None:
        """The default alone and beside copies of itself, where the search is to run so."""
        slots = self._spec.parallel
        if slots is None or self._offered < slots:
            return None
        left = BLOCKS - len(self._history.blocks(Stage.INTERFERENCE))
        block = Cost(2 * self._gauge_s(), 1 + slots)
        keep = min_cost(self._least_block, self._least)
        if left <= 0 or purse.spent or not purse.affords(block.times(left), least=keep):
            return None
        return BlockPlan(Stage.INTERFERENCE, (DEFAULT_ARM, *[PARALLEL_ARM] * slots))

    @cached_property
    def _width(self) -> int:
        """Launches of a search block that run side by side; asked for only in the search."""
        found = interference_of(self._spec, self._history)
        return found.slots if found is not None and found.refused is None else 1

    def _abreast(self) -> int | None:
        if self._spec.parallel is None:
            return None
        if self._block.stage is Stage.SURVEY:
            return 1
        match self._stage:
            case Stage.INTERFERENCE:
                return self._spec.parallel
            case Stage.SEARCH:
                return self._width
            case _:
                return 1

    def _nothing_to_try(self) -> Ending | None:
        only = self._space.enumerate(1)
        if only is None:
            return None
        return Ending(EndReason.NOTHING_TO_TRY, ONLY_DEFAULT)

    def _too_small(self, purse: RemainingBudget) -> Ending | None:
        """Six confirmation blocks must fit into the share that is kept for them (rule 14)."""
        if self._history.blocks(Stage.SEARCH):
            return None
        block = self._least_block
        needed = min_budget(self._with_builds(block), self._least)
        least, total = min_cost(block, self._least), purse.total
        if (
            not purse.spent
            and (total.time_s is None or total.time_s >= least.time_s)
            and (total.launches is None or total.launches >= least.launches)
        ):
            return None
        return self._refused(
            too_small_for_claim_ending(self._least, "confirmation block"),
            needed,
        )

    def _no_room(self, block: Cost) -> Ending:
        """The end where not even the blocks that a claim takes are left.

        Args:
            block: of the confirmation.
        """
        needed = min_budget(self._with_builds(block), self._least)
        return Ending(
            EndReason.BUDGET,
            no_room_ending(self._least, self._spec.budget, needed),
            needed,
        )

    def _with_builds(self, block: Cost) -> Cost:
        """The same with what a search builds at least."""
        return replace(block, once_s=len(BATCH_ARMS) * self._history.build_s)

    @property
    def _least_block(self) -> Cost:
        """A block of the confirmation, by the gauge alone; what is costly to change may differ."""
        arms = 2 + self._spec.null
        switching_s = self._history.costly.pair_s
        once = Cost(self._gauge_s() * arms, arms)
        block_with_boots_s = self._history.costly.pair_with_boots_s
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
            switching_s = MIN_SEARCH_BLOCKS * self._history.costly.space_s(self._space, MAX_RACING)
            search_s = (budget.time_s * SEARCH_SHARE - switching_s) * self._width
            bounds.append(search_s / (each.time_s + self._history.build_s))
        if budget.launches is not None:
            bounds.append(budget.launches * SEARCH_SHARE / each.launches)
        return max(1, int(min(bounds)))

    @property
    def _repeats(self) -> int:
        return launches_per_block(self._spec.statistic, Stage.SEARCH)

    def _gauge_s(self) -> float:
        """What the default took, launcher and store included: the quicker of survey and gauge.

        One of the two may have been disturbed, and the survey began cold. A launch that failed
        tells nothing: it may have failed at once.
        """
        walls = [
            s.wall_s
            for s in self._history.samples
            if s.launch.stage in (Stage.SURVEY, Stage.GAUGE)
            and s.launch.arm == DEFAULT_ARM.name
            and s.wall_s
            and s.outcome in (Outcome.OK, Outcome.TIMED_OUT)
        ]
        return min(walls, default=0.0) + LAUNCH_OVERHEAD_S

    def _cap_s(self, launch: Launch) -> float | None:
        """Bounded where a slow configuration would only cost time.

        The default is not bounded by what others take, nor is the confirmation, whose values enter
        the claim; nor are several instances, which do more than what the caps are taken from. A
        configuration that has not ended well yet may do something once that others did before.
        """
        caps = [super()._cap_s(launch)]
        if launch.arm != DEFAULT_ARM.name:
            caps.append(self._challenger_cap_s(launch))
        return min((cap for cap in caps if cap is not None), default=None)

    def _challenger_cap_s(self, launch: Launch) -> float | None:
        """Return after how long a launch of another configuration than the default is stopped."""
        if launch.stage in (Stage.INTERFERENCE, Stage.CONFIRM):
            return None
        searching = launch.stage in (Stage.SEARCH, Stage.REDUCE)
        tried = self._history.first_launches.launched(launch.configuration)
        if self._history.first_wall_s(launch.arm) is None and not (searching and tried):
            return self._first_cap_s()
        single = not varies_instances(launch.configuration)
        return self._incumbent_cap_s() if searching and single else None

    def _first_cap_s(self) -> float | None:
        """Return after how long the first launch of a configuration is stopped.

        It may use a share of the budget, whatever other configurations take. What takes twenty
        times the default's first launch is taken not to end, unless later launches may take longer.
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
    """What a study takes at least: a look at the default, one block of search, and a claim.

    Args:
        block: of the confirmation.
        blocks: that a claim takes.
    """
    proof = block.times(CONFIRMATION_RESERVE * blocks)
    search = DEFAULT_LAUNCHES + len(BATCH_ARMS)
    each_s = block.time_s / block.launches
    return Cost(proof.time_s + search * each_s, proof.launches + search)


def min_budget(block: Cost, blocks: int) -> Budget:
    """The budget that is said to do: with room for a search that is worth its name."""
    return sufficient_budget(block.times(blocks / PROOF_SHARE))
