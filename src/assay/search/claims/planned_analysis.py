"""Planned analysis: its number of confirmation blocks, at which a tuning has the most power."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence

from assay.records import Arm, Claim, Configuration, Sample, Stage, Statistic, StudySpec
from assay.records.sample import BUILD
from assay.search.claims.claims import MIN_BLOCKS, claim_between
from assay.search.history.history import DEFAULT_ARM, History
from assay.search.history.remaining_budget import LAUNCH_OVERHEAD_S
from assay.stats.planned_analysis import Analysis, min_planned_values

MAX_PLANNED_BLOCKS = 24
"""Largest number of blocks with a planned analysis: with more, an interval that holds at every
interim analysis costs little, and an early decision ends a study early."""
TIME_SHARE = 0.9
"""Share of the remaining time to plan for: an analysis beyond the budget decides nothing."""


def planned_blocks(spec: StudySpec, history: History, alpha: float) -> int | None:
    """Return the number of planned blocks; ``None`` if no analysis is planned.

    It follows from the specification and the launches before the confirmation alone, so that no
    value of a claim influences the time of the analysis.

    Args:
        spec: specification of a ``tune``.
        history: samples of the study.
        alpha: error rate of one claim.
    """
    if spec.statistic is not Statistic.MEAN or spec.switch_costs_s or spec.in_process:
        return None  # few blocks with several launches each fit
    if spec.until is not None and spec.until.is_auto:
        return None  # launches of the search do not show the length of those to come
    # The arms of the confirmation were chosen before it, and it may have begun.
    arms = history.newest_arms(Stage.CONFIRM) or [DEFAULT_ARM] * (2 + spec.null)
    before = list(history.before_confirmation)
    cheap = [s for low in history.low_fidelity.values() for s in low.samples]
    launches = len(before) + len(cheap)
    room = min(_by_launches(spec, launches, len(arms)), _by_time(spec, before, cheap, arms))
    fewest = max(MIN_BLOCKS, min_planned_values(alpha))
    return int(room) if fewest <= room <= MAX_PLANNED_BLOCKS else None


def planned_claim(
    spec: StudySpec, history: History, names: tuple[str, str], alpha: float
) -> Claim | None:
    """Return the claim on an arm of a ``tune``, with a planned analysis if there is one.

    The interval of the planned analysis and those of all others hold simultaneously, so that the
    narrower one may be shown after both.
    """
    planned = planned_blocks(spec, history, alpha)
    if planned is None:
        return claim_between(spec, history, names, alpha)
    ran = len(history.complete(Stage.CONFIRM))
    found = claim_between(spec, history, names, alpha, Analysis.OTHER) if ran != planned else None
    if ran < planned:
        return found
    then = claim_between(spec, history, names, alpha, Analysis.PLANNED, first=planned)
    known = [claim for claim in (then, found) if claim is not None]
    return min(known, key=_width, default=None)


def _width(claim: Claim) -> float:
    """Return the width of an interval of logarithms."""
    lo, hi = claim.ci
    return math.log(hi / lo) if lo and hi else math.inf


def _by_launches(spec: StudySpec, before: int, arms: int) -> float:
    total = spec.budget.launches
    return math.inf if total is None else (total - before) // arms


def _by_time(
    spec: StudySpec, before: list[Sample], cheap: list[Sample], arms: Sequence[Arm]
) -> float:
    """Return the number of blocks that fit, by the time of each arm so far.

    An arm that never ran counts as the default, with a build. A cached build counts too, which
    plans an early analysis rather than one beyond the budget.

    Args:
        spec: specification of the study.
        before: launches before the confirmation.
        cheap: launches at low fidelity, which took time as well but show no time of an arm.
        arms: arms of a block.
    """
    total = spec.budget.time_s
    if total is None:
        return math.inf
    walls: dict[Configuration, list[float]] = {}
    for sample in before:
        if sample.wall_s:
            walls.setdefault(sample.launch.configuration, []).append(sample.wall_s)
    usual = walls.get(DEFAULT_ARM.configuration)
    if usual is None:
        return math.inf
    every = [*cheap, *before]
    builds = _builds_s(every)
    spent_s = math.fsum(s.total_wall_s + LAUNCH_OVERHEAD_S for s in every) + math.fsum(builds)
    ran = {s.launch.configuration for s in every}
    new = {arm.configuration for arm in arms} - ran
    if builds and new:
        spent_s += len(new) * statistics.median(builds)
    block_s = math.fsum(
        statistics.median(walls.get(arm.configuration, usual)) + LAUNCH_OVERHEAD_S for arm in arms
    )
    return math.floor(max(0.0, TIME_SHARE * (total - spent_s)) / block_s)


def _builds_s(samples: Iterable[Sample]) -> list[float]:
    """Return the time of each build once; a resumed session repeats its evidence."""
    pieces = (piece for sample in samples for piece in sample.evidence if piece.kind == BUILD)
    times_s = {piece.note: piece.value for piece in pieces if piece.value is not None}
    return list(times_s.values())
