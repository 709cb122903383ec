"""Front: verdicts on several objectives, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay.records import Claim, FrontExclusion, FrontPoint, Goal, Metric, StudySpec, Verdict
from assay.units import show_count
from assay.wording.counts import lower_first
from assay.wording.disturbance import withheld_words
from assay.wording.sentence import change_text, noun_of, statement


def front_verdict(spec: StudySpec, front: Sequence[FrontPoint], off: Sequence[FrontPoint]) -> str:
    """Return the verdict on the confirmed points, in one sentence or two.

    Args:
        spec: specification of the study.
        front: points of the Pareto front, as numbered.
        off: confirmed points that are not on the front.
    """
    if not front:
        return _without(spec, off)
    if len(front) == 1:
        return _only(spec, front[0])
    best = [_best(front, metric) for metric in spec.targets]
    sentences = [
        statement(replace(claim, a="the default", b=f"point {number}"), metric)
        for metric, (number, claim) in zip(spec.targets, best, strict=True)
        if claim is not None and claim.verdict is Verdict.FASTER
    ]
    without = [m for m, (_, claim) in zip(spec.targets, best, strict=True) if claim is None]
    if without:
        sentences.append(f"none is shown to be better in {alternatives(without)}")
    return (
        f"{show_count(len(front), 'configuration')} form the Pareto front: {', '.join(sentences)}."
    )


def _best(front: Sequence[FrontPoint], metric: Metric) -> tuple[int, Claim | None]:
    """Return the number of the best point in one objective, and its claim."""
    claims = [(number, point.claim_on(metric.name)) for number, point in enumerate(front, 1)]
    better = [(n, c) for n, c in claims if c is not None and c.verdict is Verdict.FASTER]
    sign = 1.0 if metric.goal is Goal.LOWER else -1.0
    return min(better, key=lambda pair: sign * pair[1].ratio, default=(0, None))


def _only(spec: StudySpec, point: FrontPoint) -> str:
    claims = [(metric, point.claim_on(metric.name)) for metric in spec.targets]
    known = [(m, c) for m, c in claims if c is not None and c.verdict is Verdict.FASTER]
    metric, first = known[0]
    others = [f"{noun_of(m)}: {objective_word(c)}" for m, c in claims if m is not metric]
    return f"{statement(replace(first, a='the default'), metric)}; {', '.join(others)}."


def objective_word(claim: Claim | None) -> str:
    """Return the verdict on one objective: ``-38.2 %``, ``the same``, ``unclear``."""
    if claim is None:
        return "no value"
    if claim.verdict is Verdict.SAME:
        return "the same"
    return "unclear" if claim.verdict is Verdict.UNCLEAR else change_text(claim.ratio)


def _without(spec: StudySpec, off: Sequence[FrontPoint]) -> str:
    """Return the verdict where the front is empty."""
    count = show_count(len(off), "configuration")
    which = off[0].name if len(off) == 1 else f"none of the {count} confirmed"
    withheld = [
        claim
        for point in off
        for claim in point.claims
        if claim.verdict_withheld
        or (claim.is_doubted and point.exclusion is FrontExclusion.UNCLEAR)
    ]
    if withheld:
        reason = lower_first(withheld_words(withheld[0]))
        return f"Not decided: {reason} Keep the default until then."
    if any(point.exclusion is FrontExclusion.UNCLEAR for point in off):
        return (
            f"Not decided: whether {off[0].name if len(off) == 1 else 'any of ' + count} is better "
            f"in {alternatives(spec.targets)} is unclear. Keep the default until then."
        )
    if all(point.exclusion is FrontExclusion.FAILS for point in off):
        whose = off[0].name if len(off) == 1 else f"each of the {count} confirmed"
        return f"Keep the default: {whose} fails more often."
    shown = "is not" if len(off) == 1 else "is"
    return f"Keep the default: {which} {shown} better in {alternatives(spec.targets)}."


def alternatives(metrics: Sequence[Metric]) -> str:
    """Return objectives as alternatives: ``time or memory``."""
    *most, last = [noun_of(metric) for metric in metrics]
    return f"{', '.join(most)} or {last}" if most else last
