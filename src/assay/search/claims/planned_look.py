"""Planned: after how many confirmation blocks a tune was going to look, before it made any."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence

from assay.records import Arm, Claim, Configuration, Sample, Stage, Statistic, StudySpec
from assay.records.sample import BUILD
from assay.search.claims.claims import MIN_BLOCKS, claim_between
from assay.search.history.history import DEFAULT_ARM, History
from assay.search.history.remaining_budget import LAUNCH_OVERHEAD_S
from assay.stats.planned_look import Look, min_planned_values

MAX_PLANNED_BLOCKS = 24
"""With room for more blocks nothing is planned: there an interval that holds at every look costs
little, and a study that is decided early ends early."""
TIME_SHARE = 0.9
"""Of the time that is left: a look that the budget does not reach decides nothing."""


def planned_blocks(spec: StudySpec, history: History, alpha: float) -> int | None:
    """How many blocks of confirmation the budget had room for; ``None``: no look is planned.

    It follows from what was asked and from what ran before the confirmation alone, so that no value
    that a claim rests on has a say in when it is looked at.

    Args:
        spec: of a ``tune``.
        history: its samples.
        alpha: of one claim.
    """
    if spec.statistic is not Statistic.MEAN or spec.switch_costs_s:
        return None  # of a block with several launches of each application, few fit anyway
    # Who runs in the confirmation was settled before it: by now it may have begun.
    arms = history.roster(Stage.CONFIRM) or [DEFAULT_ARM] * (2 + spec.null)
    before = [s for s in history.samples if s.launch.stage is not Stage.CONFIRM]
    room = min(_by_launches(spec, before, len(arms)), _by_time(spec, before, arms))
    fewest = max(MIN_BLOCKS, min_planned_values(alpha))
    return int(room) if fewest <= room <= MAX_PLANNED_BLOCKS else None


def planned_claim(
    spec: StudySpec, history: History, names: tuple[str, str], alpha: float
) -> Claim | None:
    """The claim on an arm of a ``tune``, with a planned look where there is room for one.

    The interval of the planned look and that of every other hold together, so that after both
    the narrower may be shown.
    """
    planned = planned_blocks(spec, history, alpha)
    if planned is None:
        return claim_between(spec, history, names, alpha)
    ran = len(history.complete(Stage.CONFIRM))
    found = claim_between(spec, history, names, alpha, Look.OTHER) if ran != planned else None
    if ran < planned:
        return found
    then = claim_between(spec, history, names, alpha, Look.PLANNED, first=planned)
    known = [claim for claim in (then, found) if claim is not None]
    return min(known, key=_width, default=None)


def _width(claim: Claim) -> float:
    """Of its interval, as a logarithm."""
    lo, hi = claim.ci
    return math.log(hi / lo) if lo and hi else math.inf


def _by_launches(spec: StudySpec, before: list[Sample], arms: int) -> float:
    total = spec.budget.launches
    return math.inf if total is None else (total - len(before)) // arms


def _by_time(spec: StudySpec, before: list[Sample], arms: Sequence[Arm]) -> float:
    """By what each arm took so far; one that never ran counts as the default, and is to be built.

    Builds are counted as their samples tell them: one that lay ready is counted too, which plans
    a look early rather than one that is not reached.
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
    builds = _builds_s(before)
    spent_s = math.fsum(s.took_s + LAUNCH_OVERHEAD_S for s in before) + math.fsum(builds)
    ran = {s.launch.configuration for s in before}
    new = {arm.configuration for arm in arms} - ran
    if builds and new:
        spent_s += len(new) * statistics.median(builds)
    block_s = math.fsum(
        statistics.median(walls.get(arm.configuration, usual)) + LAUNCH_OVERHEAD_S for arm in arms
    )
    return math.floor(max(0.0, TIME_SHARE * (total - spent_s)) / block_s)


def _builds_s(samples: Iterable[Sample]) -> list[float]:
    """What each build took; a sitting that goes on with a study tells its builds once more."""
    pieces = (piece for sample in samples for piece in sample.evidence if piece.kind == BUILD)
    told = {piece.note: piece.value for piece in pieces if piece.value is not None}
    return list(told.values())
