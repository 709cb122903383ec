"""Claims on the points of a Pareto front, and their membership."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import Arm, Claim, FrontExclusion, FrontPoint, Goal, Stage, StudySpec, Verdict
from assay.search.claims.claims import claim_between
from assay.search.history.history import DEFAULT_ARM, History
from assay.search.history.objective_view import ObjectiveView

AT_LEAST_AS_GOOD = (Verdict.FASTER, Verdict.SAME)


def front_alpha(spec: StudySpec, points: int) -> float:
    """Return the error rate of one interval, such that all intervals of a front hold together.

    These are the intervals of each point against the default, of each two points, and of the noise
    floor, in each objective.

    Args:
        spec: specification of the study.
        points: number of confirmed points.
    """
    pairs = points * (points - 1) // 2
    return spec.alpha / (len(spec.targets) * (points + pairs + spec.null))


def confirmed_points(history: History, null: Arm) -> list[Arm]:
    """Return the points at the start of the confirmation; empty before it.

    Args:
        history: samples of the study.
        null: repeat of the default.
    """
    # The plan of the first block names all of them, even if the block was cut short.
    ran = history.arms(Stage.CONFIRM)
    return [
        a
        for a in dict.fromkeys([*ran, *history.newest_arms(Stage.CONFIRM)])
        if a not in (DEFAULT_ARM, null)
    ]


def claims_between(
    objectives: Sequence[ObjectiveView], names: tuple[str, str], alpha: float
) -> list[Claim | None]:
    """Return the claims on the second arm against the first, one per objective."""
    return [claim_between(view.spec, view.history, names, alpha) for view in objectives]


def is_dominated(claims: Sequence[Claim | None]) -> bool:
    """Return whether the second arm is proven better in one objective, and worse in none."""
    verdicts = [claim.verdict for claim in claims if claim is not None]
    return (
        len(verdicts) == len(claims)
        and all(verdict in AT_LEAST_AS_GOOD for verdict in verdicts)
        and Verdict.FASTER in verdicts
    )


def dominating_arm(
    objectives: Sequence[ObjectiveView], arm: Arm, others: Sequence[Arm], alpha: float
) -> Arm | None:
    """Return the first of other arms that is proven better than an arm; ``None`` without one."""
    pairs = ((other, (arm.name, other.name)) for other in others if other != arm)
    return next(
        (o for o, names in pairs if is_dominated(claims_between(objectives, names, alpha))), None
    )


def judge_points(
    objectives: Sequence[ObjectiveView], points: Sequence[Arm], failing: Sequence[Arm], alpha: float
) -> list[FrontPoint]:
    """Return each point with its claims, and the reason if it is not on the front.

    Args:
        objectives: objectives of the study.
        points: confirmed points.
        failing: points that fail more often than the default.
        alpha: error rate of one interval.
    """
    able = [arm for arm in points if arm not in failing]
    found = []
    for arm in points:
        claims = claims_between(objectives, (DEFAULT_ARM.name, arm.name), alpha)
        better = dominating_arm(objectives, arm, able, alpha)
        found.append(
            FrontPoint(
                name=arm.name,
                settings=arm.configuration,
                claims=tuple(claim for claim in claims if claim is not None),
                exclusion=FrontExclusion.FAILS
                if arm in failing
                else reason_off_front(claims, better),
                dominated_by=better.name if better else None,
            )
        )
    return found


def reason_off_front(
    claims: Sequence[Claim | None], dominating_arm: Arm | None
) -> FrontExclusion | None:
    """Return the reason why a point is not on the front; ``None`` if it is.

    Args:
        claims: claims of the point against the default, one per objective.
        dominating_arm: arm that is proven better; ``None`` without one.
    """
    if dominating_arm is not None:
        return FrontExclusion.DOMINATED
    verdicts = [claim.verdict if claim else Verdict.UNCLEAR for claim in claims]
    if Verdict.FASTER in verdicts:
        return None
    return FrontExclusion.UNCLEAR if Verdict.UNCLEAR in verdicts else FrontExclusion.NO_GAIN


def sorted_points(
    points: Sequence[FrontPoint], objectives: Sequence[ObjectiveView]
) -> list[FrontPoint]:
    """Return the points in the order of the first objective, best first, those without it last."""
    goal = objectives[0].metric

    def key(point: FrontPoint) -> tuple[bool, float, str]:
        claim = point.claim_on(goal.name)
        sign = 1.0 if goal.goal is Goal.LOWER else -1.0
        return claim is None, sign * claim.ratio if claim else 0.0, point.name

    return sorted(points, key=key)


def first_choice(front: Sequence[FrontPoint], metric: str) -> FrontPoint | None:
    """Return the point to apply by default: the best one in one objective.

    It must be at least as good as the default in this objective.

    Args:
        front: points of the front, best first.
        metric: name of the objective.
    """
    for point in front:
        claim = point.claim_on(metric)
        if claim is not None and claim.verdict in AT_LEAST_AS_GOOD:
            return point
    return None
