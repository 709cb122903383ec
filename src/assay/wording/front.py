"""FrontSentence: the answer to several objectives, as sentences that a person can repeat."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay.records import Claim, FrontPoint, Goal, Metric, OffFront, StudySpec, Verdict
from assay.units import show_count
from assay.wording.disturbance import withheld_words
from assay.wording.sentence import NOUNS, change_text, statement


def front_verdict(spec: StudySpec, front: Sequence[FrontPoint], off: Sequence[FrontPoint]) -> str:
    """The verdict on what was confirmed, in one sentence or two.

    Args:
        spec: of the study.
        front: its points, as they are numbered.
        off: what was confirmed and is no part of it; with ``front`` at least one.
    """
    if not front:
        return _without(spec, off)
    if len(front) == 1:
        return _only(spec, front[0])
    best = [_best(front, metric) for metric in spec.targets]
    told = [
        statement(replace(claim, a="the default", b=f"point {number}"), metric)
        for metric, (number, claim) in zip(spec.targets, best, strict=True)
        if claim is not None and claim.verdict is Verdict.FASTER
    ]
    without = [m for m, (_, claim) in zip(spec.targets, best, strict=True) if claim is None]
    if without:
        told.append(f"none is shown to be better in {alternatives(without)}")
    return f"{show_count(len(front), 'configuration')} make up the front: {', '.join(told)}."


def _best(front: Sequence[FrontPoint], metric: Metric) -> tuple[int, Claim | None]:
    """The point that is better by most in one objective, by number."""
    claims = [(number, point.claim_on(metric.name)) for number, point in enumerate(front, 1)]
    better = [(n, c) for n, c in claims if c is not None and c.verdict is Verdict.FASTER]
    sign = 1.0 if metric.goal is Goal.LOWER else -1.0
    return min(better, key=lambda pair: sign * pair[1].ratio, default=(0, None))


def _only(spec: StudySpec, point: FrontPoint) -> str:
    claims = [(metric, point.claim_on(metric.name)) for metric in spec.targets]
    known = [(m, c) for m, c in claims if c is not None and c.verdict is Verdict.FASTER]
    metric, first = known[0]
    others = [f"{noun(m)}: {objective_word(c)}" for m, c in claims if m is not metric]
    return f"{statement(replace(first, a='the default'), metric)}; {', '.join(others)}."


def objective_word(claim: Claim | None) -> str:
    """What is shown of one objective, in a word or two: ``-38.2 %``, ``the same``, ``unclear``."""
    if claim is None:
        return "no value"
    if claim.verdict is Verdict.SAME:
        return "the same"
    return "unclear" if claim.verdict is Verdict.UNCLEAR else change_text(claim.ratio)


def _without(spec: StudySpec, off: Sequence[FrontPoint]) -> str:
    """Why nothing is on the front."""
    count = show_count(len(off), "configuration")
    which = off[0].name if len(off) == 1 else f"none of the {count} that were confirmed"
    withheld = [
        claim
        for point in off
        for claim in point.claims
        if claim.withheld or (claim.is_doubted and point.off is FrontExclusion.UNCLEAR)
    ]
    if withheld:
        told = withheld_words(withheld[0])
        return f"Not decided: {told[:1].lower()}{told[1:]} Keep the default until then."
    if any(point.off is FrontExclusion.UNCLEAR for point in off):
        return (
            f"Not decided: whether {off[0].name if len(off) == 1 else 'any of ' + count} is better "
            f"in {alternatives(spec.targets)} is unclear. Keep the default until then."
        )
    if all(point.off is FrontExclusion.FAILS for point in off):
        whose = off[0].name if len(off) == 1 else f"each of the {count} that were confirmed"
        return f"Keep the default: {whose} fails more often."
    shown = "is not" if len(off) == 1 else "is"
    return f"Keep the default: {which} {shown} better in {alternatives(spec.targets)}."


def alternatives(metrics: Sequence[Metric]) -> str:
    """The objectives as alternatives: ``time or memory``."""
    *most, last = [noun(metric) for metric in metrics]
    return f"{', '.join(most)} or {last}" if most else last


def noun(metric: Metric) -> str:
    """An objective in words."""
    return NOUNS.get(metric.name, metric.name)
