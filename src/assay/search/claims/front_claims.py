"""FrontClaims: what the confirmation shows of the points of a front, and which make it up."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import Arm, Claim, FrontExclusion, FrontPoint, Goal, Stage, StudySpec, Verdict
from assay.search.claims.claims import claim_between
from assay.search.history.history import DEFAULT_ARM, History
from assay.search.history.objective_view import ObjectiveView

AT_LEAST_AS_GOOD = (Verdict.FASTER, Verdict.SAME)


def front_alpha(spec: StudySpec, points: int) -> float:
    """The error rate of one interval, where all that a front rests on are to hold together.

    Those of each point against the default, of each two points against each other, and of the
    noise floor: in each objective.

    Args:
        spec: of the study.
        points: how many are confirmed.
    """
    pairs = points * (points - 1) // 2
    return spec.alpha / (len(spec.targets) * (points + pairs + spec.null))


def confirmed_points(history: History, null: Arm) -> list[Arm]:
    """The points that the confirmation began with; empty before it did.

    Args:
        history: of the study.
        null: the default under its second name.
    """
    # All of them are in the first block: its roster tells who, where it was cut short.
    ran = history.arms(Stage.CONFIRM)
    return [
        a
        for a in dict.fromkeys([*ran, *history.roster(Stage.CONFIRM)])
        if a not in (DEFAULT_ARM, null)
    ]


def claims_between(
    facets: Sequence[ObjectiveView], names: tuple[str, str], alpha: float
) -> list[Claim | None]:
    """What is shown of the second arm against the first, in each objective."""
    return [claim_between(facet.spec, facet.history, names, alpha) for facet in facets]


def is_dominated(claims: Sequence[Claim | None]) -> bool:
    """Whether the second arm is shown to be better in one objective, and no worse in any."""
    verdicts = [claim.verdict for claim in claims if claim is not None]
    return (
        len(verdicts) == len(claims)
        and all(verdict in AT_LEAST_AS_GOOD for verdict in verdicts)
        and Verdict.FASTER in verdicts
    )


def dominating_arm(
    facets: Sequence[ObjectiveView], arm: Arm, others: Sequence[Arm], alpha: float
) -> Arm | None:
    """The first of the others that is shown to be better than an arm; ``None`` where none is."""
    pairs = ((other, (arm.name, other.name)) for other in others if other != arm)
    return next(
        (o for o, names in pairs if is_dominated(claims_between(facets, names, alpha))), None
    )


def judge_points(
    facets: Sequence[ObjectiveView], points: Sequence[Arm], failing: Sequence[Arm], alpha: float
) -> list[FrontPoint]:
    """Each point with its claims, and why it is no part of the front where it is none.

    Args:
        facets: of the study.
        points: that were confirmed.
        failing: those of them that fail more often than the default.
        alpha: of one interval.
    """
    able = [arm for arm in points if arm not in failing]
    found = []
    for arm in points:
        claims = claims_between(facets, (DEFAULT_ARM.name, arm.name), alpha)
        better = dominating_arm(facets, arm, able, alpha)
        found.append(
            FrontPoint(
                name=arm.name,
                settings=arm.configuration,
                claims=tuple(claim for claim in claims if claim is not None),
                off=FrontExclusion.FAILS if arm in failing else reason_off_front(claims, better),
                dominated_by=better.name if better else None,
            )
        )
    return found


def reason_off_front(
    claims: Sequence[Claim | None], dominating_arm: Arm | None
) -> FrontExclusion | None:
    """Why a point is no part of a front; ``None`` where it is.

    Args:
        claims: of the point against the default, one for each objective.
        dominator: who is shown to be better.
    """
    if dominating_arm is not None:
        return FrontExclusion.DOMINATED
    verdicts = [claim.verdict if claim else Verdict.UNCLEAR for claim in claims]
    if Verdict.FASTER in verdicts:
        return None
    return FrontExclusion.UNCLEAR if Verdict.UNCLEAR in verdicts else FrontExclusion.NO_GAIN


def sorted_points(
    points: Sequence[FrontPoint], facets: Sequence[ObjectiveView]
) -> list[FrontPoint]:
    """The points, best in the first objective first; what has no claim on it last."""
    goal = facets[0].metric

    def key(point: FrontPoint) -> tuple[bool, float, str]:
        claim = point.claim_on(goal.name)
        sign = 1.0 if goal.goal is Goal.LOWER else -1.0
        return claim is None, sign * claim.ratio if claim else 0.0, point.name

    return sorted(points, key=key)


def first_choice(front: Sequence[FrontPoint], metric: str) -> FrontPoint | None:
    """The point to take where none is named: the best in one objective.

    The default is one of the choices: of what is not shown to be as good as it in this objective
    none is taken unasked.

    Args:
        front: its points, best first.
        metric: name of the objective.
    """
    for point in front:
        claim = point.claim_on(metric)
        if claim is not None and claim.verdict in AT_LEAST_AS_GOOD:
            return point
    return None
