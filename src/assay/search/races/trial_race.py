"""Race of trials within the user's processes.

Trials of one process share its warm-up, caches and memory layout. A process is therefore one
observation of a claim (``search.history.process_means``), and a process whose trials selected the
winner takes no part in the confirmation of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec

from assay.records import Arm, Budget, Launch, Sample, Stage, StudySpec, Verdict
from assay.search.claims.claims import is_precise
from assay.search.claims.reliability import may_be_by_chance
from assay.search.history.history import DEFAULT_ARM, History, arm_of
from assay.search.history.remaining_budget import Cost, RemainingBudget
from assay.search.model.searcher import Searcher
from assay.search.races.block_runner import BlockPlan
from assay.search.races.confirmation import ConfirmedArms, min_blocks
from assay.search.races.race import Ending, EndReason, workload_failure
from assay.search.races.reduction import ReducedWinner
from assay.search.races.reserved_budget import ReservedBudget
from assay.search.races.strategy import MIN_SEARCH_BLOCKS, PROOF_SHARE
from assay.search.races.tune import TuneRace
from assay.search.space.search_space import SearchSpace
from assay.wording.endings import (
    DEFAULT_CONFIGURATION,
    OBJECTION_REMAINS,
    WINNER_WITHOUT_VALUE,
    arm_ending,
    decided_ending,
)
from assay.wording.processes import (
    process_count,
    process_spent_ending,
    search_over_ending,
    successive_failures,
)

MAX_SUCCESSIVE_FAILURES = 6
"""Successive trials of an arm without a value after which a process ends."""
MAX_TRIALS = 1000
"""Trials from which a process stops to search: what remains is a comparison of the best ones."""
UNAFFORDABLE = Cost(1e12, 10**12)
"""Cost that no budget covers."""
_SELECTING = frozenset((Stage.SEARCH, Stage.REDUCE))
"""Stages that select the winner."""


@dataclass(frozen=True)
class SearchBudget(ReservedBudget):
    """Budget of a process that searches: later processes confirm the result.

    Attributes:
        reduction_share: share of the budget that the search leaves for the reduction.
    """

    reduction_share: float = 0.0

    def confirmation(self, history: History, arm: Arm = DEFAULT_ARM) -> Cost:
        """Return no cost; see ``ReservedBudget.confirmation``."""
        return Cost(0.0, 0)

    def proof(self, history: History, winners: Sequence[Arm], gain: float, noise: float) -> Cost:
        """Return an unaffordable cost; see ``ReservedBudget.proof``."""
        return UNAFFORDABLE

    def affords(
        self, history: History, arms: Sequence[Arm], budget: RemainingBudget, share: float = 0.0
    ) -> bool:
        """See ``ReservedBudget.affords``."""
        return super().affords(history, arms, budget, min(share, self.reduction_share))


class TrialRace(TuneRace):
    """Race of a session: a tuning whose launches are trials of the user's processes.

    A space with one alternative needs no search: every process compares it with the default.

    Args:
        spec: specification of the study.
        space: space of the study.
        searcher: proposes configurations where they are too many to try all.
        process: number of the present process.
    """

    def __init__(
        self, spec: StudySpec, space: SearchSpace, searcher: Searcher, process: int = 0
    ) -> None:
        super().__init__(spec, space, searcher)
        self._process = process
        self._stages_here: set[Stage] = set()
        self._ran_here: set[str] = set()
        self._failures_here: dict[str, int] = {}

    def tell(self, sample: Sample) -> None:
        """See ``Race.tell``."""
        super().tell(sample)
        launch = sample.launch
        if launch.process != self._process:
            return
        self._stages_here.add(launch.stage)
        self._ran_here.add(launch.arm)
        lost = self._history.observation(sample) is None
        self._failures_here[launch.arm] = self._failures_here.get(launch.arm, 0) + 1 if lost else 0

    def begin_process(self) -> None:
        """Cancel the rest of a block of an earlier process: blocks never span processes."""
        self._block.drop()

    def ask(self, free_slots: int, left: Budget) -> list[Launch] | Ending:
        """See ``Race.ask``; assay cannot end a trial, so trials have no time limit."""
        answer = super().ask(free_slots, left)
        if isinstance(answer, Ending):
            return answer
        return [
            msgspec.structs.replace(launch, process=self._process, timeout_s=None, end=None)
            for launch in answer
        ]

    @cached_property
    def winner(self) -> Arm:
        """See ``TuneRace.winner``."""
        if self._alternative is not None:
            return self._alternative
        return super().winner

    @cached_property
    def reduced(self) -> ReducedWinner:
        """See ``TuneRace.reduced``."""
        if self._alternative is not None:
            return ReducedWinner(self._alternative)
        return super().reduced

    @cached_property
    def _alternative(self) -> Arm | None:
        """The only configuration besides the default; ``None`` if there are more."""
        every = self._space.enumerate(2)
        return arm_of(every[1]) if every is not None and len(every) == 2 else None

    @property
    def _reserve(self) -> ReservedBudget:
        """See ``TuneRace._reserve``."""
        share = PROOF_SHARE if len(self._space.parameters) > 1 else 0.0
        return SearchBudget(self._spec.margin, reduction_share=share)

    def _searched(self, budget: RemainingBudget) -> Sequence[Arm] | None:
        if self._alternative is not None or self._is_search_over:
            return None
        return super()._searched(budget)

    @property
    def _is_search_over(self) -> bool:
        """True if earlier processes have compared all configurations often enough.

        Trials may be short, so that their number rather than the budget limits a search.
        """
        if len(self._history.complete(Stage.SEARCH)) < MIN_SEARCH_BLOCKS:
            return False
        here = Stage.SEARCH in self._stages_here
        return not here or len(self._history.samples) >= MAX_TRIALS

    def _reducing(self, budget: RemainingBudget) -> Sequence[Arm] | None:
        if self._alternative is not None or not self._stages_here & _SELECTING:
            return None
        return super()._reducing(budget)

    def _warm_up(self, following: BlockPlan, budget: RemainingBudget) -> BlockPlan | None:
        """Return the arms that have not run in this process; their first trial does not count."""
        if following.stage in (Stage.SURVEY, Stage.GAUGE):
            return None
        compared = following.arms if following.stage is Stage.CONFIRM else (DEFAULT_ARM,)
        cold = tuple(arm for arm in compared if arm.name not in self._ran_here)
        return BlockPlan(Stage.SURVEY, cold) if cold else super()._warm_up(following, budget)

    def _confirm(self, budget: RemainingBudget) -> BlockPlan | Ending:
        whole = self.reduced.arm
        if whole == DEFAULT_ARM:
            return self._keep_default(budget)
        if self._stages_here & _SELECTING:
            return Ending(EndReason.BUDGET, search_over_ending(whole.name, self.processes_needed))
        running = self._being_confirmed() or ConfirmedArms(whole)
        # Only whole processes are observations, so a decision precedes the trials of a process.
        over = None if self._ran_here else self._decided_by_processes(self._recommended(running))
        return over or self._block_here(self._confirm_arms(*running.arms), budget)

    @property
    def processes_needed(self) -> int:
        """Smallest number of further processes of a claim."""
        return max(0, min_blocks(self._spec) - len(self._history.complete(Stage.CONFIRM)))

    def _block_here(self, arms: tuple[Arm, ...], budget: RemainingBudget) -> BlockPlan | Ending:
        """Return another block of confirmation in this process, or its end."""
        for arm in arms:
            if self._failures_here.get(arm.name, 0) >= MAX_SUCCESSIVE_FAILURES:
                return self._without_value(arm)
        confirming = Stage.CONFIRM in self._stages_here
        if budget.spent or (confirming and not budget.affords(self._history.cost(arms))):
            return Ending(EndReason.BUDGET, process_spent_ending(self.processes_needed))
        return BlockPlan(Stage.CONFIRM, arms)

    def _without_value(self, arm: Arm) -> Ending:
        if arm != DEFAULT_ARM:
            return Ending(EndReason.DECIDED, WINNER_WITHOUT_VALUE)
        predicate = successive_failures(MAX_SUCCESSIVE_FAILURES)
        return workload_failure(arm_ending(DEFAULT_CONFIGURATION, predicate), [arm])

    def _decided_by_processes(self, arm: Arm) -> Ending | None:
        """Return the end of the study if the earlier processes decide it."""
        if self._lost(Stage.CONFIRM, arm):
            return Ending(EndReason.DECIDED, WINNER_WITHOUT_VALUE)
        found = self.confirmation(arm)
        if found is None:
            return None
        count = process_count(len(self._history.complete(Stage.CONFIRM)))
        if found.verdict is not Verdict.UNCLEAR and is_precise(found):
            return Ending(EndReason.DECIDED, decided_ending(count))
        objected = found.verdict_withheld and found.data_problem is not None
        if objected and not self.processes_needed and not may_be_by_chance(found, self._history):
            return Ending(EndReason.DECIDED, OBJECTION_REMAINS)
        return None

    def proof(self, candidate: object) -> Cost:
        """Return an unaffordable cost: a proof takes processes, which no budget buys."""
        return UNAFFORDABLE


def tune_race(
    spec: StudySpec, space: SearchSpace, searcher: Searcher, process: int = 0
) -> TuneRace:
    """Return the race of a search by one objective, of launches or of trials.

    Args:
        spec: specification of the study.
        space: space of the study, bound to the machine.
        searcher: proposes configurations where they are too many to try all.
        process: for trials: number of the present process.
    """
    if spec.in_process:
        return TrialRace(spec, space, searcher, process)
    return TuneRace(spec, space, searcher)
