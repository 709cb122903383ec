"""Cross-environment comparison: a gain found in a quiet environment, confirmed in another.

The number of launches for an interval of a given width is proportional to the variance of single
launches. So the ratio of the variances in the two environments is the factor of launches that the
same search would have needed in the noisier one. Its interval assumes normal distributions (F
distribution), so the factor is reported as approximate.
"""

from __future__ import annotations

from assay.records import (
    Budget,
    Claim,
    Conclusion,
    CrossEnvironmentComparison,
    EarlierRecommendation,
    Kind,
    StudySpec,
)
from assay.records.configuration import Configuration
from assay.records.launch import Arm
from assay.records.study import ArmResult
from assay.search.history.history import DEFAULT_ARM

MIN_VALUES = 4
"""Minimum number of launches for a spread."""
ALPHA = 0.05
"""Error rate at either end of the interval."""


def confirmation_of(
    study_id: str,
    spec: StudySpec,
    conclusion: Conclusion,
    chosen: Configuration,
    budget: Budget,
) -> StudySpec:
    """Return the specification of a comparison of a recommendation with the default.

    Args:
        study_id, spec, conclusion: the study with the recommendation.
        chosen: the recommended configuration; for several objectives, a point of its front.
        budget: budget of the comparison.
    """
    default = conclusion.arms[0].summary.get(spec.workload.objective.name)
    found = EarlierRecommendation(
        study=study_id,
        partition=spec.reserve.partition if spec.reserve else "",
        launches=conclusion.launches,
        claim=_claim_on(conclusion, chosen),
        spread=_spread(conclusion.arms[0], spec.workload.objective.name),
        spread_launches=default.n if default else 0,
    )
    return StudySpec(
        kind=Kind.COMPARE,
        workload=spec.workload,
        budget=budget,
        arms=(DEFAULT_ARM, Arm(name=str(chosen), configuration=chosen)),
        margin=spec.margin,
        alpha=spec.alpha,
        seed=spec.seed,
        null=spec.null,
        statistic=spec.statistic,
        disturbed_above=spec.disturbed_above,
        warmup=spec.warmup,
        pad_environment=spec.pad_environment,
        requirements=spec.requirements,
        earlier_recommendation=found,
    )


def _claim_on(conclusion: Conclusion, chosen: Configuration) -> Claim | None:
    chosen_of = {arm.name: arm.configuration for arm in conclusion.arms}
    claims = (claim for claim in conclusion.claims if chosen_of.get(claim.b) == chosen)
    return next(claims, None)


def compare_environments(
    spec: StudySpec, arms: tuple[ArmResult, ...]
) -> CrossEnvironmentComparison | None:
    """Compare the two environments; return ``None`` if the study is not a confirmation.

    Args:
        spec: specification of the comparison.
        arms: results of the arms in this environment, the default first.
    """
    found = spec.earlier_recommendation
    if found is None:
        return None
    objective = spec.workload.objective.name
    here = _spread(arms[0], objective) if arms else None
    values = arms[0].summary[objective].n if here is not None else 0
    known = here is not None and found.spread and min(values, found.spread_launches) >= MIN_VALUES
    if here is None or not found.spread or not known:
        return CrossEnvironmentComparison(earlier_recommendation=found, spread=here)
    times = (here / found.spread) ** 2
    low, high = _interval(times, values - 1, found.spread_launches - 1)
    saved = round(found.launches * (times - 1)) if low > 1 else None
    return CrossEnvironmentComparison(
        earlier_recommendation=found,
        spread=here,
        launch_factor=times,
        ci=(low, high),
        saved_launches=saved,
    )


def _spread(arm: ArmResult, objective: str) -> float | None:
    seen = arm.summary.get(objective)
    if seen is None or seen.sd is None or not seen.mean:
        return None
    return seen.sd / abs(seen.mean)


def _interval(ratio: float, upper: int, lower: int) -> tuple[float, float]:
    """Return the interval of a ratio of variances with the given degrees of freedom."""
    from scipy.special import fdtri  # imported here, since loading takes long

    return (
        ratio / float(fdtri(upper, lower, 1 - ALPHA)),
        ratio / float(fdtri(upper, lower, ALPHA)),
    )
