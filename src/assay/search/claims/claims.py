"""Claims: effects with intervals from paired observations."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import msgspec

from assay.records import (
    Claim,
    Goal,
    Metric,
    Spread,
    SpreadVerdict,
    Stage,
    Statistic,
    StudySpec,
)
from assay.search.claims.objections import objection_to
from assay.search.claims.reliability import (
    excess_losses,
    objection_to_leading,
    objection_to_preferred,
)
from assay.search.history.correlated_load import correlated_load_of
from assay.search.history.history import History
from assay.search.history.output_comparison import work_objection
from assay.stats.confidence_sequence import MIN_CLAIM_VALUES
from assay.stats.interval import ratio_ends
from assay.stats.modes import find_modes
from assay.stats.paired import Observation
from assay.stats.planned_analysis import Analysis
from assay.stats.shift import shifts, spread_ratio
from assay.stats.spread import spread_effect
from assay.stats.undisturbed import effect_of_blocks
from assay.stats.verdict import Verdict, blocks_needed, decide, is_beyond_margin

MIN_BLOCKS = MIN_CLAIM_VALUES
"""Smallest number of blocks of a claim (docs/explanation/statistics.md, rule 4)."""

MIN_CONSTANT = 20
"""Number of equal values from which on a figure counts as constant."""


def claim_between(
    spec: StudySpec,
    history: History,
    names: tuple[str, str],
    alpha: float,
    analysis: Analysis = Analysis.ANY,
    first: int | None = None,
) -> Claim | None:
    """Return the claim on the second of two arms against the first.

    It rests on the undisturbed blocks or on all of them, whichever is more precise
    (``assay.stats.undisturbed``).

    Args:
        spec: specification of the study.
        history: samples of the study.
        names: names of the two arms.
        alpha: error rate of the interval over all interim analyses.
        analysis: kind of the analysis, if one was planned.
        first: number of first blocks to use; all if absent.

    Returns:
        ``None`` if no block has both arms and no value is 0. The verdict is withheld (*unclear*) if
            a load correlates with the arms, if an objection exists (``objection_to``), or if values
            are 0 in all blocks. An undecided claim has an objection as well if the leading arm
            fails or times out more often: further blocks may prove it no better, and never better.
    """
    blocks = history.complete(Stage.CONFIRM)[:first]
    a, b = (history.observations(Stage.CONFIRM, name, blocks) for name in names)
    found = claim_from_blocks(
        names,
        a,
        b,
        spec.workload.objective,
        alpha=alpha,
        margin=spec.margin,
        statistic=spec.statistic,
        analysis=analysis,
        disturbed=[history.is_disturbed(Stage.CONFIRM, block) for block in blocks],
    )
    if found is None:
        return _undecidable(spec, history, names, alpha)
    found = msgspec.structs.replace(
        found,
        applications=history.hard_to_change.differ(history.arms_named(names)),
        processes=spec.in_process,
    )
    load = correlated_load_of(history, names[:1], names[1:], alpha, spec.disturbed_above)
    objection = objection_to(spec.workload.objective, history, names)
    objection = objection or objection_to_preferred(found, history)
    spread = spec.statistic is Statistic.SPREAD
    goal = Goal.LOWER if spread else spec.workload.objective.goal
    better = names[(found.ratio < 1.0) == (goal is Goal.LOWER)]
    objection = objection or work_objection(spec, history.outputs, names, better)
    if load is None and objection is None:
        leaning = objection_to_leading(found, goal, history)
        if leaning is None:
            return _with_losses(found, history)
        return msgspec.structs.replace(found, data_problem=leaning, blocks_needed=None)
    return msgspec.structs.replace(
        found,
        verdict=Verdict.UNCLEAR,
        beyond_margin=False,
        verdict_withheld=True,
        correlated_load=load,
        data_problem=objection,
        blocks_needed=None,
    )


def _undecidable(
    spec: StudySpec, history: History, names: tuple[str, str], alpha: float
) -> Claim | None:
    """Return the claim where no block has a ratio, with the reason."""
    metric = spec.workload.objective.name
    objection = objection_to(spec.workload.objective, history, names)
    if objection is None or not any(history.has_zeros(name, (Stage.CONFIRM,)) for name in names):
        return None
    return Claim(
        a=names[0],
        b=names[1],
        metric=metric,
        ratio=_ratio_of_means(history, names),
        ci=(None, None),
        verdict=Verdict.UNCLEAR,
        blocks=0,
        margin=spec.margin,
        alpha=alpha,
        method="none",
        verdict_withheld=True,
        data_problem=objection,
    )


def _ratio_of_means(history: History, names: tuple[str, str]) -> float:
    """Return the ratio of the means of all values; 1 if a mean is not positive."""
    name = history.metric.name
    samples = ([*history.samples_of(Stage.CONFIRM, arm)] for arm in names)
    a, b = ([s.metrics[name] for s in arm_samples if name in s.metrics] for arm_samples in samples)
    sums = [math.fsum(values) / len(values) if values else 0.0 for values in (a, b)]
    return sums[1] / sums[0] if min(sums) > 0.0 else 1.0


def _with_losses(found: Claim, history: History) -> Claim:
    """Return a claim with the lost launches of its arms; time-outs leave the end open."""
    loss = excess_losses(history, found.a, found.b) or excess_losses(history, found.b, found.a)
    needed = None if loss is not None and found.censored_share else found.blocks_needed
    return msgspec.structs.replace(found, missing_values=loss, blocks_needed=needed)


def blocks_of_claim(history: History, found: Claim) -> list[int]:
    """Return the confirmation blocks that a claim rests on."""
    if found.disturbed_blocks:
        return history.complete(Stage.CONFIRM)
    return history.undisturbed_blocks(Stage.CONFIRM)


def claim_from_blocks(
    names: tuple[str, str],
    a: Sequence[Observation | None],
    b: Sequence[Observation | None],
    metric: Metric,
    *,
    alpha: float,
    margin: float,
    statistic: Statistic = Statistic.MEAN,
    analysis: Analysis = Analysis.ANY,
    disturbed: Sequence[bool] | None = None,
) -> Claim | None:
    """Return the claim on ``b`` against ``a``; ``None`` if no block has both.

    Args:
        names: names of the two arms.
        a, b: one entry per block.
        metric: the objective.
        alpha: error rate of the interval over all interim analyses.
        margin: ratio differences below it count as none.
        statistic: statistic of the entries: values, compared by mean or median, or spreads, of
            which smaller ones are better.
        analysis: kind of the analysis, if one was planned.
        disturbed: one entry per block; no block is disturbed if absent.

    Raises:
        InvalidInputError: a value has no logarithm.
    """
    spreads = statistic is Statistic.SPREAD
    goal = Goal.LOWER if spreads else metric.goal
    out = [False] * len(a) if disturbed is None else disturbed
    of_blocks = effect_of_blocks(
        a, b, out, goal=goal, alpha=alpha, median=statistic is Statistic.MEDIAN, analysis=analysis
    )
    found = of_blocks.effect
    if found.ratio is None:
        return None
    if any(out) and not of_blocks.disturbed:
        a, b = ([o for o, lost in zip(arm, out, strict=True) if not lost] for arm in (a, b))
    verdict = decide(found, goal=goal, margin=margin)
    if found.blocks < MIN_BLOCKS:
        verdict = Verdict.UNCLEAR
    decided = verdict in (Verdict.FASTER, Verdict.SLOWER)
    spread = None if spreads else _spread(a, b, alpha)
    values = [sorted(_shown(o, metric) for o in arm if o is not None) for arm in (a, b)]
    return Claim(
        a=names[0],
        b=names[1],
        metric=metric.name,
        ratio=found.ratio,
        ci=ratio_ends(found.lo, found.hi),
        verdict=verdict,
        blocks=found.blocks,
        margin=margin,
        alpha=found.alpha,
        method="spread" if spreads else found.method,
        blocks_needed=blocks_needed(found, margin=margin) if verdict is Verdict.UNCLEAR else None,
        bound_only=found.bound_only,
        censored_share=found.censored_share,
        spread_ratio=None if spreads else spread_ratio(*values),
        spread=spread,
        single_analysis=analysis is Analysis.PLANNED and not spreads and found.method == "mean",
        disturbed_blocks=of_blocks.disturbed,
        beyond_margin=decided and is_beyond_margin(found.lo, found.hi, margin=margin),
        unstable=not spreads and _unstable(spread, a, b),
        shift={}
        if spreads
        else {f"p{100 * s.p:.0f}": s.ratio for s in shifts(*values) if s.ratio is not None},
    )


def _spread(
    a: Sequence[Observation | None], b: Sequence[Observation | None], alpha: float
) -> Spread | None:
    """Return the spread of both arms over the blocks with both values; ``None`` without any."""
    both = [
        (x.value, y.value)
        for x, y in zip(a, b, strict=True)
        if x is not None and y is not None and not (x.censored or y.censored)
    ]
    found = spread_effect([x for x, _ in both], [y for _, y in both], alpha=alpha)
    if found.ratio is None:
        return None
    return Spread(
        ratio=found.ratio,
        ci=ratio_ends(found.lo, found.hi),
        verdict=found.verdict,
        batches=found.batches,
    )


def _unstable(
    spread: Spread | None, a: Sequence[Observation | None], b: Sequence[Observation | None]
) -> bool:
    """Return whether the mean alone does not describe single launches.

    See rule 7 of docs/explanation/statistics.md.
    """
    unequal = spread is not None and spread.verdict in (SpreadVerdict.TIGHTER, SpreadVerdict.WIDER)
    known = [[o.value for o in arm if o is not None and not o.censored] for arm in (a, b)]
    return unequal or any(find_modes(values) is not None for values in known)


def _shown(observation: Observation, metric: Metric) -> float:
    """Return a value for quantiles; a censored one lies beyond all of them."""
    if not observation.censored:
        return observation.value
    return math.inf if metric.goal is Goal.LOWER else 0.0


def is_constant(values: Sequence[float]) -> bool:
    """Return whether further values would add no information."""
    return len(values) >= MIN_CONSTANT and len(set(values)) == 1


def are_all_decided(claims: Iterable[Claim | None]) -> bool:
    """Return whether each claim has a verdict; constant figures may end without one."""
    return all(claim is not None and claim.verdict is not Verdict.UNCLEAR for claim in claims)


def is_precise(found: Claim) -> bool:
    """Return whether a decided claim has a precise effect.

    Half the interval is at most a quarter of the effect, or at most the margin. If time-outs leave
    only a bound, further blocks would add no information.
    """
    lo, hi = found.ci
    if found.verdict is Verdict.UNCLEAR:
        return False
    if found.verdict is Verdict.SAME or found.bound_only:
        return True
    if lo is None or hi is None:
        return False
    half = (math.log(hi) - math.log(lo)) / 2
    return half <= max(math.log1p(found.margin), abs(math.log(found.ratio)) / 4)
