"""TuneRace: survey, gauge, search, reduce, confirm."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from assay.records import (
    Arm,
    Budget,
    Claim,
    Goal,
    Launch,
    Outcome,
    RequirementResult,
    RequirementVerdict,
    Stage,
    Statistic,
    StudySpec,
    Verdict,
)
from assay.records.workload import WALL
from assay.search.claims import MIN_BLOCKS, precise
from assay.search.comparable import varies_instances
from assay.search.counted import counted
from assay.search.feasible import default_breaks
from assay.search.history import DEFAULT_ARM, History, repeats
from assay.search.interference import BESIDE_ARM, BLOCKS, interference_of
from assay.search.keeping import Keeping
from assay.search.looks import due
from assay.search.planned import planned_blocks, planned_claim
from assay.search.purse import OVERHEAD_S, RESERVE, Cost, Purse, budget_for
from assay.search.race import LOST_AFTER, BlockRace, Done, Reason, Roster
from assay.search.reduction import Reduced, Reduction
from assay.search.requirement import claims_alpha, least_blocks, results, verdict_on
from assay.search.searcher import Searcher
from assay.search.sentence import needed_text
from assay.search.space import SearchSpace
from assay.search.strategy import (
    BATCH_ARMS,
    KEEP,
    MIN_SEARCH_BLOCKS,
    ModelBased,
    Racing,
    Strategy,
    trials_of,
)
from assay.search.switching import within
from assay.stats.paired import effect
from assay.stats.sequence import least
from assay.stats.verdict import blocks_needed

ORDER = (
    Stage.SURVEY,
    Stage.GAUGE,
    Stage.INTERFERENCE,
    Stage.SEARCH,
    Stage.REDUCE,
    Stage.CONFIRM,
)
SEARCH_SHARE = 0.6
"""All configurations run only if each gets three launches within this share of the budget."""
MOST_RACING = 1000
"""More configurations than this never race: what is worked out between two blocks grows with the
square of their number (0.1 s at a thousand), and a model needs fewer launches."""
CAP_FACTOR = 3.0
"""A launch is stopped at this multiple of the incumbent's time: told as a capped value, it costs
the model nothing (research: same regret, up to two thirds less run time at a factor of two)."""
HANG_FACTOR = 100.0
"""The same where wall time is not what decides. There a stopped launch has no value, and the best
configuration may be a slow one (least memory with one thread of many): only what hangs is stopped.
"""
CAP_SLACK_S = 0.1
"""Added to every cap, so that start-up noise of short programs never looks like a time-out."""
NULL_ARM = Arm(name="default (again)", configuration=DEFAULT_ARM.configuration)
"""The second name of the default in an A/A comparison."""
FUTILE_FACTOR = 3
"""A confirmation ends when even this many times the budget that is left would not decide."""
LOOKS = 2
"""Launches of the default before the search: survey and gauge."""
TRIES = 3
"""Blocks in which the default may fail before the workload counts as failing always."""


class TuneRace(BlockRace):
    """The race behind ``assay tune``.

    Args:
        spec: of the study.
        space: the study's space, bound to the machine.
        searcher: proposes where there are too many configurations to try all.
    """

    def __init__(self, spec: StudySpec, space: SearchSpace, searcher: Searcher) -> None:
        super().__init__(spec, Stage.SURVEY)
        self._space = space
        self._searcher = searcher
        self._strategy: Strategy | None = None
        self._reduction: Reduction | None = None

    def _next(self, purse: Purse) -> Roster | Done:
        """The next block; stages only ever go forward."""
        at = ORDER.index(self._stage)
        if at >= ORDER.index(Stage.SEARCH) and self._lost(self._stage, DEFAULT_ARM):
            return Done(
                Reason.WORKLOAD_FAILED,
                f"The default configuration worked, and then failed {LOST_AFTER} times running.",
            )
        for stage in ORDER[at:]:
            found = self._block_of(stage, purse)
            if found is not None:
                return found
        raise AssertionError("the confirmation always answers")

    def _block_of(self, stage: Stage, purse: Purse) -> Roster | Done | None:
        """A block of this stage, the end of the race, or ``None`` to go on to the next stage."""
        match stage:
            case Stage.SURVEY | Stage.GAUGE:
                return self._look_at_default(stage, purse)
            case Stage.INTERFERENCE:
                return self._look_side_by_side(purse)
            case Stage.SEARCH:
                arms = self._chosen_strategy().roster(self._history, purse)
                return Roster(stage, tuple(arms)) if arms else None
            case Stage.REDUCE:
                if self.winner == DEFAULT_ARM:
                    return None
                arms = self._chosen_reduction().roster(self._history, purse)
                return Roster(stage, tuple(arms)) if arms else None
            case Stage.CONFIRM:
                return self._confirm(purse)

    def _look_at_default(self, stage: Stage, purse: Purse) -> Roster | Done | None:
        """One launch each: the survey warms up and looks, the gauge tells how long it takes."""
        seen = self._history.observations(stage, DEFAULT_ARM.name)
        if any(o is not None for o in seen):
            if stage is Stage.SURVEY and not purse.spent:
                return None
            return self._too_small(purse) or self._nothing_to_try()
        if len(seen) < TRIES and not (seen and purse.spent):
            return Roster(stage, (DEFAULT_ARM,))
        return Done(Reason.WORKLOAD_FAILED, "The program failed in its default configuration.")

    def _look_side_by_side(self, purse: Purse) -> Roster | None:
        """The default alone and beside copies of itself, where the search is to run so."""
        slots = self._spec.parallel
        if slots is None or self._offered < slots:
            return None
        left = BLOCKS - len(self._history.blocks(Stage.INTERFERENCE))
        block = Cost(2 * self._gauge_s(), 1 + slots)
        keep = least_cost(self._least_block, self._least)
        if left <= 0 or purse.spent or not purse.affords(block.times(left), least=keep):
            return None
        return Roster(Stage.INTERFERENCE, (DEFAULT_ARM, *[BESIDE_ARM] * slots))

    @cached_property
    def _width(self) -> int:
        """Launches of a search block that run side by side; asked for only in the search."""
        found = interference_of(self._spec, self._history)
        return found.slots if found is not None and found.refused is None else 1

    def _abreast(self) -> int | None:
        if self._spec.parallel is None:
            return None
        match self._stage:
            case Stage.INTERFERENCE:
                return self._spec.parallel
            case Stage.SEARCH:
                return self._width
            case _:
                return 1

    def _nothing_to_try(self) -> Done | None:
        only = self._space.enumerate(1)
        if only is None:
            return None
        return Done(Reason.NOTHING_TO_TRY, "The space holds nothing but the default.")

    def _too_small(self, purse: Purse) -> Done | None:
        """Six confirmation blocks must fit into the share that is kept for them (rule 14)."""
        if self._history.blocks(Stage.SEARCH):
            return None
        block = self._least_block
        needed = least_budget(self._with_builds(block), self._least)
        least, total = least_cost(block, self._least), purse.total
        if (
            not purse.spent
            and (total.time_s is None or total.time_s >= least.time_s)
            and (total.launches is None or total.launches >= least.launches)
        ):
            return None
        return Done(
            Reason.TOO_SMALL,
            f"The budget is too small for a claim: {self._least} confirmation blocks do not fit.",
            needed,
        )

    def _with_builds(self, block: Cost) -> Cost:
        """The same with what a search builds at least."""
        return replace(block, once_s=len(BATCH_ARMS) * self._history.build_s)

    def _chosen_strategy(self) -> Strategy:
        """All configurations if each gets its launches, else a model; set by the gauge alone."""
        if self._strategy is None:
            self._history.abreast = self._width
            most = self._affordable_configurations()
            every = self._space.enumerate(most)
            keeping = Keeping(self._spec.margin, 2 + self._spec.null, self._least)
            self._strategy = (
                Racing(every, keeping)
                if every is not None
                else ModelBased(self._space, self._searcher, self._spec.seed, keeping)
            )
        return self._strategy

    @property
    def _least_block(self) -> Cost:
        """A block of the confirmation, by the gauge alone; what is costly to change may differ."""
        arms = 2 + self._spec.null
        switching_s = self._history.costly.pair_s
        once = Cost(self._gauge_s() * arms, arms)
        times = self._repeats if self._repeats > 1 else within(switching_s, once.time_s)
        launching = once.times(times)
        return Cost(launching.time_s + switching_s, launching.launches)

    @property
    def guided(self) -> bool:
        """Whether a model chose what ran in the search: what earlier studies knew was told to it.

        Asked for only once the search has begun.
        """
        return isinstance(self._chosen_strategy(), ModelBased)

    def _affordable_configurations(self) -> int:
        budget = self._spec.budget
        each = Cost(self._gauge_s(), 1).times(MIN_SEARCH_BLOCKS * self._repeats)
        bounds = [float(MOST_RACING)]
        if budget.time_s is not None:
            switching_s = MIN_SEARCH_BLOCKS * self._history.costly.space_s(self._space, MOST_RACING)
            search_s = (budget.time_s * SEARCH_SHARE - switching_s) * self._width
            bounds.append(search_s / (each.time_s + self._history.build_s))
        if budget.launches is not None:
            bounds.append(budget.launches * SEARCH_SHARE / each.launches)
        return max(1, int(min(bounds)))

    @property
    def _repeats(self) -> int:
        return repeats(self._spec.statistic, Stage.SEARCH)

    def _gauge_s(self) -> float:
        """What the default took, launcher and store included: the quicker of survey and gauge.

        One of the two may have been disturbed, and the survey began cold. A launch that failed
        tells nothing: it may have failed at once.
        """
        walls = [
            s.wall_s
            for s in self._history.samples
            if s.launch.stage in (Stage.SURVEY, Stage.GAUGE)
            and s.wall_s
            and s.outcome in (Outcome.OK, Outcome.TIMED_OUT)
        ]
        return min(walls, default=0.0) + OVERHEAD_S

    @cached_property
    def winner(self) -> Arm:
        """Who stands best after the search; asked for only when that is over.

        Once the winner has run again it is who ran: a model may answer otherwise by a last digit on
        another machine.
        """
        reducing = self._history.arms(Stage.REDUCE)
        if reducing:  # all others leave some of its settings out
            return max(reducing, key=lambda arm: len(arm.configuration))
        if arm := self._being_confirmed():
            return arm
        return self._chosen_strategy().winner(self._history)

    @cached_property
    def reduced(self) -> Reduced:
        """The winner without what does not matter; asked for only after the reduction."""
        if self.winner == DEFAULT_ARM:
            return Reduced(DEFAULT_ARM)
        found = self._chosen_reduction().result(self._history)
        arm = self._being_confirmed()
        return found if arm is None else Reduced(arm, found.note)

    def _being_confirmed(self) -> Arm | None:
        """The arm that the confirmation runs beside the default, if it has begun."""
        arms = (a for a in self._history.roster(Stage.CONFIRM) if a.configuration)
        return next(arms, None)

    def _chosen_reduction(self) -> Reduction:
        if self._reduction is None:
            keeping = Keeping(self._spec.margin, 2 + self._spec.null, self._least)
            self._reduction = Reduction(self.winner, self._space, keeping)
        return self._reduction

    def _confirm_arms(self, arm: Arm) -> tuple[Arm, ...]:
        null = (NULL_ARM,) if self._spec.null else ()
        return (DEFAULT_ARM, *null, *((arm,) if arm != DEFAULT_ARM else ()))

    def _confirm(self, purse: Purse) -> Roster | Done:
        arm = self.reduced.arm
        if arm == DEFAULT_ARM:
            return self._keep_default(purse)
        blocks = len(self._history.blocks(Stage.CONFIRM))
        if due(blocks):
            over = self._decided(arm, purse)
            if over is not None:
                return over
        return self._confirmation_block(self._confirm_arms(arm), blocks, purse)

    def _keep_default(self, purse: Purse) -> Roster | Done:
        """Nothing to confirm; left to show are noise floor and requirements, where asked for."""
        blocks = len(self._history.blocks(Stage.CONFIRM))
        if (self._spec.null or self._spec.require) and blocks < self._least:
            return self._confirmation_block(self._confirm_arms(DEFAULT_ARM), blocks, purse)
        if not any(sample.outcome is Outcome.OK for sample in self._history.samples):
            return Done(
                Reason.WORKLOAD_FAILED,
                "Every launch ran into its time-out: nothing can be held against anything.",
            )
        if self.winner == DEFAULT_ARM and default_breaks(trials_of(self._history)):
            return Done(Reason.DECIDED, "No configuration was found that keeps what is required.")
        if self.winner == DEFAULT_ARM:
            return Done(Reason.DECIDED, "No configuration stood better than the default.")
        return Done(Reason.DECIDED, "What won the search was no better on a second look.")

    def _decided(self, arm: Arm, purse: Purse) -> Done | None:
        """The end of the confirmation, where its data bring it about."""
        if self._lost(Stage.CONFIRM, arm):
            return Done(Reason.DECIDED, "What won the search failed when it was confirmed.")
        found = self.confirmation(arm)
        sound = len(self._history.sound(Stage.CONFIRM))
        if found is None and sound >= self._least:
            return Done(Reason.DECIDED, "No confirmation block has a value for both.")
        if found is None:
            return None
        required = results(self._spec, self._history, (DEFAULT_ARM, arm))
        if verdict_on(required, arm.name) is RequirementVerdict.BROKEN:
            return Done(
                Reason.DECIDED,
                f"What won the search breaks a requirement: {self._counted(found)} show it.",
            )
        open_ones = _undecided(required, found)
        decided = found.verdict is not Verdict.UNCLEAR and (found.planned or precise(found))
        if decided and not open_ones:
            return Done(Reason.DECIDED, f"Decided after {self._counted(found)}.")
        lost = [one for one in open_ones if self._past_hope(one, purse, self._confirm_arms(arm))]
        # What the default keeps is of no matter any more where the claim turns out a gain.
        if lost and (decided or any(one.arm == arm.name for one in lost)):
            return Done(
                Reason.BUDGET,
                f"Still unclear after {self._counted(found)} whether a requirement is kept, and "
                "what is left of the budget could not decide it.",
            )
        if len(open_ones) > len(lost) or self._before_planned:
            return None
        if found.blocks >= self._least and self._futile(found, purse, self._confirm_arms(arm)):
            return Done(
                Reason.BUDGET,
                f"Still unclear after {self._counted(found)}, and what is left of the budget "
                "could not decide it.",
            )
        return None

    def _confirmation_block(
        self, arms: tuple[Arm, ...], blocks: int, purse: Purse
    ) -> Roster | Done:
        """One more block; the first only where enough for a claim will fit (rule 14)."""
        cost = self._history.cost(arms)
        if blocks == 0 and not purse.affords(cost.times(self._least)):
            needed = least_budget(self._with_builds(cost), self._least)
            return Done(
                Reason.BUDGET,
                f"The budget did not leave the {self._least} confirmation blocks that a claim "
                f"takes; {needed_text(self._spec.budget, needed)} would do.",
                needed,
            )
        # Within the blocks that a claim takes, an estimate that is a little off ends nothing.
        if not purse.spent and (blocks < self._least or purse.affords(cost)):
            return Roster(Stage.CONFIRM, arms)
        found = self.confirmation(self.reduced.arm)
        return Done(Reason.BUDGET, f"The budget ended after {self._counted(found)}.")

    def _counted(self, found: Claim | None) -> str:
        """The blocks that the claim rests on."""
        blocks = None if found is None else found.blocks
        return counted(self._history, "confirmation block", blocks)

    @property
    def _alpha(self) -> float:
        return claim_alpha(self._spec)

    @property
    def _least(self) -> int:
        """Blocks below which no interval excludes anything, at the level that a claim has here."""
        return max(MIN_BLOCKS, least(self._alpha), least_blocks(self._spec))

    def _past_hope(self, found: RequirementResult, purse: Purse, arms: tuple[Arm, ...]) -> bool:
        """Whether not even a multiple of what is left would decide a requirement."""
        blocks = len(self._history.sound(Stage.CONFIRM))
        if blocks < self._least:
            return False
        if found.launches_needed is None:
            return not found.withheld
        more = (found.launches_needed / found.launches - 1.0) * blocks / FUTILE_FACTOR
        return not purse.affords(self._history.cost(arms).times(more))

    @property
    def _before_planned(self) -> bool:
        """Whether the one look is still to come that tells most."""
        planned = planned_blocks(self._spec, self._history, self._alpha)
        return planned is not None and len(self._history.complete(Stage.CONFIRM)) < planned

    def _futile(self, found: Claim, purse: Purse, arms: tuple[Arm, ...]) -> bool:
        """Whether not even a multiple of what is left would decide.

        The interval holds at every look, so that stopping early costs no validity.
        """
        needed = self._fewest_needed(found.b)
        if needed is None or needed <= found.blocks:
            return False
        more = (needed - found.blocks) / FUTILE_FACTOR
        return not purse.affords(self._history.cost(arms).times(more))

    def _fewest_needed(self, arm: str) -> int | None:
        """Blocks that would decide if the effect were larger, or smaller, by a standard error.

        After a few blocks the estimate itself is too rough to give a study up for.
        """
        blocks = self._history.sound(Stage.CONFIRM)
        a, b = (
            self._history.observations(Stage.CONFIRM, name, blocks)
            for name in (DEFAULT_ARM.name, arm)
        )
        median = self._spec.statistic is Statistic.MEDIAN
        found = effect(a, b, goal=self._history.goal, alpha=self._alpha, median=median)
        return blocks_needed(found, margin=self._spec.margin, doubt=1.0)

    def confirmation(self, arm: Arm) -> Claim | None:
        """The claim on an arm from the confirmation blocks alone."""
        return confirmed(self._spec, self._history, arm)

    def _cap_s(self, launch: Launch) -> float | None:
        """Bounded where a slow configuration would only cost time.

        The default is never capped, nor is the confirmation, whose values enter the claim; nor are
        several instances, which do more than what the caps are taken from.
        """
        caps = [self._spec.workload.timeout_s]
        single = not varies_instances(launch.configuration)
        searching = launch.stage in (Stage.SEARCH, Stage.REDUCE)
        if searching and single and launch.arm != DEFAULT_ARM.name:
            caps.append(self._incumbent_cap_s())
        return min((cap for cap in caps if cap is not None), default=None)

    def _incumbent_cap_s(self) -> float | None:
        """From the quickest arm where the least wall time wins, else far above the default's."""
        names, factor = [DEFAULT_ARM.name], HANG_FACTOR
        objective = self._spec.workload.objective
        shortest = objective.name == WALL.name and objective.goal is Goal.LOWER
        if shortest and self._spec.statistic is not Statistic.SPREAD:
            names = [arm.name for arm in self._history.arms(Stage.SEARCH)] or names
            factor = CAP_FACTOR
        walls = [w for w in map(self._history.good_wall_s, names) if w is not None]
        return min(walls) * factor + CAP_SLACK_S if walls else None


