"""Elsewhere: what searching where noise is low was worth, and whether the gain is the same here.

How many launches an interval of a given width takes goes with the variance of single launches. So
the ratio of two variances, one from either place, says how many times the launches a study as sure
would have taken in the noisier one; its interval is that of two samples of a normal distribution
(F distribution), which is why it is told as about so many.
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
"""Below so many launches a spread says nothing."""
ALPHA = 0.05
"""At either end of the interval."""


def confirmation_of(
    study_id: str,
    spec: StudySpec,
    conclusion: Conclusion,
    chosen: Configuration,
    budget: Budget,
) -> StudySpec:
    """The comparison of what a study recommends with the default, as the system is.

    Args:
        study_id, spec, conclusion: of that study.
        chosen: the configuration; for several objectives one of its front.
        budget: to spend.
    """
    default = conclusion.arms[0].summary.get(spec.workload.objective.name)
    found = EarlierRecommendation(
        study=study_id,
        partition=spec.reserve.partition if spec.reserve else "",
        launches=conclusion.launches,
        claim=_claim_on(conclusion, chosen),
        spread=_spread(conclusion.arms[0], spec.workload.objective.name),
        values=default.n if default else 0,
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
        require=spec.require,
        found=found,
    )


def _claim_on(conclusion: Conclusion, chosen: Configuration) -> Claim | None:
    chosen_of = {arm.name: arm.configuration for arm in conclusion.arms}
    claims = (claim for claim in conclusion.claims if chosen_of.get(claim.b) == chosen)
    return next(claims, None)


def compare_environments(
    spec: StudySpec, arms: tuple[ArmResult, ...]
) -> CrossEnvironmentComparison | None:
    """The two places side by side; ``None`` where a comparison confirms nothing.

    Args:
        spec: of the comparison.
        arms: what was seen here, the default first.
    """
    found = spec.found
    if found is None:
        return None
    objective = spec.workload.objective.name
    here = _spread(arms[0], objective) if arms else None
    values = arms[0].summary[objective].n if here is not None else 0
    known = here is not None and found.spread and min(values, found.values) >= MIN_VALUES
    if here is None or not found.spread or not known:
        return CrossEnvironmentComparison(found=found, spread=here)
    times = (here / found.spread) ** 2
    low, high = _interval(times, values - 1, found.values - 1)
    saved = round(found.launches * (times - 1)) if low > 1 else None
    return CrossEnvironmentComparison(
        found=found, spread=here, times=times, ci=(low, high), saved=saved
    )


def _spread(arm: ArmResult, objective: str) -> float | None:
    seen = arm.summary.get(objective)
    if seen is None or seen.sd is None or not seen.mean:
        return None
    return seen.sd / abs(seen.mean)


def _interval(ratio: float, upper: int, lower: int) -> tuple[float, float]:
    """Of a ratio of variances with so many degrees of freedom above and below."""
    from scipy.special import fdtri  # here, since it takes long to load

    return (
        ratio / float(fdtri(upper, lower, 1 - ALPHA)),
        ratio / float(fdtri(upper, lower, ALPHA)),
    )
