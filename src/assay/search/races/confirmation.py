"""Confirmation: the arms that a tuning compares with the default, and the claims on them.

The *core* runs beside the winner of a search: one or two settings that may account for the whole
gain, if a model expects that and the budget has room. Both run in the same blocks as the default,
so that their difference is known as well as their gains.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from assay.records import (
    DEFAULT,
    Arm,
    Claim,
    Configuration,
    Goal,
    Stage,
    StudySpec,
    Verdict,
)
from assay.search.claims.claims import MIN_BLOCKS
from assay.search.claims.planned_analysis import planned_claim
from assay.search.claims.requirement import claims_alpha, min_requirement_blocks
from assay.search.history.history import DEFAULT_ARM, History, arm_of
from assay.search.history.losses import may_win
from assay.search.model.searcher import Searcher, Trial
from assay.search.races.reduction import may_leave_out
from assay.search.space.search_space import SearchSpace
from assay.stats.confidence_sequence import min_values
from assay.wording.recommendation import core_note
from assay.wording.sentence import change_words

MAX_CORE_SETTINGS = 2
"""Largest number of settings of a core."""
MIN_CORE_PROBABILITY = 0.5
"""Smallest probability that a core loses no more than the margin."""


@dataclass(frozen=True)
class ConfirmedArms:
    """Arms of a confirmation besides the default.

    Attributes:
        whole: winner of the search.
        core: arm with some of its settings; ``None`` if only the winner runs.
    """

    whole: Arm
    core: Arm | None = None

    @classmethod
    def among(cls, arms: Iterable[Arm]) -> ConfirmedArms | None:
        """Return the confirmed arms of a block; ``None`` if the default runs alone."""
        others = list(dict.fromkeys(arm for arm in arms if arm.configuration != DEFAULT))
        if not others:
            return None
        whole = max(others, key=lambda arm: len(arm.configuration))
        set_in_whole = whole.configuration.items()
        core = next((a for a in others if a.configuration.items() < set_in_whole), None)
        return cls(whole, core)

    @property
    def arms(self) -> tuple[Arm, ...]:
        """The winner, and its core if any."""
        return (self.whole,) if self.core is None else (self.whole, self.core)


def with_core(
    searcher: Searcher,
    space: SearchSpace,
    trials: Sequence[Trial],
    whole: Arm,
    margin: float,
) -> ConfirmedArms:
    """Return a winner with its core, if a model expects one to be as good.

    The core is the most probable of the smallest parts that lose no more than the margin.

    Args:
        searcher: searcher with the model.
        space: space that decides which parts are valid.
        trials: launches for the model.
        whole: the winner.
        margin: ratio differences below it count as none.
    """
    parts = _parts(space, whole.configuration)
    wanted = [{part: 1.0, whole.configuration: -1.0} for part in parts]
    losses = searcher.contrasts(space, trials, wanted) if parts else []
    limit = math.log1p(margin)
    chances = [
        statistics.NormalDist(loss.mean, max(loss.deviation, 1e-9)).cdf(limit)
        if math.isfinite(loss.deviation)
        else 0.0
        for loss in losses
    ]
    able = [(c, part) for c, part in zip(chances, parts, strict=True) if c >= MIN_CORE_PROBABILITY]
    if not able:
        return ConfirmedArms(whole)
    return ConfirmedArms(whole, arm_of(min(able, key=lambda pair: (len(pair[1]), -pair[0]))[1]))


def _parts(space: SearchSpace, whole: Configuration) -> list[Configuration]:
    """Return the valid configurations of one or two settings of a larger one."""
    some = (
        space.canonical(Configuration(dict(pairs)))
        for size in range(1, MAX_CORE_SETTINGS + 1)
        for pairs in itertools.combinations(whole.items(), size)
    )
    return [p for p in dict.fromkeys(some) if p not in (DEFAULT, whole) and space.valid(p)]


def confirmed_arms(history: History) -> ConfirmedArms | None:
    """Return the arms of the confirmation; ``None`` before one of them ran."""
    running = ConfirmedArms.among(history.newest_arms(Stage.CONFIRM))
    ran = history.arms(Stage.CONFIRM)
    return running if running is not None and any(a in ran for a in running.arms) else None


def claim_alpha(spec: StudySpec, winners: int = 1) -> float:
    """Return the error rate of each claim and of the noise floor, which hold simultaneously.

    Args:
        spec: specification of the study.
        winners: number of arms that are compared with the default.
    """
    return claims_alpha(spec) / (winners + spec.null)


def min_blocks(spec: StudySpec, winners: int = 1) -> int:
    """Return the smallest number of blocks with a conclusive interval.

    Args:
        spec, winners: as for ``claim_alpha``.
    """
    return max(MIN_BLOCKS, min_values(claim_alpha(spec, winners)), min_requirement_blocks(spec))


def count_winners(arms: Iterable[Arm]) -> int:
    """Return the number of arms of a block that are compared with the default; at least 1."""
    running = ConfirmedArms.among(arms)
    return 1 if running is None else len(running.arms)


def claim_on(spec: StudySpec, history: History, arm: Arm) -> Claim | None:
    """Return the claim on an arm against the default, from confirmation blocks alone."""
    alpha = claim_alpha(spec, count_winners(history.newest_arms(Stage.CONFIRM)))
    return planned_claim(spec, history, (DEFAULT_ARM.name, arm.name), alpha)


def claims_on(spec: StudySpec, history: History, running: ConfirmedArms | None) -> dict[Arm, Claim]:
    """Return the claims on the arms of a confirmation that have one."""
    arms = () if running is None else running.arms
    found = ((arm, claim_on(spec, history, arm)) for arm in arms)
    return {arm: claim for arm, claim in found if claim is not None}


def recommended_arm(
    spec: StudySpec, history: History, running: ConfirmedArms, claims: Mapping[Arm, Claim]
) -> Arm:
    """Return the arm to recommend, if the confirmation supports one.

    It is the core if that gains, and if the winner does not gain or not more; else it is the
    winner. An arm that fails more often than the default gains nothing.

    Args:
        spec: specification of the study.
        history: samples of the study.
        running: arms of the confirmation.
        claims: claims on them.
    """
    core = running.core
    if core is None:
        return running.whole
    gains = [
        arm
        for arm, claim in claims.items()
        if claim.verdict is Verdict.FASTER and may_win(history, arm)
    ]
    if core not in gains:
        return running.whole
    replaces = running.whole not in gains or _may_replace(spec, history, running)
    return core if replaces else running.whole


def _may_replace(spec: StudySpec, history: History, running: ConfirmedArms) -> bool:
    """Return whether the core may replace the winner, by the rule of the reduction."""
    return may_leave_out(_gaps(history, running), math.log1p(spec.margin))


def _gaps(history: History, running: ConfirmedArms) -> list[float]:
    """Return the loss of the core against the winner in each undisturbed block, as log ratios.

    All blocks count if more than a third were disturbed.
    """
    if running.core is None:
        return []
    everything = history.mostly_disturbed(Stage.CONFIRM)
    blocks = (
        history.complete(Stage.CONFIRM) if everything else history.undisturbed_blocks(Stage.CONFIRM)
    )
    core, whole = (
        history.observations(Stage.CONFIRM, arm.name, blocks)
        for arm in (running.core, running.whole)
    )
    sign = 1.0 if history.goal is Goal.LOWER else -1.0
    pairs = [(a.value, b.value) for a, b in zip(core, whole, strict=True) if a and b]
    return [sign * math.log(a / b) for a, b in pairs]


def core_notes(spec: StudySpec, history: History, running: ConfirmedArms, chosen: Arm) -> list[str]:
    """Return a note on the core against the winner.

    Args:
        spec: specification of the study.
        history: samples of the study.
        running: arms of the confirmation.
        chosen: recommended arm, if any.
    """
    gaps = _gaps(history, running)
    if running.core is None or not gaps:
        return []
    sign = 1.0 if history.goal is Goal.LOWER else -1.0
    ratio = math.exp(sign * statistics.fmean(gaps))
    return [
        core_note(
            running.core.name,
            running.whole.name,
            change_words(ratio, spec.workload.objective, spec.statistic),
            len(gaps),
            recommended=chosen == running.core,
        )
    ]