def confirmed(spec: StudySpec, history: History, arm: Arm) -> Claim | None:
    """The claim on an arm against the default: from undisturbed confirmation blocks alone."""
    return planned_claim(spec, history, (DEFAULT_ARM.name, arm.name), claim_alpha(spec))


def claim_alpha(spec: StudySpec) -> float:
    """The error rate is shared out between the claim and the noise floor, which stand together."""
    return claims_alpha(spec) / (1 + spec.null)


def _undecided(required: tuple[RequirementResult, ...], found: Claim) -> list[RequirementResult]:
    """The requirements that the answer hangs on and that are unclear yet.

    What the default keeps matters only where the winner gains nothing.
    """
    gains = found.verdict is Verdict.FASTER
    return [
        one
        for one in required
        if one.verdict is RequirementVerdict.UNCLEAR and not (gains and one.arm == DEFAULT_ARM.name)
    ]


def least_cost(block: Cost, blocks: int) -> Cost:
    """What a study takes at least: a look at the default, one block of search, and a claim.

    Args:
        block: of the confirmation.
        blocks: that a claim takes.
    """
    proof = block.times(RESERVE * blocks)
    search = LOOKS + len(BATCH_ARMS)
    each_s = block.time_s / block.launches
    return Cost(proof.time_s + search * each_s, proof.launches + search)


def least_budget(block: Cost, blocks: int) -> Budget:
    """The budget that is said to do: with room for a search that is worth its name."""
    return budget_for(block.times(blocks / KEEP))
