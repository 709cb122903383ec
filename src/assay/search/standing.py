"""Standing: who is ahead right now, for people who watch."""

from __future__ import annotations

import math
from dataclasses import dataclass

from assay.records import Stage, StudySpec
from assay.search.history import History
from assay.stats.eliminate import scores
from assay.stats.paired import effect
from assay.stats.summary import summarise


@dataclass(frozen=True)
class Standing:
    """The best arm against the first, so far; of search data it is an impression, no claim.

    Attributes:
        arm: its name.
        ratio: of the objective, arm over baseline; its value where there is no baseline.
        lo, hi: interval, ``None`` where open.
        blocks: pairs, or launches, that it rests on.
    """

    arm: str
    ratio: float
    lo: float | None
    hi: float | None
    blocks: int


def standing(spec: StudySpec, history: History, stage: Stage) -> Standing | None:
    """Who is ahead in the newest block of a stage; ``None`` before anything can be said."""
    arms = history.roster(stage)
    if not arms:
        return None
    names = [arm.name for arm in arms]
    baseline = spec.arms[0].name if spec.arms else "default"
    if names == [baseline]:
        return _alone(history, stage, baseline)
    stands = scores(history.log_matrix(stage, names))
    others = [i for i, name in enumerate(names) if name != baseline and not math.isnan(stands[i])]
    if not others:
        return None
    ahead = min(others, key=stands.__getitem__)
    found = effect(
        history.observations(stage, baseline),
        history.observations(stage, names[ahead]),
        goal=spec.workload.objective.goal,
    )
    if found.ratio is None:
        return None
    return Standing(
        names[ahead],
        found.ratio,
        found.lo or None,
        found.hi if math.isfinite(found.hi) else None,
        found.blocks,
    )


def _alone(history: History, stage: Stage, name: str) -> Standing | None:
    values = history.values(stage, name)
    if not values:
        return None
    found = summarise(values)
    lo, hi = (found.ci.lo, found.ci.hi) if found.ci else (None, None)
    return Standing(name, found.mean, lo, hi, found.n)
