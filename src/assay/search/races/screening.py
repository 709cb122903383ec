"""Screening: low fidelities select the configurations of a search at full fidelity.

Successive halving on intervals: a fidelity promotes every configuration whose interval reaches into
its best quarter. If too many do, it adds launches, because the variance between launches limits the
order and longer launches do not reduce that. No value of a low fidelity enters the search itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from assay.records import Arm, Budget, Fidelity, Goal, Stage, StudySpec
from assay.search.history.history import DEFAULT_ARM, History, arm_of
from assay.search.history.remaining_budget import LAUNCH_OVERHEAD_S, Cost, RemainingBudget
from assay.search.model.exclusions import admitted_space, is_excluded
from assay.search.model.searcher import Searcher, launched_configurations
from assay.search.model.trials import trials_of
from assay.search.progress.end_rules import EndRules
from assay.search.progress.incumbent import spread_between_launches
from assay.search.progress.lengths import prior_of, step_variance
from assay.search.progress.levels import estimates_of
from assay.search.races.block_runner import BlockPlan
from assay.search.races.block_seed import block_seed
from assay.search.races.reserved_budget import ReservedBudget
from assay.search.space.search_space import SearchSpace
from assay.stats.progress.fidelity import MIN_CONFIGURATIONS, Estimate, needs_launches, promoted

GAUGE_LAUNCHES = 2
"""Launches of the default at a new lowest fidelity, which show its cost."""
MAX_COST_SHARE = 0.5
"""Largest cost of a low fidelity over that of the full one at which it saves time."""
MAX_SEARCH_SHARE, MIN_SEARCH_SHARE = 0.6, 0.3
"""Largest and smallest share of the budget for a search that a proof follows."""
PROOF_MARGIN = 0.05
"""Share of the budget beyond search and proof."""
UNPROVEN_SHARE = 0.9
"""Share of a budget for a search if it has no room for a proof."""
FULL_SHARE = 0.5
"""Share of a search for the full fidelity; the low ones share the rest equally."""
FULL_BLOCKS = 2
"""Launches of each promoted configuration at full fidelity."""
NEW_SHARE = 0.85
"""Share of the lowest fidelity for the first launches of configurations; the rest repeats them."""
PROMOTED_SHARE = 0.25
"""Share of the configurations of a fidelity that it promotes if the noise permits it."""
MIN_NEW = 8
"""Number of configurations for which the lowest fidelity always has room, if the budget has."""
MAX_ALL = 1000
"""Largest number of configurations that all run at the lowest fidelity, as in a race."""
MAX_NEW = 200
"""Largest number of configurations that a model proposes: its time grows with its data."""
BATCH = 8
"""Proposals of a model in a block."""
MIN_ROOM = 6
"""Smallest number of launches at a fidelity that it is worth: fewer only delay the full one."""
MAX_REPEATS = 8
"""Largest number of launches of a configuration at a low fidelity."""
CONTROL_SHARE = 0.15
"""Share of the budget for configurations that low fidelity rejected, at full fidelity. They show
whether it predicts the order (a bracket of Hyperband has the same purpose)."""


class Screening:
    """Selection of configurations at low fidelity.

    Its answers follow from the history and the budget.

    Args:
        spec: specification of the study, with a fidelity.
        fidelity: that fidelity.
        space, searcher: space and searcher of the study.
        reserve: budget of the confirmation.
        end_rules: launches so far, with their steady parts.
    """

    def __init__(
        self,
        spec: StudySpec,
        fidelity: Fidelity,
        space: SearchSpace,
        searcher: Searcher,
        reserve: ReservedBudget,
        end_rules: EndRules,
    ) -> None:
        self._spec = spec
        self._fidelity = fidelity
        self._space = space
        self._searcher = searcher
        self._reserve = reserve
        self._end_rules = end_rules

    def next_block(self, history: History, budget: RemainingBudget) -> BlockPlan | None:
        """Return the next block at a low fidelity; ``None`` once the full one follows."""
        if budget.spent:
            return None
        at = self._newest_level(history)
        if at is None or not _works(history.at(self._fidelity.low[at])):
            at = 0 if at is None else at + 1
            return self._gauge(at) if at < len(self._fidelity.low) else None
        if not self._saves_time(history, at):
            return None
        if at == self._first_level(history):
            new = self._new_arms(history, at, budget)
            if new:
                return self._block(new, at)
        return self._repeat_or_promote(history, at, budget)

    def full_arms(self, history: History, budget: RemainingBudget) -> list[Arm]:
        """Return the promoted arms at full fidelity, and a few rejected ones as a control.

        Args:
            history: samples of the study.
            budget: remaining budget.
        """
        at = self._newest_level(history)
        assert at is not None
        chosen = self._promoted(history, at)[: self._room_at_full(history, budget)]
        rest = [arm for arm in self.ranked(history) if arm not in chosen]
        wanted = min(MIN_CONFIGURATIONS - 1 - len(chosen), len(rest))
        each = _share(history.cost([DEFAULT_ARM], Stage.SEARCH), budget)
        count = max(0, min(wanted, int(CONTROL_SHARE / each) if each else wanted))
        if 2 * count < wanted:
            count = 0  # too few to show an order
        control = [rest[int((place + 0.5) * len(rest) / count)] for place in range(count)]
        return [*chosen, *control]

    def kept_share(self, history: History, budget: RemainingBudget) -> float:
        """Return the share of the budget that the search leaves."""
        return 1.0 - self._search_share(history, budget)

    def was_used(self, history: History) -> bool:
        """Return whether configurations other than the default ran at a low fidelity."""
        levels = map(history.at, self._fidelity.low)
        return any(arm != DEFAULT_ARM for low in levels for arm in low.arms(Stage.SEARCH))

    def lowest(self, history: History) -> History:
        """Return the history of the lowest fidelity at which the default works."""
        return history.at(self._fidelity.low[self._first_level(history)])

    def ranked(self, history: History) -> list[Arm]:
        """Return all arms in the order of the lowest fidelity, the best first."""
        known = self._known(history, self._first_level(history))
        return sorted(known, key=lambda arm: known[arm].mean)

    # --- levels -----------------------------------------------------------------------------------

    def _newest_level(self, history: History) -> int | None:
        known = [at for at, value in enumerate(self._fidelity.low) if history.at(value).samples]
        return max(known, default=None)

    def _first_level(self, history: History) -> int:
        levels = enumerate(map(history.at, self._fidelity.low))
        return next((at for at, low in levels if _works(low)), 0)

    def _gauge(self, at: int) -> BlockPlan:
        return BlockPlan(
            Stage.SCREEN, (DEFAULT_ARM,) * GAUGE_LAUNCHES, fidelity=self._fidelity.low[at]
        )

    def _block(self, arms: Sequence[Arm], at: int) -> BlockPlan:
        return BlockPlan(Stage.SCREEN, (DEFAULT_ARM, *arms), fidelity=self._fidelity.low[at])

    def _saves_time(self, history: History, at: int) -> bool:
        low = history.at(self._fidelity.low[at]).cost([DEFAULT_ARM], Stage.SEARCH).time_s
        return low <= MAX_COST_SHARE * history.cost([DEFAULT_ARM], Stage.SEARCH).time_s

    # --- configurations ---------------------------------------------------------------------------

    def _new_arms(self, history: History, at: int, budget: RemainingBudget) -> list[Arm]:
        """Return configurations for their first launch: all if they fit, else proposals."""
        low = history.at(self._fidelity.low[at])
        trials = trials_of(low)
        known = launched_configurations(trials)
        room = max(MIN_NEW, int(min(NEW_SHARE * self._launches_at(history, at, budget), MAX_ALL)))
        if len(known) == 1:
            every = self._space.enumerate(room + 1)
            if every is not None:
                return self._affordable([arm_of(c) for c in every[1:]], history, at, budget)
        count = min(BATCH, min(room, MAX_NEW) - (len(known) - 1))
        if count < 1:
            return []
        space = admitted_space(low, self._space)
        chosen = self._searcher.propose(space, trials, count, self._seed(low))
        return self._affordable([arm_of(c) for c in chosen if c not in known], history, at, budget)

    def _affordable(
        self, arms: list[Arm], history: History, at: int, budget: RemainingBudget
    ) -> list[Arm]:
        """Return as many arms as fit into the remaining budget with the default."""
        low = history.at(self._fidelity.low[at])
        keep = self.kept_share(history, budget)
        while arms and not budget.affords(low.cost([DEFAULT_ARM, *arms], Stage.SEARCH), keep):
            arms = arms[:-1]
        return arms

    def _repeat_or_promote(
        self, history: History, at: int, budget: RemainingBudget
    ) -> BlockPlan | None:
        """Return a block of contenders at this fidelity or the next; ``None`` for the full one."""
        chosen = self._promoted(history, at)
        following = at + 1
        share = self._search_share(history, budget) * (1.0 - FULL_SHARE)
        last = following >= self._used_levels(history, budget, share)
        if len(chosen) <= self._room_at_full(history, budget) or not chosen:
            return None
        room = 0 if last else int(self._launches_at(history, following, budget)) - 1
        known = len(self._known(history, at))
        undecided = len(chosen) > min(room, math.ceil(PROMOTED_SHARE * known))
        if undecided and self._repeats(history, at, chosen, budget):
            return self._block(chosen, at)
        return None if last else self._block(chosen[:room], following)

    def _repeats(
        self, history: History, at: int, arms: Sequence[Arm], budget: RemainingBudget
    ) -> bool:
        """Return whether another launch of each arm is affordable and tells more than longer ones.

        Longer launches are those of the next fidelity.
        """
        low = history.at(self._fidelity.low[at])
        most = max(low.blocks_run(Stage.SEARCH, arm.name) for arm in arms)
        cost = low.cost([DEFAULT_ARM, *arms], Stage.SEARCH)
        launching_s = sum(s.total_wall_s + LAUNCH_OVERHEAD_S for s in low.samples)
        spent = Cost(launching_s / low.parallel_launches, len(low.samples))
        within = _share(spent, budget) + _share(cost, budget) <= self._level_share(history, budget)
        keep = self.kept_share(history, budget)
        if most >= MAX_REPEATS or not within or not budget.affords(cost, keep):
            return False
        return self._is_launch_variance_larger(at)

    def _is_launch_variance_larger(self, at: int) -> bool:
        """Return whether the variance between launches exceeds that within, if that is known."""
        from assay.stats.progress.launch_spread import expected_spread

        steady = self._end_rules.at(self._fidelity.low[at])
        if steady is None or not steady.parts:
            return True
        variance = step_variance(steady)
        spread = expected_spread(spread_between_launches(steady, variance, prior_of(self._spec)))
        steps = sum(part.end_step - part.begin_step for part in steady.parts) / len(steady.parts)
        return needs_launches(spread, variance, max(1.0, steps))

    def _promoted(self, history: History, at: int) -> list[Arm]:
        """Return the arms whose interval reaches into the best quarter, the best first."""
        known = self._known(history, at)
        arms, estimates = list(known), list(known.values())
        places = promoted(estimates, goal=Goal.LOWER, share=PROMOTED_SHARE)
        return [arms[place] for place in places]

    def _known(self, history: History, at: int) -> dict[Arm, Estimate]:
        """Return the estimates of the arms at a fidelity, other than the default and excluded ones.

        Args:
            history: samples of the study.
            at: number of the fidelity.
        """
        low = history.at(self._fidelity.low[at])
        found = estimates_of(low)
        arms = (arm for arm in low.arms(Stage.SEARCH) if arm != DEFAULT_ARM)
        able = (arm for arm in arms if not is_excluded(low, arm.configuration))
        return {arm: found[arm.name] for arm in able if arm.name in found}

    def _seed(self, low: History) -> int:
        return block_seed(f"{self._spec.seed}/screen/{len(low.blocks(Stage.SEARCH))}")

    # --- budget -----------------------------------------------------------------------------------

    def _level_share(self, history: History, budget: RemainingBudget) -> float:
        """Return the share of the budget for one low fidelity."""
        share = self._search_share(history, budget) * (1.0 - FULL_SHARE)
        return share / self._used_levels(history, budget, share)

    def _used_levels(self, history: History, budget: RemainingBudget, share: float) -> int:
        """Return the number of low fidelities that have room for a selection, at least one.

        Args:
            history: samples of the study.
            budget: remaining budget.
            share: share of the budget for all of them.
        """
        for count in range(len(self._fidelity.low), 1, -1):
            each = _share(self._cost_at(history, count - 1), budget)
            if share >= count * MIN_ROOM * each:
                return count
        return 1

    def _search_share(self, history: History, budget: RemainingBudget) -> float:
        """Return the share of the budget for the search, with or without room for a proof."""
        proof = _share(self._reserve.confirmation(history), budget)
        share = min(MAX_SEARCH_SHARE, 1.0 - PROOF_MARGIN - proof)
        return share if share >= MIN_SEARCH_SHARE else UNPROVEN_SHARE

    def _launches_at(self, history: History, at: int, budget: RemainingBudget) -> float:
        """Return the number of launches that the share of a low fidelity affords."""
        each = _share(self._cost_at(history, at), budget)
        return self._level_share(history, budget) / each if each else math.inf

    def _room_at_full(self, history: History, budget: RemainingBudget) -> int:
        """Return the number of configurations that the full fidelity affords, at least one."""
        each = FULL_BLOCKS * _share(history.cost([DEFAULT_ARM], Stage.SEARCH), budget)
        if not each:
            return MAX_NEW
        return max(1, int(FULL_SHARE * self._search_share(history, budget) / each) - 1)

    def _cost_at(self, history: History, at: int) -> Cost:
        """Return the cost of a launch at a low fidelity.

        Before its first launch it is interpolated between a lower fidelity and the full one.
        """
        full = history.cost([DEFAULT_ARM], Stage.SEARCH)
        known = [i for i in range(at + 1) if history.at(self._fidelity.low[i]).samples]
        if not known:
            return full
        newest = known[-1]
        low = history.at(self._fidelity.low[newest]).cost([DEFAULT_ARM], Stage.SEARCH)
        if newest == at or not low.time_s:
            return low
        weight = (at - newest) / (len(self._fidelity.low) - newest)
        return Cost(low.time_s * (full.time_s / low.time_s) ** weight, low.launches)


def _works(low: History) -> bool:
    """Return whether the default has a value at a fidelity."""
    return bool(low.known(Stage.SEARCH, DEFAULT_ARM.name))


def _share(cost: Cost, budget: RemainingBudget) -> float:
    """Return the share of the total budget that a cost takes."""
    total: Budget = budget.total
    shares = [cost.time_s / total.time_s] if total.time_s else []
    shares += [cost.launches / total.launches] if total.launches else []
    return max(shares, default=0.0)
